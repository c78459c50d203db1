create table ct(a int, b text)
insert into ct values (1,'x'),(2,'y')
create view cv as select * from ct
create materialized view cm as select * from ct
copy (select * from ct order by a desc) to stdout
copy (values (1,2),(3,4)) to stdout csv header
copy (insert into ct values (3,'z') returning a, b) to stdout
copy (update ct set b = 'q' where a = 3 returning *) to stdout
copy (delete from ct where a = 3 returning *) to stdout
copy (delete from ct where a = 3) to stdout
copy (with x as (select 5) select * from x) to stdout
copy (table ct) to stdout (format csv, force_quote *)
copy cv to stdout
copy cm to stdout
copy ct (b) to stdout
copy (select 1; select 2) to stdout
copy (select a from nosuch) to stdout
copy (select 1/0) to stdout
copy (select $1) to stdout
copy (create table zz(a int)) to stdout
copy (select * into foo from ct) to stdout
copy (select a, b from ct where a = 1 for update) to stdout
create table cg(a int, g int generated always as (a+1) stored, b text default 'd', c int)
insert into cg values (1)
alter table cg drop column c
copy cg to stdout
copy cg (g) to stdout
copy cg (a, nosuch) to stdout
copy cg (a, a) to stdout
copy nosuch to stdout
copy (select * from cg) to stdout
create table c0()
insert into c0 default values
copy c0 to stdout
create sequence sq
copy sq to stdout
create temp table tt(a int)
insert into tt values (4)
copy tt to stdout
