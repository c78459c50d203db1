create table g (a int, b int, v int)
insert into g values (1, 1, 10), (1, 2, 11), (2, 1, 12), (3, null, 13)
select a, b, grouping(a, b), sum(v) from g group by rollup (a, b) order by 3, 1, 2
select (select grouping(a, b) from (values (1)) x(c)) from g group by a, b
select a, b, (select grouping(a, b)), grouping(b, a) from g group by cube (a, b) order by 3, 1, 2
select a, (select (select grouping(a)) + c from (values (10), (20)) x(c) where c > 10) from g group by rollup (a) order by 1
select a, sum(v) from g group by rollup (a) having (select grouping(a)) = 1
select a, sum(v) from g group by rollup (a) order by (select grouping(a)), a
select (select grouping(a, x.c) from (values (1)) x(c)) from g group by a
select (select grouping(v)) from g group by a
select a, exists (select 1 from g h where grouping(g.a) = 1) from g group by rollup (a) order by 1
select (select grouping(a) from g h group by rollup (a) order by a limit 1) from g group by a order by 1
