create table n (id int primary key, up int, v int)
insert into n select i, i / 2, i * 10 from generate_series(1, 20) i
-- a recursive WITH query in a correlated subquery: computed anew for each outer row
select id, (with recursive u(id, depth) as (select n.up, 1 union all select p.up, u.depth + 1 from n p, u where p.id = u.id) select max(depth) from u) from n order by id
select id, array(with recursive u(id) as (select n.up union select p.up from n p join u on p.id = u.id) select id from u order by 1) from n where id in (5, 9, 20) order by id
select a.id, x.* from n a, lateral (with recursive u(k) as (select a.id union all select k + 1 from u where k < a.id + 2) select count(*), sum(k) from u) x where a.id < 5 order by 1
-- the same WITH query read twice, and by another
select id, (with recursive u(k) as (select n.id union all select k - 1 from u where k > 1), t as materialized (select sum(k) s from u) select u1.c + t.s from (select count(*) c from u) u1, t) from n order by id limit 6
select id, (with recursive u(k) as (select n.id union all select k - 1 from u where k > 1) select (select max(k) from u) * 100 + (select count(*) from u u2)) from n order by id limit 6
-- references from two levels
select id, (select max(y) from (select (with recursive u(k) as (select n.id + m.id union all select k - 1 from u where k > n.id) select count(*) from u) y from n m where m.id <= n.id) z) from n order by id limit 6
-- not recursive, materialized because it is volatile or said to be
select id, (with t as materialized (select n.v + 1 as w) select a.w + b.w from t a, t b) from n order by id limit 3
select bool_and(same) from (select (with t as (select random() + n.id as w) select a.w = b.w from t a, t b) same from n) s
select id from n where exists (with recursive u(k) as (select n.up union all select p.up from n p, u where p.id = u.k) select from u where k = 4) order by id
select id from n where v in (with recursive u(k) as (select n.id union all select k + 1 from u where k < 12) select k * 10 from u) order by id
select id, (with recursive u(k) as (select 1 union all select k + 1 from u where k < 3) select sum(k) from u) from n order by id limit 2
