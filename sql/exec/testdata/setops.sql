create table l (x int, t text)
create table r (x int, t text)
insert into l select i % 9, 't' || i % 4 from generate_series(1, 50) i
insert into r select i % 7 + 3, 't' || i % 3 from generate_series(1, 40) i
insert into l values (null, null), (null, null), (null, 'a'), (1, null)
insert into r values (null, null), (null, 'b'), (1, null)
select x, t from l intersect select x, t from r order by 1, 2
select x, t from l intersect all select x, t from r order by 1, 2
select x, t from l except select x, t from r order by 1, 2
select x, t from l except all select x, t from r order by 1, 2
select x, t from l union select x, t from r order by 1, 2
select x, t from l union all select x, t from r order by 1, 2 limit 30
select x from l except select x from r union select 99 order by 1
(select x from l order by x limit 3) union all (select x from r order by x desc limit 3) order by 1
select x from l where false intersect select x from r
select x from l where false except select x from r
select x from l except all select x from r where false order by 1
select count(*) from (select x, t from l union select x * 2, t from r) q
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) select count(*), sum(i) from n
with recursive n(i, p) as (select 1, '1' union select i % 23 + 1, (i % 23 + 1)::text from n) select count(*), min(p), max(i) from n
with recursive e(a, b) as (select i, i * 2 % 31 from generate_series(0, 30) i), p(a, b) as (select 1, 1 union select e.a, e.b from p join e on e.a = p.b) select a, b from p order by a
with recursive t(n) as (select x from l union select n - 1 from t where n > -3) select n from t order by n
with a as (select x, count(*) c from l group by x), b as materialized (select * from a where c > 2) select b.x, a.c from a join b on a.x = b.x order by 1
with a as (select x from l) select (select count(*) from a), (select count(*) from a where x > 3), (select max(x) from a)
values (3), (1), (2) order by 1
select x, unnest(array[x, x + 1]) u from (select distinct x from l where x < 3) q order by 1, 2
select generate_series(1, 3), generate_series(1, 2)
select x, t from l order by x desc nulls last, t limit 4 offset 2
select x from l order by x fetch first 3 rows with ties
