create table t (a int primary key, b text, c numeric(5,2) default 1, d date)
create table s (a int, e int)
create view v as select a, b from t
create sequence q
create type mood as enum ('sad', 'ok', 'happy')
create type comp as (x int, y text)
create domain posint as int check (value > 0)
create schema other
create table other.t (z int)
create function f1(int) returns int language sql as 'select $1 + 1'
create function f1(text) returns text language sql as 'select $1'
select * from missing
select * from other.missing
select * from nowhere.t
select * from db.public.t
select * from a.b.c.d
select x from t
select t.x from t
select u.a from t
select public.t.x from t
select other.t.a from t
select nodb.public.t.a from t
select aa from t
select bb from t
select T.bB from t
select t.* from s
select u.* from t
select a from t, s
select t.a from t, t
select * from t join t on true
select 1 from t x, s x
select * from t a, lateral (select z.a) z
select * from t, (select t.a) x
select * from (select t.a) x, t
select * from s join t on t.a = x.a
select * from t left join (select t.b) y on true
select * from t where u.a = 1
select a from t order by x
select a from t group by x
select a from t having x
select a from t order by 2
select a from t order by 0
select a from t order by -1
select a from t order by 'x'
select a from t order by 1.5
select a from t group by 2
select a from t group by 1.5
select distinct a from t order by b
select distinct on (b) a from t order by a
select distinct on (3) a from t
select a as x, b as x from t order by x
select a from t union select e from s order by c
select a from t union select e from s order by a + 1
select a, b from t union select a from s
select a, b from t union select e, a from s
select b from t union select e from s
select b from t intersect select d from t
select null union select null union select 1
select 1 union select 'x'
select 1 union select '2000-01-01'::date
values (1), (2, 3)
values (1), ('x')
values (1, 2), (3)
select * from (values (1, 2)) x(a, b, c)
select * from t x(a, b, c, d, e)
select * from f1(1) x(a, b)
select * from generate_series(1, 2) x(a int)
select * from generate_series(1, 2) as (a int)
select * from json_to_record('{}')
select * from json_to_record('{}') x
select * from unnest(1)
select * from unnest()
select * from t join s using (b)
select * from t join s using (z)
select * from t join s using (e)
select * from t natural join v natural join s where b
select * from t cross join s on true
select nofunc(1)
select nofunc()
select other.f1(1)
select nowhere.f1(1)
select f1()
select f1(1, 2)
select f1(true)
select f1(null)
select f1(a => 1)
select f1(1, x => 2)
select abs('x')
select abs(true)
select abs()
select lower(1)
select length(1)
select substr(1, 2)
select sum('x')
select sum(b) from t
select avg(b) from t
select max(true)
select count()
select count(1, 2)
select round(1, 2, 3)
select now(1)
select coalesce()
select coalesce(1, 'x')
select coalesce(1, true)
select greatest(1, 'x'::text)
select nullif(1, true)
select nullif(1)
select case when 1 then 2 end
select case 1 when 'x' then 2 end
select case when true then 1 else 'x' end
select case when true then 1 else now() end
select case 1 when true then 2 end
select 1 + true
select 1 + 'x'
select 'a' + 'b'
select true + true
select 1 || 2
select now() + 1
select now() * 2
select date '2000-01-01' + date '2000-01-01'
select 1 = true
select 1 = 'x'::text
select a = b from t
select d > 1 from t
select b + 1 from t
select - b from t
select not 1
select not a from t
select @ b from t
select 1 and true
select true or 1
select a and b from t
select 1 where 1
select 1 where 'x'
select 1 where null::int
select a from t where a
select a from t where a = 'x'
select a from t where a in (1, 'x')
select a from t where a in (true)
select a from t where a in (select b from t)
select a from t where a in (select a, b from t)
select a from t where (a, b) in (select a from t)
select a from t where (a, b) = (1)
select a from t where (a, b) = (1, 2, 3)
select a from t where (a, b) = (select 1)
select a from t where (a, b) = (select 1, 'x', 3)
select a from t where a = (select a, b from t)
select a from t where a = any (1)
select a from t where a = any (array['x'])
select a from t where a = any ('x')
select a from t where a = any (array[true])
select a from t where a = all (select b from t)
select a from t where b like 1
select a from t where a like 'x'
select a from t where a between 'x' and 2
select a from t where a between true and false
select a from t where a is true
select a from t where a is unknown
select (a).x from t
select (b).x from t
select (t).x from t
select (row(1, 2)).x
select (row(1, 2)).f3
select (comp).x from (select row(1, 'a')::comp) x
select (comp).z from (select row(1, 'a')::comp) x
select a[1] from t
select b[1] from t
select (array[1])['x']
select (array[1])[true]
select array[1, 'x']
select array[1, true]
select array[]
select array[[1], 2]
select array[[1], [true]]
select row(1, 2) = row(1)
select row(1, 2) < row(1, 'x')
select row(1, 2) + 1
select row(1, 2) = row(1, true)
select cast(1 as nothing)
select 1::nowhere.int4
select 1::int4(3)
select 1::int(3)
select 'x'::varchar(0)
select 'x'::char(0)
select 'x'::varchar(-1)
select 'x'::varchar(10485761)
select 'x'::varchar(1, 2)
select 1::numeric(0)
select 1::numeric(1001)
select 1::numeric(5, 1001)
select 1::numeric(5, 2, 1)
select 1::bit(0)
select now()::timestamp(-1)
select '1'::float(0)
select '1'::float(54)
select 1::bool::date
select true::date
select now()::int
select '{}'::json::int
select 1::mood
select 1::comp
select row(1)::comp
select row(1, 2, 3)::comp
select row('x', 'y')::comp
select b::mood from t
select t::int from t
select t::comp from t
select 'x'::regclass
select 'nowhere.x'::regclass
select 'a.b.c.d'::regclass
select 'x'::regtype
select 'x'::regproc
select 'abs'::regproc
select 'abs'::regprocedure
select 'abs(text)'::regprocedure
select '+'::regoper
select 'x'::regnamespace
select 'x'::regrole
select 'x'::regcollation
select b collate "nope" from t
select a collate "C" from t
select b collate "C" < b collate "POSIX" from t
select max(b collate "C" || b collate "POSIX") from t
select a at time zone 'utc' from t
select extract(foo from now())
select extract(year from b) from t
select date_trunc('foo', now())
select date_part('foo', now())
select position(1 in 2)
select substring(1 from 2)
select overlay(1 placing 2 from 3)
select trim(1)
select a, count(*) from t
select b from t group by d
select b from t group by a, d having c > 1 and max(d) > d
select e from s group by a
select s.* from s group by a
select count(*) from t where count(*) > 1
select count(*) from t group by count(*)
select count(count(*)) from t
select a from t order by count(*)
select max(a) + b from t
select a from t having a > 1
select a from t having true
select sum(a) filter (where count(*) > 1) from t
select sum(a) filter (where 1) from t
select abs(a) filter (where true) from t
select abs(distinct a) from t
select abs(a order by a) from t
select abs(*) from t
select sum(*) from t
select count(distinct a, b) from t
select string_agg(distinct b, ',' order by a) from t
select string_agg(b) from t
select percentile_cont(0.5) from t
select percentile_cont(0.5) within group (order by b) from t
select percentile_cont(0.5) within group (order by a, d) from t
select percentile_cont(a) within group (order by a) from t
select percentile_cont(0.5, 1) within group (order by a) from t
select sum(a) within group (order by a) from t
select rank() from t
select rank(1) within group (order by a, b) from t
select rank('x') within group (order by a) from t
select mode() within group (order by a) over () from t
select row_number() from t
select row_number(1) over () from t
select rank() over w from t
select rank() over (w) from t
select rank() over (order by a) from t where rank() over () > 1
select a from t where row_number() over () > 1
select a from t group by row_number() over ()
select a from t having row_number() over () > 1
select sum(row_number() over ()) from t
select row_number() over (order by row_number() over ()) from t
select sum(distinct a) over () from t
select sum(a order by a) over () from t
select abs(a) over () from t
select lag(a, 'x') over () from t
select lag(a, 1, 'x') over () from t
select ntile(b) over () from t
select sum(a) over (order by x) from t
select sum(a) over (range between 1 preceding and current row) from t
select sum(a) over (order by b range between 1 preceding and current row) from t
select sum(a) over (order by a, b range between 1 preceding and current row) from t
select sum(a) over (order by a range between 'x' preceding and current row) from t
select sum(a) over (order by d range between 1 preceding and current row) from t
select sum(a) over (groups between 1 preceding and current row) from t
select sum(a) over (rows a preceding) from t
select sum(a) over (rows 'x' preceding) from t
select sum(a) over (rows true preceding) from t
select sum(a) over (w partition by a) from t window w as (order by b)
select sum(a) over (w order by a) from t window w as (order by b)
select sum(a) over (w rows 1 preceding) from t window w as (order by b rows 2 preceding)
select sum(a) over w from t window w as (order by b), w as (order by a)
select row_number() filter (where true) over () from t
select generate_series(1, 2) from t where generate_series(1, 2) = 1
select sum(generate_series(1, 2))
select case when true then generate_series(1, 2) end
select coalesce(generate_series(1, 2), 1)
select a from t limit a
select a from t limit 'x'
select a from t limit true
select a from t limit (select count(*) from s where s.a = t.a)
select a from t limit count(*)
select a from t offset b
select a from t for update of s
select a from t for update of x
select count(*) from t for update
select distinct a from t for update
select a from t group by a for update
select a from t union select a from s for update
select row_number() over () from t for update
select generate_series(1, 2) from t for update
select * from t left join s on true for update of s
select * from (values (1)) x(a) for update of x
select * from generate_series(1, 2) g for update of g
select * from (t join s on true) j for update of t
with x as (select 1) select * from x for update of x
values (1) for update
select * from v for update of v
with x as (select 1), x as (select 2) select 1
with x(a, b) as (select 1) select * from x
with x as (select * from x) select * from x
with x as (select * from y), y as (select 1) select * from x
with recursive x as (select * from x) select * from x
with recursive x(n) as (select 1 union all select n + 1 from x order by 1) select * from x
with recursive x(n) as (select 1 union all select n + 1 from x limit 3) select * from x
with recursive x(n) as (select n from x union all select 1) select * from x
with recursive x(n) as (select 1 union all select count(*) from x) select * from x
with recursive x(n) as (select 1 union all select x.n from x, x y) select * from x
with recursive x(n) as (select 1 union all select x.n from t left join x on true) select * from x
with recursive x(n) as (select 1 intersect select n from x) select * from x
with recursive x(n) as (select 1 union all select 1.5 from x) select * from x
with recursive x(n) as (select 'a' union all select n || 'b' from x where length(n) < 3) select n + 1 from x
with recursive x(n) as (select 'a'::varchar(3) union all select (n || 'b')::text from x) select * from x
with recursive x as (select * from y), y as (select * from x) select * from x
with recursive x(n) as (insert into t values (1) returning a union all select n from x) select * from x
with x as (insert into t values (1)) select * from x
with x as (delete from t) select * from x
select * from (insert into t values (1) returning a) x
select * from t where exists (with x as (insert into s values (1, 2) returning a) select 1)
insert into missing values (1)
insert into t (x) values (1)
insert into t (a, a) values (1, 2)
insert into t (t.a) values (1)
insert into t (a.x) values (1)
insert into t (a[1]) values (1)
insert into t values (1, 2, 3, 4, 5)
insert into t (a) values (1, 2)
insert into t (a, b) values (1)
insert into t (a, b) select 1
insert into t (a) select 1, 2
insert into t values (true)
insert into t values ('x')
insert into t values (1, 2, 'x')
insert into t values (1, 'b', now())
insert into t select b from t
insert into t values (a)
insert into t values (b.a)
insert into t values (1) returning x
insert into t values (1) returning excluded.a
insert into t values (1) returning count(*)
insert into t values (count(*))
insert into t values (row_number() over ())
insert into t values (generate_series(1, 2)), (3)
insert into t default values returning nothing
insert into t values (1) on conflict (b) do nothing
insert into t values (1) on conflict (x) do nothing
insert into t values (1) on conflict do update set b = 'x'
insert into t values (1) on conflict (a) do update set x = 1
insert into t values (1) on conflict (a) do update set a = b
insert into t values (1) on conflict (a) do update set b = excluded.x
insert into t values (1) on conflict (a) do update set b = t2.b
insert into t as t2 values (1) on conflict (a) do update set b = t.b
insert into t values (1) on conflict (a) do update set t.b = 'x'
insert into t values (1) on conflict (a) do update set b = 'x' where a
insert into t values (1) on conflict on constraint nope do nothing
insert into t values (1) on conflict (a) do update set b = 'x', b = 'y'
insert into v values (1, 'x') on conflict (x) do nothing
insert into q values (1)
update missing set a = 1
update t set x = 1
update t set a = 'x'
update t set a = true
update t set a = b
update t set a = x
update t set t.a = 1
update t set a.b = 1
update t set a[1] = 1
update t set a = 1, a = 2
update t set (a, b) = (1)
update t set (a, b) = (1, 2, 3)
update t set (a, b) = (select 1)
update t set (a, x) = (select 1, 2)
update t set a = count(*)
update t set a = row_number() over ()
update t set a = generate_series(1, 2)
update t set a = default + 1
update t set a = 1 where x
update t set a = 1 where a
update t set a = 1 from t
update t set a = 1 from s where a = 1
update t set a = 1 from s where s.x = 1
update t u set a = 1 where t.a = 1
update t set a = 1 returning x
update q set last_value = 1
delete from missing
delete from t where x
delete from t where a
delete from t using t
delete from t using s where a = 1
delete from t u where t.a = 1
delete from t where count(*) > 1
delete from t returning x
delete from t where current of nocursor
merge into missing using s on true when matched then delete
merge into t using missing on true when matched then delete
merge into t using s on t.x = 1 when matched then delete
merge into t using t on true when matched then delete
merge into t using s on t.a = s.a when matched then update set x = 1
merge into t using s on t.a = s.a when matched then update set a = 'x'
merge into t using s on t.a = s.a when not matched then insert (x) values (1)
merge into t using s on t.a = s.a when not matched then insert values (t.a)
merge into t using s on t.a = s.a when not matched then insert (a) values (1, 2)
merge into t using s on t.a = s.a when not matched and t.a = 1 then do nothing
merge into t using s on t.a = s.a when matched then delete when matched then do nothing
merge into t using s on t.a = s.a when matched and s.a then delete
select default
select a from t where a = default
values (default)
select grouping(a) from t
select grouping(b) from t group by a
select a from t group by grouping sets ((a), (x))
select a, b from t group by rollup (a)
select e, a from s group by cube (a)
select $1
select $1 + 1
select 1 limit $1
select a from t where a = $1
select lastval(1)
select nextval('nothing')
select nextval('t')
select currval('nothing')
select setval('q', 'x')
select setval('t', 1)
select xmin.a from t
select ctid from v
select t.ctid.x from t
table nothing
select * from pg_nothing
select pg_catalog.nothing()
select a operator(pg_catalog.+) true from t
select a operator(nowhere.+) 1 from t
select a operator(pg_catalog.###) 1 from t
select 1 ### 2
select ### 2
select any_value(a) from t
select array_agg(a, b) from t
select array_append(1, 2)
select array_append(array[1], 'x'::text)
select array_cat(array[1], array['x'::text])
select array_length(1, 1)
select unnest('x')
select jsonb_set('{}', 'a', 1)
select json_build_object('a')
select '{}'::jsonb -> true
select '{}'::jsonb ? 1
select to_char(true, 'x')
select to_char('x', 'y')
select format(1)
select concat_ws()
select width_bucket(1, 2, 3)
select generate_series('a', 'b')
select generate_series(1)
select mod(1.5::float8, 2)
select sqrt('x')
select power(1)
select string_to_array(1, ',')
select regexp_replace('a')
select encode('x', 1)
select pg_typeof()
select unnest(array[1]) within group (order by 1)
