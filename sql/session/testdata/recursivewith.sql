create table dep (id int primary key, parent int, name text)
insert into dep values (0, null, 'root'), (1, 0, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 1, 'd')
with recursive q as (select * from dep where id = 0 union all (with x as (select * from q) select d.* from dep d join x on d.parent = x.id)) select * from q order by id
with recursive q as (select 1 as n union all (with x as (select * from q), y as (select n + 1 as m from x) select m from y where m < 5)) select * from q
with recursive q as (select * from dep union all (with recursive x as (select * from dep union all (select * from q union all select * from x)) select * from x)) select * from q limit 8
with recursive q(n) as (select 1 union all (with x as materialized (select n from q) select x.n + y.n from x, x y where x.n + y.n < 20)) select * from q
with recursive x(n) as (with x1 as (select 1 from x) select 0 union select * from x1) select * from x
with recursive x(n) as ((with x1 as (select 1 from x) select * from x1) union select 0) select * from x
with recursive x(n) as (select 1 union all select n + 1 from x where n < 3 and exists (select 1 from x)) select * from x
with recursive x(n) as (select id from dep union all select x.n + 1 from dep left join x on x.n = dep.id where n < 3) select * from x
with recursive x(n) as (select id from dep union all select x.n + 1 from x right join dep on x.n = dep.id where n < 3) select * from x
with recursive x(n) as (select id from dep union all select x.n + 1 from x full join dep on x.n = dep.id where n < 3) select * from x
with recursive x(n) as (select id from dep where id = 0 union all select x.n + 1 from x left join dep on x.n = dep.id where n < 3) select * from x
with recursive x(n) as (select 1 union all select n + 1 from y where n < 3), y(n) as (select 1 union all select n + 1 from x where n < 3) select * from x
with recursive x(n) as (select 1 union all select n + 1 from x where n < 3), y(n) as (select n from x union all select n + 10 from y where n < 30) select * from y order by n
select t, count(*) over (order by t range between '1 hour' preceding and '1 hour' following) from (values (time '01:00'), ('01:30'), ('02:15'), ('23:30'), ('23:59')) v(t)
select t, count(*) over (order by t desc range between '1 hour' preceding and '25 hours' following) from (values (timetz '01:00+00'), ('01:30+01'), ('02:15-02'), ('23:30+00')) v(t)
select covar_pop(1::float8, 'inf'::float8), covar_samp(3::float8, 'inf'::float8), covar_pop(1::float8, 'nan'::float8), regr_sxx(1::float8, 'inf'::float8)
create domain dm as int constraint pos check (value > 0)
comment on constraint pos on domain dm is 'positive'
select obj_description(oid, 'pg_constraint') from pg_constraint where conname = 'pos'
comment on constraint nosuch on domain dm is 'x'
comment on constraint pos on domain nosuch is 'x'
comment on constraint pos on domain dm is null
select obj_description(oid, 'pg_constraint') from pg_constraint where conname = 'pos'
select i, to_timestamp('2018-11-02 12:34:56.12345', 'YYYY-MM-DD HH24:MI:SS.FF' || i) at time zone 'utc' from generate_series(1, 6) i
select i, to_timestamp('20181102123456123456', 'YYYYMMDDHH24MISSFF' || i) at time zone 'utc' from generate_series(1, 6) i
select to_timestamp('59.999', 'SS.FF1') at time zone 'utc'
select to_date('-44-02-01', 'YYYY-MM-DD'), to_date('-44-02-01 BC', 'YYYY-MM-DD BC'), to_date('44-02-01 BC', 'YYYY-MM-DD BC')
select to_date('2011 12 18', 'YYYYxMMxDD'), to_date('2011x 12x 18', 'YYYYxMMxDD'), to_date('2011 x12 x18', 'YYYYxMMxDD')
select to_timestamp('My birthday-> Year: 1976, Month: May, Day: 16', '"My birthday-> Year:" YYYY, "Month:" FMMonth, "Day:" DD') at time zone 'utc'
select to_timestamp('15 "text between quote marks" 98 54 45', E'HH24 "\\"text between quote marks\\"" YY MI SS') at time zone 'utc'
select to_timestamp('2000 -10', 'YYYY  TZH') at time zone 'utc', to_timestamp('2000 -10', 'YYYY TZH') at time zone 'utc', to_timestamp('2000 + 10', 'YYYY  TZH') at time zone 'utc'
select to_timestamp('Fri 1-Jan-1999', 'DY DD MON YYYY') at time zone 'utc'
select to_timestamp('2000+   JUN', 'YYYY/MON') at time zone 'utc', to_timestamp('  2000 +JUN', 'YYYY/MON') at time zone 'utc', to_timestamp('2000 +JUN', 'YYYY//MON') at time zone 'utc', to_timestamp('2000  +JUN', 'YYYY//MON') at time zone 'utc'
select to_timestamp('2000 + JUN', 'YYYY MON') at time zone 'utc'
select to_timestamp('2000 ++ JUN', 'YYYY  MON') at time zone 'utc'
select to_timestamp('2000 + + JUN', 'YYYY  MON') at time zone 'utc'
create table g25 (a int primary key)
insert into g25 values (3), (4)
alter table g25 add column c int default 42, add column x int generated always as (c * 4) stored
alter table g25 add column d text default 'dd', add column s serial, add column n int
select * from g25 order by a
create type e1 as enum ('a')
create type e2 as enum ('a')
create table fe1 (a e1 primary key)
create table fe2 (a e2 references fe1)
create table fa1 (a int[] primary key)
create table fa2 (a bigint[] references fa1)
create view g25v as select a, d from g25
alter view g25v alter column d set default 'of the view'
insert into g25v (a) values (5)
insert into g25v values (6, default)
insert into g25v values (7, default), (8, 'given')
select a, d from g25 order by a
create view g25w as select a, x from g25
alter view g25w alter column x set default 5
insert into g25w (a) values (9)
alter table g25 add check (nosuch > 0)
alter table g25 alter column a set default 'x'
alter table g25 add unique (nosuch)
select ('{}'::int[])[1][2][3][4][5][6][7]
create table sysc (a int, b text, constraint c1 check (tableoid <> 0), constraint c2 check (sysc is not null), g int generated always as (a + 1) stored)
insert into sysc values (1, 'x')
insert into sysc values (1, null)
create index on sysc ((ctid >= '(1000,0)'))
create index on sysc (a) where ctid >= '(1000,0)'
create index on sysc (ctid)
