create role lockr1
create table lt (a int primary key)
set role lockr1
begin; lock table lt in access share mode
rollback
begin; lock table lt in access exclusive mode
rollback
analyze lt
vacuum lt
vacuum analyze lt
cluster lt using lt_pkey
analyze pg_class
reset role
grant select on lt to lockr1
set role lockr1
begin; lock table lt in access share mode
rollback
begin; lock table lt in row share mode
rollback
reset role
grant insert on lt to lockr1
set role lockr1
begin; lock table lt in row exclusive mode
rollback
begin; lock table lt in share mode
rollback
reset role
grant delete on lt to lockr1
set role lockr1
begin; lock table lt in access exclusive mode
rollback
reset role
drop table lt
drop role lockr1
