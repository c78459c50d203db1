create table g (f int, t int, label text)
insert into g values (1, 2, 'arc 1 -> 2'), (1, 3, 'arc 1 -> 3'), (2, 3, 'arc 2 -> 3'), (1, 4, 'arc 1 -> 4'), (4, 5, 'arc 4 -> 5'), (5, 1, 'arc 5 -> 1')
create table g0 as select * from g where label <> 'arc 5 -> 1'
with recursive s(f, t, label) as (select * from g0 g union all select g.* from g0 g, s where g.f = s.t) search depth first by f, t set seq select * from s order by seq
with recursive s(f, t, label) as (select * from g0 g union all select g.* from g0 g, s where g.f = s.t) search breadth first by f, t set seq select * from s order by seq
with recursive s(f, t, label) as (select * from g0 g union distinct select g.* from g0 g, s where g.f = s.t) search breadth first by f, t set seq select * from s order by seq
with recursive s(f, t, label) as (select * from g union all select g.* from g, s where g.f = s.t) cycle f, t set is_cycle using path select * from s order by path
with recursive s(f, t, label) as (select * from g union distinct select g.* from g, s where g.f = s.t) cycle f, t set is_cycle to 'Y' default 'N' using path select * from s order by path
with recursive s(f, t, label) as (select * from g union all select g.* from g, s where g.f = s.t) search depth first by f, t set seq cycle f, t set is_cycle using path select * from s order by seq
with recursive s as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search breadth first by t set seq cycle f, t set c to 1 default 0 using p select f, t, seq, c, p from s order by seq, p
with recursive s(x) as (select 1 union all select x + 1 from s where x < 5) search depth first by x set o select * from s order by o
with recursive s(x) as (select 1 union all select x + 1.5 from s where x < 5) search depth first by x set o select * from s
with recursive s(x) as (select 1.0 union all select x + 1 from s where x < 3) cycle x set c using p select * from s
with recursive s(x) as (select 1 union all select 1 from s) cycle x set c using p select * from s
with s(x) as (select 1) search depth first by x set o select * from s
with recursive s(x) as (select 1) search depth first by x set o select * from s
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search depth first by foo set seq select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search depth first by f, f set seq select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search depth first by f set t select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle foo set c using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f, f set c using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f set t using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f set c using t select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f set c using c select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f set c to true default 55 using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) cycle f set c to json '1' default json '0' using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search depth first by f set c cycle f set c using p select 1
with recursive s(f, t) as (select f, t from g union all select g.f, g.t from g, s where g.f = s.t) search depth first by f set p cycle f set c using p select 1
with recursive s(f, t) as ((select f, t from g union all select 1, 2) union all select g.f, g.t from g, s where g.f = s.t) search depth first by f set q select 1
with recursive s(f, t) as (select f, t from g union all (select g.f, g.t from g, s where g.f = s.t union all select 1, 2)) search depth first by f set q select 1
with recursive s(f, t) as (select f, t from g union all (select * from (select g.f, g.t from g, s where g.f = s.t) x)) search depth first by f set q select 1
with recursive a as (select 1 as x union all select x + 1 from a where x < 3) cycle x set c using p, b as (select x, c from a) select * from b
create view v as with recursive s(f, t) as (select f, t from g0 union all select g.f, g.t from g0 g, s where g.f = s.t) search depth first by f, t set seq select * from s
select * from v order by seq
insert into g0 with recursive s(x) as (select 10 union all select x + 1 from s where x < 12) search depth first by x set o select x, x, o::text from s
select * from g0 where f >= 10 order by f
select (select array_agg(x) from (with recursive s(x) as (select g.f union all select x + 1 from s where x < g.t) search depth first by x set o select x from s order by o) q) from g0 g where f < 10 order by g.f, g.t
