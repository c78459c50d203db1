create role wr1
create table wt (a int primary key, b int, s serial)
create table wi (a int, i int generated always as identity)
create sequence wq
insert into wt values (1, 1)
grant insert, update, delete on wt to wr1
grant insert on wi to wr1
set role wr1
insert into wi (a) values (1)
insert into wt values (2, 2, 2)
insert into wt (a, b) values (3, 3)
insert into wt values (4, 4, 4) returning a
insert into wt values (4, 4, 4) returning 1
insert into wt values (4, 4, 4) on conflict do nothing
insert into wt values (4, 4, 4) on conflict (a) do nothing
insert into wt values (4, 4, 4) on conflict on constraint wt_pkey do nothing
update wt set b = 7
update wt set b = b + 1
update wt set b = 7 where a = 1
update wt set b = 7 returning a
update wt set b = (select 1)
delete from wt where a = 4
delete from wt returning b
select nextval('wq')
select setval('wq', 5)
select currval('wq')
reset role
grant usage on sequence wq to wr1
set role wr1
select nextval('wq')
select currval('wq'), lastval()
select setval('wq', 5)
reset role
revoke usage on sequence wq from wr1
grant update on sequence wq to wr1
set role wr1
select nextval('wq')
select currval('wq')
select lastval()
select setval('wq', 5)
reset role
grant select on wt to wr1
grant usage on sequence wt_s_seq to wr1
set role wr1
insert into wt (a, b) values (3, 3) returning s
update wt set b = b + 1 where a = 1 returning b
delete from wt where a = 2 returning a, b
delete from wt
begin read only; select setval('wq', 5)
rollback
reset role
drop table wt, wi
drop sequence wq
drop role wr1
