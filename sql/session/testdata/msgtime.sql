create table times (tx timestamptz, st timestamptz)
insert into times values (now(), statement_timestamp()); select pg_sleep(0.01); insert into times values (now(), statement_timestamp()); commit; begin; insert into times values (now(), statement_timestamp()); commit; insert into times values (now(), statement_timestamp())
select count(*), count(distinct tx), count(distinct st) from times
begin
insert into times values (now(), statement_timestamp())
select pg_sleep(0.01)
insert into times values (now(), statement_timestamp())
commit
select count(*), count(distinct tx), count(distinct st) from times
