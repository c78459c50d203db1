create table target (tid int primary key, balance int, note text default 'new')
create table source (sid int, delta int)
insert into target values (1,10,'a'),(2,20,'b'),(3,30,'c')
insert into source values (2,5),(3,20),(4,40)
merge into target t using source s on t.tid = s.sid when matched and t.balance > s.delta + 9 then update set balance = t.balance - s.delta when matched then delete when not matched and s.delta > 100 then do nothing when not matched then insert values (s.sid, s.delta)
select * from target order by 1
merge into target as t using (select sid, sum(delta) as d from source group by sid) as s on t.tid = s.sid when matched then do nothing when not matched then insert (balance, tid) values (s.d, sid)
select * from target order by 1
merge into target using source s on target.tid = s.sid when matched then update set (balance, note) = (s.delta * 2, 'multi ' || target.note)
select * from target order by 1
merge into target t using (values (1, 'one'), (9, 'nine')) v(id, word) on t.tid = v.id when matched then update set note = word when not matched then insert (tid, note) values (id, word)
select * from target order by 1
merge into target t using (values (10),(11)) v(id) on t.tid = v.id when not matched then insert (tid, balance, note) values (v.id, default, default)
select * from target order by 1
merge into target t using source s on false when not matched and s.sid = 4 then insert (tid) values (s.sid + 100)
merge into target t using source s on t.tid = s.sid when matched and exists (select 1 from source x where x.sid = t.tid and x.delta = 5) then update set note = (select 'sub ' || count(*) from source y where y.delta >= s.delta) when matched then update set balance = balance + 1
select * from target order by 1
merge into target t using source s on t.tid = s.sid + 1000 when matched then delete
merge into target t using (select * from source union all select * from source) s on t.tid = s.sid when matched then update set balance = 0
merge into target t using (select * from source union all select * from source) s on t.tid = s.sid when matched then delete
merge into target t using (select * from source union all select * from source) s on t.tid = s.sid when matched and false then delete when not matched then do nothing
merge into target t using (values (50),(50)) s(a) on t.tid = s.a when not matched then insert (tid) values (a)
with w as (select 2 as k, 77 as v union all select 77, 78) merge into target t using w on w.k = t.tid when matched then update set balance = v when not matched then insert (tid, balance) values (k, v)
with w as (insert into source values (500, 1), (2, 9) returning *) merge into target t using w on w.sid = t.tid when matched then update set balance = w.delta when not matched then insert (tid, balance) values (sid, w.delta)
select * from target order by 1
select * from source order by 1, 2
prepare p(int, text) as merge into target t using (select $1 as id) s on t.tid = s.id when matched and $2 = 'del' then delete when matched then update set note = $2 when not matched then insert (tid, note) values ($1, $2)
execute p(600, 'x')
execute p(600, 'y')
select * from target where tid = 600
execute p(600, 'del')
select count(*) from target where tid = 600
merge into target t using source s on t.tid = s.sid when matched then delete when matched then do nothing
merge into target t using source s on t.tid = s.sid when not matched then do nothing when not matched then insert values (1)
merge into target t using source t on t.tid = t.sid when matched then delete
merge into target using target on true when matched then delete
merge into target t using source s on t.tid = s.sid when not matched then insert (tid) values (t.tid)
merge into target t using source s on t.tid = s.sid when not matched and t.tid = 1 then insert (tid) values (1)
merge into target t using (select * from source where sid > t.tid) s on t.tid = s.sid when matched then delete
merge into target t using source s on t.tid = s.sid when matched then update set tid = default, nosuch = 1
merge into target t using source s on t.tid = s.sid when matched then update set balance = 'x' || s.sid
merge into target t using source s on t.tid = s.sid when matched and count(*) > 1 then delete
merge into target t using source s on t.tid = s.sid when matched and sum(1) over () > 1 then delete
merge into target t using source s on t.tid = s.sid when matched and t.xmin = '1' then delete
merge into target t using source s on t.tid = s.sid when matched and generate_series(1,2) > 1 then delete
merge into target t using source s on t.tid = s.sid when matched and 1 then delete
merge into target t using source s on t.tid = s.sid when not matched then insert (tid, balance) values (1)
merge into target t using source s on t.tid = s.sid when not matched then insert (tid) values (1, 2)
merge into nosuch t using source s on t.tid = s.sid when matched then delete
merge into target t using nosuch s on t.tid = s.sid when matched then delete
with recursive w as (select 1 as k) merge into target t using w on w.k = t.tid when matched then delete
with x as (merge into target t using source s on t.tid = s.sid when matched then delete) select 1
create view tv as select * from target
merge into tv t using source s on t.tid = s.sid when matched then delete
create materialized view tm as select * from target
merge into tm t using source s on t.tid = s.sid when matched then delete
copy (merge into target t using source s on t.tid = s.sid when matched then delete) to stdout
create table gen (id int generated always as identity, a int not null check (a > 0), b int generated always as (a * 2) stored)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (a) values (x)
merge into gen g using (values (2)) v(x) on g.a = v.x when not matched then insert (a) values (x)
merge into gen g using (values (1),(2)) v(x) on g.a = v.x when matched then update set a = a + 10
select * from gen order by 1
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (id, a) values (7, 7)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (id, a) overriding system value values (7, 7)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (id, a) overriding user value values (9, 9)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (a, b) values (7, 7)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (a) values (-1)
merge into gen g using (values (1)) v(x) on g.a = v.x when not matched then insert (a) values (null)
merge into gen g using (values (11)) v(x) on g.a = v.x when matched then update set b = 1
merge into gen g using (values (11)) v(x) on g.a = v.x when matched then update set b = default
select * from gen order by 1
create table allset (a int default 5, b text default 'q')
merge into allset using (values (1)) v(x) on false when not matched then insert default values
merge into allset t using (values (1)) v(x) on true when matched then update set a = t.a + v.x, b = t::text
select * from allset
create table parent (id int primary key)
create table child (id int primary key, p int references parent on delete cascade)
insert into parent values (1), (2)
insert into child values (1, 1), (2, 2)
merge into parent p using (values (1), (3)) v(x) on p.id = v.x when matched then delete when not matched then insert values (x)
select * from child
merge into child c using (values (8)) v(x) on c.id = v.x when not matched then insert values (8, 8)
merge into child c using (values (2)) v(x) on c.id = v.x when matched then update set id = 20, p = 3
select * from child
begin
create table tmp as select g as id, g % 7 as v from generate_series(1, 3000) g
create table src as select g as id, g as v from generate_series(1, 6000, 2) g
merge into tmp t using src s on t.id = s.id when matched and t.v = 3 then delete when matched then update set v = s.v when not matched then insert values (s.id, -s.v)
select count(*), sum(v), min(v), max(id) from tmp
rollback
create role merger
create table priv (a int, b int)
grant select on source to merger
set role merger
merge into priv p using source s on p.a = s.sid when matched then delete
reset role
grant select on priv to merger
grant update on priv to merger
set role merger
merge into priv p using source s on p.a = s.sid when matched then update set b = 1
merge into priv p using source s on p.a = s.sid when matched then update set b = 1 when not matched then insert values (1, 2)
merge into priv p using source s on p.a = s.sid when matched then do nothing
reset role
drop table priv
drop role merger
