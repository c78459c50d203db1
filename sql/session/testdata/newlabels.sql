create type en as enum ('a', 'b')
begin
alter type en add value 'c'
select 'a'::en
savepoint s
select 'c'::en
rollback to s
select enum_first(null::en)
select enum_last(null::en)
rollback to s
select enum_range(null::en)
rollback to s
select enum_range(null::en, 'b')
rollback to s
commit
select 'c'::en, enum_range(null::en)
begin
create type en2 as enum ('x')
select 'x'::en2
alter type en2 add value 'y'
select 'y'::en2
rollback
create domain dpk as int4
create table dt (a dpk primary key, b dpk unique)
insert into dt values (1, 2), (1, 3)
insert into dt values (2, 2), (3, null)
select * from dt where a = 3
create type ct as (a int, b int)
create domain dct as ct
create table dtc (a dct unique)
insert into dtc values (row(1, 2)), (row(1, 2))
create domain pos as int
create type inner_t as (f pos)
create table nest (a inner_t[])
alter domain pos add check (value > 0)
drop table nest
alter domain pos add check (value > 0)
create table rt (a int, b text)
create table ru (x rt[])
alter table rt alter column a type bigint
alter table rt alter column b type varchar
alter type ct alter attribute a type bigint
drop table dtc
drop domain dct
alter type ct alter attribute a type bigint
create role own_r
create table ow (a int)
create sequence os
alter table ow owner to own_r
alter sequence os owner to own_r
revoke all on ow, os from own_r
set role own_r
select * from ow
select nextval('os')
reset role
grant usage on os to own_r
set role own_r
select nextval('os'), has_table_privilege('ow', 'select'), has_sequence_privilege('os', 'usage')
reset role
drop table ow
drop sequence os
drop role own_r
create table gen (a int, b int generated always as (a * 2) stored)
copy gen from stdin where b > 1
copy gen from stdin where gen is null
select format('%x', 1)
create table few (x, y, z) as select 1, 2
create view fewv (x, y, z) as select 1, 2
select ('{"a": 1}'::jsonb)['a':'b']
select ('[1]'::jsonb)[:]
begin
declare c cursor for select * from gen offset 10
fetch all from c
fetch backward 1 from c
fetch all from c
rollback
