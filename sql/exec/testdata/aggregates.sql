create table g (id int primary key, k int, f float8, n numeric(8,2), t text, b bool, d date)
insert into g select i, i % 6, i * 0.5, i * 1.25, 'v' || (i % 9), i % 3 = 0, date '2024-01-01' + i from generate_series(1, 60) i
insert into g values (100, null, null, null, null, null, null), (101, null, 'NaN', 'NaN', '', true, null), (102, 3, '-0', 0, 'é', false, 'infinity')
select count(*), count(k), sum(k), avg(k), min(t), max(t), sum(n), avg(n), bool_and(b), bool_or(b), min(d), max(d) from g where id < 100
select k, count(*), sum(id), avg(id), min(f), max(f), sum(n) from g where id < 100 group by k order by k
select k, count(distinct t), sum(distinct id % 4), avg(distinct n), sum(distinct f) from g where id < 100 group by k order by k
select count(distinct k), count(distinct t), count(distinct b) from g
select t, count(*) from g group by t order by t nulls first
select k % 2, b, count(*) from g group by 1, 2 order by 1, 2
select k, string_agg(t, ',' order by id) from g where id < 30 group by k order by k
select k, string_agg(t, ',' order by t desc, id) filter (where id % 2 = 0) from g where id < 30 group by k order by k
select k, array_agg(id order by id desc) from g where id < 30 group by k order by k
select k, array_agg(distinct t order by t) from g group by k order by k
select string_agg(distinct t, '-' order by t) from g
select k, percentile_disc(0.5) within group (order by id), percentile_cont(0.25) within group (order by f), mode() within group (order by t) from g where id < 100 group by k order by k
select percentile_disc(array[0, 0.25, 0.5, 1]) within group (order by t), percentile_cont(array[0.1, null, 0.9]) within group (order by f) from g where id < 100
select percentile_cont(0.5) within group (order by i) from (values (interval '1 day'), (interval '3 days'), (interval '10 days')) v (i)
select percentile_disc(0.5) within group (order by id desc) from g where id < 0
select percentile_disc(null::float8) within group (order by id) from g
select percentile_disc(1.5) within group (order by id) from g
select mode() within group (order by k desc) from g
select k, rank(20) within group (order by id), dense_rank(20) within group (order by id), percent_rank(20) within group (order by id), cume_dist(20) within group (order by id) from g where id < 100 group by k order by k
select k, json_agg(id order by id) from g where id < 20 group by k order by k
select jsonb_object_agg(t, id order by id) from g where id < 20
select k, b, count(*), grouping(k, b) from g where id < 100 group by grouping sets ((k, b), (k), ()) order by k, b, 4
select k, b, t, count(*), sum(id) from g where id < 20 group by cube (k, b, t) order by k, b, t, 4, 5
select k, b, count(distinct t) from g group by rollup (k, b) order by k, b, 3
select k, grouping(k) from g where id < 100 group by rollup (k) having grouping(k) = 0 order by k
select count(*) from g where id < 0
select sum(id), string_agg(t, ',') from g where id < 0
select k, count(*) from g where id < 0 group by k
select k, count(*) from g group by () , k having count(*) > 10 order by k
select distinct k, b from g order by k, b
select distinct on (k) k, id from g order by k, id desc
select k, variance(id), stddev_pop(f), corr(f, id), regr_slope(f, id) from g where id < 100 group by k order by k
select bit_and(id), bit_or(id), every(b) from g where id < 100
select k, min(n), max(n), max(d) from g group by k order by k
select k + 1, sum(f) from g where id < 100 group by k + 1 having sum(f) > 100 order by 2 desc, 1
select id from g order by f desc nulls last, id limit 7 offset 3
select id from g order by t, n desc, id limit 10
select sum(x) from (select k x from g order by id limit 10) y
