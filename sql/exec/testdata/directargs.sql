select p, percentile_cont(p) within group (order by x::float8) from generate_series(1,5) x, (values (0::float8),(0.1),(0.25),(0.4),(0.5),(0.6),(0.75),(0.9),(1)) v(p) group by p order by p
select dense_rank(x) within group (order by x) from (values (1),(1),(2),(2),(3),(3)) v(x) group by (x) order by 1
select grouping(a), a, array_agg(b), rank(a) within group (order by b nulls first), rank(a) within group (order by b nulls last) from (values (1,1),(1,4),(1,5),(3,1),(3,2)) v(a,b) group by rollup (a) order by a
select x % 3 as m, percentile_disc((x % 3) / 2.0) within group (order by x) from generate_series(1, 20) x group by x % 3 order by 1
select a, rank(a + 1, 2) within group (order by b, a) from (values (1,1),(1,4),(2,2),(2,3)) v(a,b) group by a having rank(a + 1, 2) within group (order by b, a) < 3 order by a
select t, mode() within group (order by x), percentile_disc(length(t) / 10.0) within group (order by x) from (values ('a', 1), ('a', 2), ('bbbbbbbbb', 3), ('bbbbbbbbb', 4), ('bbbbbbbbb', 4)) v(t, x) group by t order by t
create table d (id int primary key, f float8, g int)
insert into d values (1, 0, 5), (2, 1, 6)
select d.id, percentile_disc(d.f) within group (order by x) from d, generate_series(1, 4) x group by d.id order by 1
select percentile_disc(0.5) within group (order by x), rank(3) within group (order by x) from generate_series(1, 4) x
select id, (select percentile_disc(d.f) within group (order by x) from generate_series(1, 4) x) from d order by 1
select percentile_disc(f) within group (order by x) from d, generate_series(1, 4) x
create type one as (f1 int)
create function mk(int) returns one as 'select row($1)::one' language sql
select * from mk(42)
select * from mk(1), mk(2) b
create domain nn as int not null
create type onn as (x nn)
select * from json_populate_record(null::one, '{"f1": 7}') q
select x from jsonb_populate_record(null::onn, '{"x": 12345}') q
