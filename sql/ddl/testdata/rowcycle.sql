create table a (f1 int)
alter table a add column f2 a
alter table a add column f2 a[]
create domain da as a
alter table a add column f2 da
create domain daa as a[]
alter table a add column f2 daa
create type c as (x int, y a)
alter table a add column f2 c
alter table a add column f2 int
alter table a alter column f2 type c using null
alter type c add attribute z c[]
alter type c alter attribute x type c
insert into a values (1, 2)
select a, row(1, a)::c from a
create table b (f1 a)
alter table b add column f2 a, add column f3 da
select * from b
