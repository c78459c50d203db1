create table t (id int primary key, v text)
insert into t select g, 'v' || g from generate_series(1, 6) g
create table h (v text)
insert into h values ('a'), ('b'), ('c')
begin
declare c cursor for select * from t
update t set v = 'x' where current of c
fetch 2 from c
update t set v = v || '!' where current of c returning *
update t set id = id + 100 where current of c returning *
update t set v = v || '?' where current of c returning *
fetch from c
delete from t where current of c
delete from t where current of c
move 2 from c
update t set v = 'moved' where current of c
fetch all from c
update t set v = 'end' where current of c
commit
select * from t order by id
begin
declare c scroll cursor for select v from h
fetch last from c
delete from h where current of c
fetch first from c
update h set v = 'first' where current of c
fetch next from c
fetch prior from c
update h set v = v || '2' where current of c
rollback
select * from h
begin
declare c cursor for select t.id, h.v from t join h on true order by 1, 2 for update of t
fetch from c
update t set v = 'join' where current of c returning *
update h set v = 'join' where current of c
rollback
begin
declare c cursor for select count(*) from t
fetch from c
delete from t where current of c
rollback
begin
declare c cursor for select 1 from t a, t b for update
fetch from c
delete from t where current of c
rollback
delete from t where current of nosuch
begin
declare c cursor with hold for select * from t order by id
fetch from c
commit
delete from t where current of c
close c
create view w as select * from t
begin
declare c cursor for select * from t
fetch from c
delete from w where current of c
rollback
begin
declare c cursor for select * from t for update
fetch from c
explain (costs off) update t set v = 'y' where current of c
update t set v = h.v from h where h.v = 'a' and current of c
update t set v = 'y' where current of c
rollback
begin
declare c cursor for select * from t order by id
fetch 3 from c
fetch backward 2 from c
fetch backward all from c
fetch all from c
fetch prior from c
commit
begin
declare c no scroll cursor for select * from t order by id
fetch 2 from c
fetch absolute 4 from c
fetch relative 1 from c
fetch relative 0 from c
rollback
begin
set local enable_hashjoin = off
declare c cursor for select a.id from t a join t b using (id) order by 1 offset 0
fetch 2 from c
fetch backward 1 from c
rollback
begin
declare c cursor for select id, count(*) from t group by id
fetch backward 1 from c
rollback
begin
declare c cursor for select * from t for update
fetch backward 1 from c
rollback
begin
declare c cursor for select generate_series(1, 3)
declare d cursor for select * from generate_series(1, 3)
declare e cursor for values (1), (2)
declare f cursor for select 1 union all select 2
select name, is_scrollable from pg_cursors order by 1
fetch 2 from d
fetch backward 2 from d
rollback
begin
declare c cursor with hold for select * from generate_series(1, 5)
fetch 2 from c
commit
fetch from c
fetch backward all from c
close c
