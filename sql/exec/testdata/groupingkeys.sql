create table g (a int primary key, b int, c int, d int)
insert into g values (1, 1, 1, 1), (2, 2, 2, 2)
select a, d, grouping(a, b, c) from g group by grouping sets ((a, b), (a, c)) order by 3, 1
select a, d, grouping(a, b), sum(c) from g group by grouping sets ((a, b), (a)) having d > 0 order by 3, 1
select a, d from g group by grouping sets ((a, b), (b)) order by 1
select x, not x as n, c from (select *, a = 1 as x from g) t group by grouping sets (x, c) order by x, c
select c, x from (select c, 'foo'::text as x from g) t group by grouping sets (c, x) having x = 'foo'
select c, x || 'x' from (select c, 'foo'::text as x from g) t group by grouping sets (c, x) order by c
select array_agg(x order by x), array_agg(y order by y) from (select x, y from (select c as x, c as y from g) t group by grouping sets (x, y)) q
select x, y, count(*) from (select c as x, d as y from g where c > 1) t group by rollup (x, y) order by 1, 2
