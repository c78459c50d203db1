create table a (id int primary key, x int, y int, z int)
create table b (id int primary key, aid int, p int, q int)
create view v1 as select a.x, b.p from a join b on a.id = b.aid
create view v2 as select x from a join b using (id)
create view v3 as select a.x from a left join b on true where exists (select 1 from b bb where bb.p = a.x)
create view v4 as select count(*) c from a
alter table a drop column y
alter table b drop column q
alter table b drop column p
alter table a drop column z
drop view v1, v2, v3, v4
create table g (a int, b int, c int generated always as (a + b) stored, d int check (d > a), e int default 3)
create view gv as select c from g
alter table g drop column a
alter table g drop column a cascade
select attname from pg_attribute where attrelid = 'g'::regclass and attnum > 0 and not attisdropped order by attnum
insert into g (b, d) values (1, 2)
select * from g
create table g2 (a int, c int generated always as (a * 2) stored)
alter table g2 drop column c
alter table g2 drop column a
create table h (a int, b int)
alter table h add column c int generated always as (a * 2) stored
alter table h drop column a
alter table h alter column c drop expression
alter table h drop column a
create table w (id int, a int, b int, c int)
create view w1 as select x.a from w x join w y using (id) where y.b > 0
create view w2 as select sum(a) over (order by b) s from w
create view w3 as with m as (select id, c from w) select id from m
create view w4 as select * from w
alter table w drop column c
alter table w drop column a cascade
select viewname from pg_views where schemaname = 'public' and viewname like 'w%' order by 1
