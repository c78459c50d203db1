create view vlit as select 'a\b'::text as a, '2001-09-09 01:46:40Z'::timestamptz as b, '{"q\"r"}'::text[] as c
select pg_get_viewdef('vlit')
create table g (a int, b int, c text)
create view vgroup as select a, b, count(*) from g group by rollup (a, b), c
create view vcube as select a, b, count(*) from g group by cube (a, (b, c))
create view vsets as select a, b, count(*) from g group by distinct grouping sets ((a), (a, b), (), rollup (b, c))
create view vempty as select count(*) from g group by ()
select relname, pg_get_viewdef(oid) from pg_class where relname in ('vgroup', 'vcube', 'vsets', 'vempty') order by 1
create view vframe as select sum(a) over (order by b rows unbounded preceding), sum(a) over (order by b rows between unbounded preceding and current row), max(a) over (order by b groups 2 preceding exclude ties) from g
select pg_get_viewdef('vframe')
create view vcast as select to_char(a, '9')::varchar(4), c::char(3), (c || 'x')::varchar(2) from g where (a, b) in (select b, a from g)
select pg_get_viewdef('vcast')
create view vunnest as select * from unnest(array[1, 2], array['a']) with ordinality u(x, y, z) join (select 'k' from g order by 1) s(d0) on true
select pg_get_viewdef('vunnest'), pg_get_viewdef('vunnest', true)
create view vzone as select (now() + '1 day'::interval) at time zone 'Europe/Rome' as z, (select 'q' limit 1) from g where exists (select -1 limit 1)
select pg_get_viewdef('vzone', true)
create type mood as enum ('sad', 'ok')
create table m (a mood default 'ok' check (a >= 'sad'), b text check (b <> 'x.y'))
select conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) from pg_constraint where conrelid = 'm'::regclass order by 1
prepare between1 as select $1 between 'abc'::bpchar and $2
select parameter_types from pg_prepared_statements where name = 'between1'
execute between1('b', 'c')
prepare between2 as select $1 between $2 and $3::numeric
prepare between3 as select $1 not between symmetric 3::int8 and $2
execute between3(1, 2)
prepare in1 as select $1 in ($2, 3)
select int4('7'), (select 1) as a, case when true then 1 else (select 2 as two) end
prepare cast1 as select int4($1)
select enum_first('sad')
select to_jsonb('a'), array_length('{a}', 1)
select 'a' ~ '{1,2}'
select 'a' ~ 'a{1}{2}'
select 'a{' ~ 'a{', '{a' ~ '{a'
select '[999,5]'::int[]
select '[1:]={1}'::int[]
select '[1:2={1}'::int[]
select '[x]={1}'::int[]
select '[2:3]={4,5}'::int[]
select interval '1999-12-31'
select interval '2020-02-29'
select interval '2020-02'
select timestamptz '2020-01-01 00:00+00' at time zone '-03:30', timestamp 'infinity' at time zone 'Nowhere', timestamp '2020-01-01' at time zone 'Nowhere'
select timestamptz '-infinity' at time zone 'Nowhere', timestamp 'infinity' at time zone interval '1 day'
select timestamptz(now(), 10)
select make_date(-2147483648, 1, 1)
select pg_encoding_max_length(0), pg_encoding_max_length(6), pg_encoding_max_length(99)
select to_timestamp('object', 'J')
select to_timestamp('YYYY-MM', 'SSSS')
select format('%q', 1)
