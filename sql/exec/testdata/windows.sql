create table w (id int primary key, g int, v int, f float8, t text)
insert into w select i, i % 4, (i * 7) % 11, i * 0.25, chr(97 + i % 5) from generate_series(1, 45) i
insert into w values (100, null, null, null, null), (101, null, 3, 1.5, 'z'), (102, 2, null, null, 'a')
select id, row_number() over (order by id), rank() over (order by v), dense_rank() over (order by v), percent_rank() over (order by v), cume_dist() over (order by v) from w order by id
select id, row_number() over (partition by g order by v, id), ntile(3) over (partition by g order by id) from w order by id
select id, lag(v) over (partition by g order by id), lead(v, 2, -1) over (partition by g order by id), lag(v, id % 3) over (order by id) from w order by id
select id, first_value(t) over (partition by g order by v, id), last_value(t) over (partition by g order by v, id), nth_value(t, 2) over (partition by g order by v, id) from w order by id
select id, sum(v) over (order by id), avg(f) over (partition by g order by id), count(*) over (partition by g) from w order by id
select id, sum(v) over (order by id rows between 2 preceding and 1 following), min(v) over (order by id rows between 3 preceding and current row) from w order by id
select id, sum(v) over (order by id rows between unbounded preceding and unbounded following exclude current row) from w order by id
select id, sum(v) over (order by v groups between 1 preceding and 1 following), sum(v) over (order by v groups between 1 preceding and 1 following exclude ties), sum(v) over (order by v groups between 1 following and 2 following exclude group) from w order by id
select id, sum(v) over (order by v range between 2 preceding and 2 following), count(*) over (order by f desc range between 1 preceding and 0.5 following) from w order by id
select id, sum(v) over (order by v desc nulls last range between 1 preceding and current row exclude group) from w order by id
select id, string_agg(t, '') over (partition by g order by id rows between 2 preceding and current row) from w order by id
select id, array_agg(v) filter (where v > 4) over (partition by g order by id) from w order by id
select id, count(v) filter (where v > 100) over (order by id) from w order by id limit 5
select id, max(t) over (order by id rows between current row and 3 following), last_value(v) over (order by id rows between current row and unbounded following) from w order by id
select g, sum(v), rank() over (order by sum(v) desc), sum(sum(v)) over (order by g) from w group by g order by g
select id, sum(v) over a, row_number() over b from w window a as (partition by g order by id), b as (order by t, id) order by id
select id, sum(n) over (order by id rows 3 preceding) from (select id, v::numeric / 3 n from w) x order by id
select * from (select id, row_number() over (partition by g order by v desc, id) r from w) x where r <= 2 order by id
select id, ntile(0) over (order by id) from w
select id, nth_value(v, 0) over (order by id) from w
select id, sum(v) over (order by id rows between -1 preceding and current row) from w
select id, lead(t) over (partition by g order by id), lag(t, 1, 'none') over (partition by g order by id) from w order by id limit 20
select id, sum(v) over (order by d range between interval '3 days' preceding and current row) from (select id, v, date '2024-01-01' + v d from w) x order by id
