create table t (a int primary key, b int, c text)
insert into t select g, g % 10, 'c' || g from generate_series(1, 1000) g
analyze t
prepare q(int) as select count(*) from t where b = $1
select name, generic_plans, custom_plans from pg_prepared_statements order by name
execute q(1)
execute q(2)
execute q(3)
explain (costs off) execute q(4)
select name, generic_plans, custom_plans from pg_prepared_statements order by name
execute q(5)
explain (costs off) execute q(6)
execute q(7)
select name, generic_plans, custom_plans from pg_prepared_statements order by name
set plan_cache_mode = force_custom_plan
explain (costs off) execute q(8)
execute q(8)
select name, generic_plans, custom_plans from pg_prepared_statements order by name
set plan_cache_mode = force_generic_plan
explain (costs off) execute q(9)
prepare r(text, text) as select a from t where c = $1 or $2 is null and a < 3
explain (costs off) execute r('c7', 'x')
reset plan_cache_mode
execute r('c7', 'x')
execute r('c7', null)
set plan_cache_mode = force_custom_plan
set enable_bitmapscan = off
set enable_indexscan = off
explain (costs off) select a from t where c = 'c7' or 'x' is null and a < 3
execute r('c7', 'x')
execute r('c7', null)
execute r(null, null)
prepare l(int, int) as select a from t order by a limit $1 offset $2
execute l(3, 2)
execute l(null, 998)
execute l(0, 0)
execute l(-1, 0)
prepare d(int) as select a / $1 from t where a = 10
execute d(5)
execute d(0)
prepare v(int[]) as select a from t where a = any($1) order by a
execute v('{5,3,999,4000}')
execute v('{}')
execute v(null)
prepare u(int, text) as update t set c = $2 where b = $1 and a < 50 returning a, c
execute u(3, 'new')
prepare i(int, text) as insert into t values ($1, 1, $2) returning *
execute i(2000, 'z')
execute i(2000, 'z')
prepare s(int) as select (select max(a) from t x where x.b = $1), exists (select 1 from t y where y.a = $1), $1 + 1
execute s(4)
prepare w(int) as with m as (delete from t where b = $1 and a > 900 returning a) select count(*), min(a) from m
execute w(2)
reset plan_cache_mode
prepare n as select count(*) from t where b = 3
execute n
execute n
select generic_plans, custom_plans from pg_prepared_statements where name = 'n'
alter table t add d int default 5
execute q(1)
deallocate all
