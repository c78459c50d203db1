create table ja (a int, b int)
create table jb (a int, c int)
create table jk (id int primary key, a int)
insert into ja values (1, 2), (3, 4)
insert into jb values (1, 10), (5, 20)
create view jv1 as select y.* from (ja cross join jb) y(p, q, r, s)
create view jv2 as select * from (ja join jb using (a)) as y
create view jv3 as select y.p, y.c from (ja full join jb using (a)) as y(p) where y.c > 1
select * from jv1 order by 1, 3
select * from jv2
select * from jv3 order by 1
select pg_get_viewdef('jv2'), pg_get_viewdef('jv2', true)
select y.a, x.a from (ja full join jb using (a) as x) as y
select y.a, count(*) from (jk join jb using (a)) y group by y.id
select y.c, count(*) from (jk join jb using (a)) y group by y.id
update jb set c = y.b from (ja cross join jk) y where y.a = jb.a returning *
drop view jv1, jv2, jv3
drop table ja, jb, jk
