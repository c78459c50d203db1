create role cr_user
create role cr_owner
create table t (id int primary key, a int, b text, c int default 3)
insert into t values (1, 10, 'x', 5), (2, 20, 'y', 6)
create view v as select id, a, b from t where c > 0
create view vv as select id, b from v
grant select (id, a), update (a), insert (id, b) on t to cr_user
set role cr_user
select id, a from t order by 1
select b from t
select * from t
select count(*) from t
select t from t
select id from t where b = 'x'
select id from t order by c
select 1 from t x join t y using (id)
select 1 from t x join t y using (b)
select 1 from (t x join t y using (id)) j(p)
select j.p from (t x join t y using (id)) j(p)
select j from (t x join t y using (id)) j(p)
update t set a = 11 where id = 1
update t set a = c
update t set b = 'z'
update t set a = 12 where b = 'x'
update t set a = 13 where id = 2 returning id
update t set a = 13 returning b
insert into t (id, b) values (3, 'ins')
insert into t (id, a) values (4, 1)
insert into t values (4)
insert into t (id, b) values (5, 'r') returning id, a
insert into t (id, b) values (6, 'r') returning *
insert into t (id, b) values (1, 'r') on conflict (id) do update set a = 99
insert into t (id, b) values (1, 'r') on conflict (id) do update set a = excluded.a
insert into t (id, b) values (1, 'r') on conflict (id) do update set b = excluded.b
delete from t where id = 1
select ctid, id from t
select tableoid from t
select id from t order by id for update
select * from v
reset role
select has_column_privilege('cr_user', 't', 'a', 'select'), has_column_privilege('cr_user', 't', 'b', 'select'), has_column_privilege('cr_user', 't', 'b', 'insert'), has_any_column_privilege('cr_user', 't', 'update'), has_any_column_privilege('cr_user', 't', 'references'), has_column_privilege('cr_user', 't', 'nosuch', 'select')
select has_column_privilege('cr_user', 't', 2::int2, 'update'), has_column_privilege('cr_user', 't', 99::int2, 'update'), has_table_privilege('cr_user', 't', 'select')
select grantee, column_name, privilege_type from information_schema.column_privileges where table_name = 't' and grantee = 'cr_user' order by 2, 3
select attname, attacl from pg_attribute where attrelid = 't'::regclass and attnum > 0 order by attnum
revoke update (a) on t from cr_user
set role cr_user
update t set a = 1
reset role
revoke select on t from cr_user
set role cr_user
select id from t
reset role
grant select (nosuch) on t to cr_user
grant delete (a) on t to cr_user
grant all (a) on t to cr_user
select attname, attacl from pg_attribute where attrelid = 't'::regclass and attname = 'a'
grant select, update on v to cr_user
alter view v owner to cr_owner
set role cr_user
select * from v
update v set a = 5
reset role
grant select (id, a, b, c) on t to cr_owner
set role cr_user
select * from v order by id
update v set a = 5 where id = 1
reset role
grant update (a) on t to cr_owner
set role cr_user
update v set a = 5 where id = 1 returning *
update v set b = 'no'
reset role
revoke all on v from cr_user
grant update (a) on v to cr_user
set role cr_user
update v set a = 6
update v set a = 6 where id = 1
update v set a = a + 1
reset role
grant insert (id, b) on vv to cr_user
grant insert on v to postgres
set role cr_user
insert into vv (id, b) values (50, 'vv')
reset role
grant insert on t to cr_owner
set role cr_user
insert into vv (id, b) values (50, 'vv')
insert into vv (id, b) values (51, 'vv') returning id
update vv set b = 'x'
delete from vv
reset role
drop view vv, v
drop table t
drop role cr_user, cr_owner
