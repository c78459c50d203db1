create table t (id int primary key, v text, n int default 0)
create function add_t(i int, w text) returns int language sql as $$ insert into t values (i, w); select count(*)::int from t $$
select add_t(1, 'a'), add_t(2, 'b')
select add_t(3, 'c') + 10
create function noop() returns void language sql as $$ $$
select noop()
create function up(k int) returns setof t language sql as $$ update t set n = n + 1 where id <= k returning * $$
select * from up(2)
select up(1)
select (up(1)).*
create function del(k int) returns void language sql as $$ delete from t where id = k; $$
select del(3)
select * from t order by 1
create function two(out a int, out b text) language sql as $$ select 1, 'x'::text; select 2, 'y'::text $$
select two()
select * from two()
select (two()).b
create function tab(k int) returns table(id int, w text) language sql as $$ insert into t select g, 'g' || g from generate_series(10, 9 + k) g; select id, v from t order by id $$
select * from tab(2)
select tab(0)
create function rec() returns record language sql as $$ delete from t where id > 100; select 1, 'q'::text $$
select rec()
select * from rec() as r(a int, b text)
select * from rec() as r(a int, b int)
create function setrec() returns setof record language sql as $$ delete from t where id > 100; select id, v from t order by id $$
select * from setrec() as r(a int, b text)
create function fact(n bigint) returns bigint language sql as $$ select case when n <= 1 then 1 else n * fact(n - 1) end $$
select fact(10), fact(20)
create function forever(n int) returns int language sql as $$ select forever(n + 1) + 1 $$
select forever(1)
create function fib(n int) returns int language sql immutable as $$ select case when n < 2 then n else fib(n - 1) + fib(n - 2) end $$
select fib(12)
create function poly(a anyelement, b anyelement) returns anyarray language sql as $$ select null where false; select array[a, b] $$
select poly(1, 2), poly('x'::text, 'y')
create function str(a int) returns int language sql strict as $$ insert into t values (a + 1000, 'strict'); select a $$
select str(null), str(5)
select count(*) from t where id > 1000
create function cnt() returns bigint language sql as $$ select count(*) from t $$
create function cnts() returns bigint language sql stable as $$ select count(*) from t $$
select cnt(), cnts(), add_t(500, 'v'), cnt(), cnts()
create table u (a int default add_t(600, 'default'), b int check (cnts() < 100), c int)
insert into u (b) values (1)
select a, b from u
insert into u (a, b, c) select g, cnt(), add_t(700 + g, 's') from generate_series(1, 3) g
select * from u order by a, c
update u set c = cnt()
select a, c from u order by a, c
create function touch(k int) returns int language sql as $$ update u set c = c + 100 where a = k; select k $$
update u set b = touch(a) where a = 1
delete from u where touch(a) = 2 and a = 2
create function wrong() returns int language sql as $$ insert into t values (999) $$
create function wrong() returns int language sql as $$ select 1, 2 $$
create function wrong() returns int language sql as $$ select 'x'::text $$
create function wrong() returns t language sql as $$ select 1 $$
create function wrong(out a int, out b int) language sql as $$ select 1, 2, 3 $$
create function wrong(out a int, out b int) language sql as $$ select 1, 'x'::text $$
create function wrong() returns int language sql as $$ select nosuch $$
create function wrong() returns int language sql as $$ selec 1 $$
create function wrong() returns int language sql as $$ begin; select 1 $$
create function wrong() returns int language sql stable as $$ delete from t; select 1 $$
select wrong()
create function wrong2(x int) returns int language sql as $$ delete from t where id = 5000; select 1 / x $$
select wrong2(0)
select wrong2(1)
create function casts() returns bigint language sql as $$ select 3::int $$
select casts()
create function casts2(out a bigint, out b varchar) returns setof record language sql as $$ select id, v from t where id < 3 order by id; $$
select * from casts2()
create function args(a int, b int default 7, variadic c int[] default array[]::int[]) returns text language sql as $$ delete from t where id = -1; select a || ',' || b || ',' || c::text $$
select args(1), args(1, 2), args(1, 2, 3, 4)
create function win(k int) returns setof bigint language sql as $$ select sum(g) over (order by g rows between k preceding and current row) from generate_series(1, 4) g $$
select * from win(1)
select * from win(2)
select x, y from generate_series(0, 2) x, lateral win(x) y
create function winv(k int) returns setof bigint language sql volatile as $$ select sum(g) over (order by g rows between $1 preceding and $1 following) from generate_series(1, 4) g $$
select x, winv(x) from generate_series(0, 2) x
create function mk() returns int language sql as $$ create table made (a int); select 5 $$
select mk()
select * from made
begin
select add_t(800, 'rolled back')
rollback
select count(*) from t where id = 800
select g, up(g) from generate_series(1, 2) g order by 1, 2
create index on t (fib(n))
select count(*) from t where fib(n) = 1
drop function add_t(int, text)
drop function if exists add_t(int, text) cascade
create view vw as select * from casts2()
select * from vw
select row_to_json(two())
select proname, prosrc from pg_proc where proname in ('noop', 'del') order by 1
