create role up1
create schema up1 authorization up1
create table up1.upt (a int)
insert into up1.upt values (1), (2)
grant select on up1.upt to up1
select count(*) from upt
set role up1
show is_superuser
select current_schemas(false), current_user
select count(*) from upt
select a from upt order by a
reset role
show is_superuser
select count(*) from upt
begin; set local role up1
select count(*) from upt
commit
select count(*) from upt
set session authorization up1
show is_superuser
select count(*) from upt
reset session authorization
show is_superuser
drop schema up1 cascade
drop role up1
