create table p (a int primary key)
create table c (id int primary key, a int references p)
insert into p values (1), (2)
prepare ins as insert into c values ($1, $2)
execute ins(1, 1)
execute ins(2, 1)
execute ins(3, 1)
delete from c
delete from p where a = 1
execute ins(4, 1)
execute ins(5, 2)
select * from c order by id
insert into c values (11, 2)
insert into c values (12, 2)
insert into c values (13, 2)
delete from c
delete from p where a = 2
insert into c values (14, 2)
select * from c order by id
prepare upd as update c set a = $2 where id = $1
insert into p values (1), (2)
insert into c values (1, 1), (2, 1)
execute upd(1, 2)
execute upd(2, 2)
execute upd(1, 1)
execute upd(2, 1)
delete from p where a = 2
execute upd(1, 2)
select * from c order by id
create table d (a int references p deferrable initially deferred, b text)
begin; insert into d values (7, 'x'); delete from d; commit
begin; insert into d values (7, 'x'); update d set a = null; commit
begin; insert into d values (7, 'x'); update d set b = 'y' where a = 7; commit
begin; insert into d values (7, 'x'); insert into p values (7); commit
begin; insert into d values (8, 'x'), (8, 'y'); delete from d where b = 'x' and a = 8; commit
begin; insert into d values (9, 'x'); update d set a = 1 where a = 9; update d set a = 9 where b = 'x' and a = 1; commit
select * from d order by a, b
