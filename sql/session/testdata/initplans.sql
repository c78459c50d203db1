create table ut (a int, b int)
insert into ut values (1, 2), (5, 6)
update ut set (b, a) = (select a + 1, b from ut)
update ut set (b, a) = (select a + 1, b from ut where a = 5) where a = 1
select * from ut order by 1, 2
select (select a from ut) + (select a from ut), (select b from ut)
select array(select percentile_disc(a) within group (order by x) from (values (0.3), (0.7)) v(a) group by a) from generate_series(1, 5) g(x)
select rank(sum(x)) within group (order by x) from generate_series(1, 5) x
select percentile_disc(array[0.5, 1]) within group (order by x) from generate_series(1, 5) x
create sequence ls
select nextval('ls')
drop sequence ls
select lastval()
