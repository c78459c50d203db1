create table t (a int)
begin
set transaction read write
savepoint x
set transaction read only
insert into t values (1)
rollback to savepoint x
show transaction_read_only
insert into t values (2)
savepoint y
set transaction read only
select * from t
release savepoint y
show transaction_read_only
insert into t values (3)
savepoint z
savepoint zz
set transaction read only
release savepoint z
insert into t values (4)
commit
select * from t
begin read only
savepoint x
set transaction read write
rollback to savepoint x
show transaction_read_only
insert into t values (5)
rollback
select * from t
