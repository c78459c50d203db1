create table f(x float8, y int)
insert into f values ('-infinity',1),(1,2),(2,3),('infinity',4),('nan',5)
select x, count(*) over (order by x range between 'inf' preceding and 'inf' following) from f
select x, count(*) over (order by x range between 'inf' following and 'inf' following) from f
select x, count(*) over (order by x range between 'inf' preceding and 'inf' preceding) from f
select x, count(*) over (order by x desc range between 'inf' preceding and 1 following) from f
select x::numeric, count(*) over (order by x::numeric range between 'inf' preceding and 'inf' following) from f
select x::numeric, count(*) over (order by x::numeric range between 'inf' preceding and 'inf' preceding) from f
select x::numeric, count(*) over (order by x::numeric range between 1 preceding and 'inf' following) from f
select t, count(*) over (order by t range between '1 day' preceding and '1 day' following) from (values ('-infinity'::timestamp),('2020-01-01'),('2020-01-02'),('infinity')) v(t)
select x, count(*) over (order by x range between 'nan' preceding and 'inf' following) from f
