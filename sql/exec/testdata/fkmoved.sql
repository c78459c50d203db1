create table p (id int primary key, other int)
create table c (id int primary key, fk int references p deferrable initially deferred, n int)
insert into p values (5, 10)
begin
insert into c values (0, 20)
update c set id = id + 1
commit
select * from c
begin
insert into c values (0, 20)
savepoint s
update c set id = id + 1
commit
select * from c
begin
savepoint s
insert into c values (0, 20)
release savepoint s
savepoint t
update c set id = id + 1
rollback to savepoint t
commit
select * from c
begin
insert into c values (0, 20), (3, 5)
update c set id = id + 10
update c set id = id - 10, fk = 5
commit
select * from c order by id
begin
insert into c values (7, 20)
update c set id = 8 where id = 7
insert into p values (20, 1)
commit
update c set id = id + 100
select * from c order by id
begin
update c set fk = 99 where id = 108
update c set id = 9 where id = 108
update c set n = 1 where id = 9
commit
select * from c order by id
