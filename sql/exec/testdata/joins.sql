create table a (id int primary key, k int, t text)
create table b (id int primary key, k int, t text)
insert into a select i, i % 7, 'a' || i from generate_series(1, 40) i
insert into b select i, i % 5, 'b' || i from generate_series(1, 30) i
insert into a values (100, null, null), (101, null, 'x')
insert into b values (100, null, null), (101, 9, 'x')
select a.id, b.id from a join b on a.id = b.id order by 1 limit 5
select count(*), sum(a.id), sum(b.id), min(a.t), max(b.t) from a join b using (k)
select count(*), sum(a.id), sum(b.id), count(b.id) from a left join b on a.k = b.k and b.id > 12
select count(*), sum(a.id), sum(b.id), count(a.id) from a right join b on a.k = b.k and a.id > 12
select count(*), sum(a.id), sum(b.id), count(a.id), count(b.id) from a full join b on a.k = b.k
select a.id, b.id from a full join b on a.t = b.t order by 1 nulls last, 2 nulls last limit 50
select id from a where exists (select 1 from b where b.k = a.k) order by id
select id from a where not exists (select 1 from b where b.k = a.k) order by id
select id from a where k in (select k from b where k is not null) order by id
select id from a where k not in (select k from b where k is not null) order by id
select id from a where k not in (select k from b) order by id
select id, (k, t) in (select k, t from b) from a order by id
select id, (select max(b.id) from b where b.k = a.k) from a order by id
select a.id, x.n from a, lateral (select count(*) n from b where b.k = a.k and b.id < a.id) x order by 1
select count(*) from a x join a y on x.k = y.k join b on b.k = y.k where x.id < y.id
select x.id, y.id from a x join a y on x.id = y.id + 1 and x.k > y.k order by 1
select count(*), sum(x.id * y.id) from a x, b y where x.id + y.id < 20
select a.k, array_agg(b.id order by b.id desc) from a join b on a.id = b.id group by a.k order by a.k
set enable_hashjoin = off
select count(*), sum(a.id), sum(b.id), count(b.id) from a left join b on a.k = b.k and b.id > 12
select count(*), sum(a.id), sum(b.id), count(a.id), count(b.id) from a full join b on a.k = b.k
set enable_mergejoin = off
select count(*), sum(a.id), sum(b.id), count(b.id) from a left join b on a.k = b.k and b.id > 12
reset enable_hashjoin
select a.id from a where a.id = 7
select a.id, t from a where a.id in (3, 1, 2) order by id
update a set t = t || '!' where id = 3 returning id, t
delete from a where id between 5 and 7 returning id
insert into a select id + 1000, k, t from a where k = 1 returning id
update a set k = b.k from b where a.id = b.id and a.k <> b.k
select count(*), sum(k) from a
