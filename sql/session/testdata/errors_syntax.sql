selct 1
select
select from
select 1 from
select * form t
select 1 +
select (1
select 1)
select 'abc
select "abc
select $$abc
select E'\u00'
select E'\uD800'
select E'\xZZ'
select U&'\00zz'
select U&'abc' UESCAPE 'x1'
select U&'abc' UESCAPE '+'
select ""
select 1 as ""
select b'102'
select x'1G'
select 1a
select 0x1F
select 1_000
select 100000000000000000000000000000::int
select 1 /* open
select $0
select @ 1 @
select 1 ~~~ 2
select 1 =! 2
insert into
insert into t
insert t values (1)
insert into t values
insert into t values 1
insert into t values (1,)
insert into t (a,) values (1)
insert into t () values ()
update t
update t set
update t set a
update t set a = where b
update t set (a, b) = 1
delete t
delete from
delete from t where
create
create table
create table t
create table t ()) 
create table t (a int,)
create table t (a int primary)
create table t (a int not)
create table t (a int default)
create table t (a int references)
create table t (a int check)
create table t (a int check a > 0)
create table t (primary key)
create table t (a int) with
create table t (a int) with (
create table t (a int) inherits
create index on
create index i on t
create index i on t ()
create view v
create view v as
create view v as insert into t values (1)
create view v as values
create sequence
create sequence s start
create sequence s increment by
create schema
create role
create role x with password
create role x foo
create type t as enum
create type t as enum ('a',)
create type t as (a)
create domain d
create domain d as
create function f
create function f()
create function f() returns
create function f() returns int
create function f() returns int language sql as
create database
create extension
create foo bar
alter
alter table
alter table t
alter table t add
alter table t add column
alter table t add column a
alter table t drop
alter table t alter
alter table t alter a
alter table t alter a type
alter table t alter a set
alter table t rename
alter table t rename a
alter table t rename to
alter table t foo
alter role
alter role x foo
drop
drop table
drop foo t
drop table t cascad
drop index
drop view v restrict cascade
grant
grant select
grant select on
grant select on t
grant select on t to
revoke
revoke select on t
begin foo
begin isolation level
begin isolation level foo
commit foo
rollback to
savepoint
release
set
set x
set x =
set x to
set transaction
set transaction isolation level
set session
show
reset
prepare
prepare p
prepare p as
prepare p as create table t (a int)
execute
deallocate
declare
declare c cursor
declare c cursor for
declare c cursor for delete from t
fetch
fetch foo
fetch 1 from
move
close
copy
copy t
copy t from
copy t from stdin with
copy t from stdin with (
copy (select 1) from stdin
copy (select 1)
explain
explain foo
explain (foo) select 1
explain (analyze maybe) select 1
explain (format foo) select 1
explain create table t (a int)
listen
notify
unlisten
lock
lock t in foo mode
truncate
vacuum foo bar
analyze t (
reindex
reindex foo t
cluster t using
comment
comment on
comment on table
comment on table t
comment on table t is
comment on table t is 1
merge
merge into t
merge into t using s
merge into t using s on true
merge into t using s on true when
merge into t using s on true when matched
merge into t using s on true when matched then
merge into t using s on true when matched then insert values (1)
merge into t using s on true when not matched then delete
with
with a
with a as
with a as (select 1)
with a as (select 1) foo
select 1 union
select 1 union all
union select 1
select 1 intersect
select 1 order
select 1 order by
select 1 order by 1 using
select 1 limit
select 1 limit 1 limit 2
select 1 offset
select 1 fetch first
select 1 fetch first 1 row
select 1 limit 1, 2
select 1 for
select 1 for update of
select 1 where
select 1 group
select 1 group by
select 1 having
select 1 window
select 1 window w
select distinct on 1
select distinct on () 1
select all distinct 1
select * from t join
select * from t join s
select * from t left s
select * from t join s on
select * from t join s using
select * from t join s using ()
select * from (select 1)
select * from (values (1))
select * from lateral t
select * from t as
select * from t a b
select * from t tablesample
select * from f(
select case
select case when
select case when true
select case when true then
select case when true then 1
select case 1 end
select cast
select cast(1
select cast(1 as)
select cast(1 to int)
select 1::
select extract(year)
select extract(from now())
select position('a' 'b')
select trim(foo 'a' from 'b')
select array[
select array[1,
select row(
select (1, 2
select exists
select exists 1
select a between 1
select a between 1 or 2
select a in ()
select a in 1
select a is foo
select a is not distinct 1
select a like 'x' escape
select a similar 'x'
select not
select a or or b
select count(*
select count(distinct)
select count(distinct *)
select f(a order)
select f(a) filter (a)
select f(a) over
select f(a) over (partition a)
select f(a) over (order a)
select f(a) over (rows)
select f(a) over (rows between 1)
select f(a) over (rows unbounded following)
select f(a) over (rows between current row and 1 preceding)
select f(a) over (rows between unbounded following and current row)
select f(a) over (rows between current row and unbounded preceding)
select f(a) over (rows between 1 following and current row)
select f(a) within
select f(a) within group
select f(a) within group (a)
select interval '1' foo
select interval(
select date
select timestamp with '2000-01-01'
select user()
select current_date()
select a.
select a..b
select a.b.c.d.e
select *.a
select a[
select a[]
select a[1:
select :a
select ?
select 1;; select
table
values
values (
values (1), 
values ()
do
call
call f
discard
discard foo
checkpoint foo
security label on table t
import foreign schema
refresh materialized view
refresh view v
alter system
alter system set
create policy
create trigger
create rule
create server
create publication
create operator
create aggregate
create cast
create collation
create conversion
create language
create statistics
create tablespace
create text search
alter default privileges
alter database
alter domain
alter type
alter view
alter sequence
alter index
alter function
alter schema
alter schema s
alter table only
alter table if exists
drop owned
reassign owned by
select all
select into
select 1 into
select 1 from t where current of
create temp
create temp view
create or replace
create or replace table t (a int)
create unlogged view v as select 1
create materialized
create materialized view
create materialized view v
create table t as
create table t as insert into x values (1)
create table t (like)
create table t (like s including)
create table t (like s including foo)
create table t (a int generated)
create table t (a int generated always)
create table t (a int generated always as)
create table t (a int generated by default as (1) stored)
create table t (a int collate)
create table t (a int constraint)
create table t (a int constraint x)
create table t (constraint)
create table t (constraint x)
create table t (foreign key)
create table t (foreign key (a))
create table t (foreign key (a) references)
create table t (foreign key (a) references s on delete)
create table t (foreign key (a) references s on delete foo)
create table t (foreign key (a) references s match)
create table t (foreign key (a) references s match foo)
create table t (exclude using)
create table t (unique)
create table t (unique ())
create table t (a int not null null)
create table t (a int deferrable)
create table t (a int check (true) deferrable)
create table t (a int not null deferrable)
create table t (a int unique initially)
create table t (a int unique not deferrable initially deferred)
