create table a (id int primary key, x int)
create table b (id int primary key, aid int, x int)
create table c (id int primary key, bid int, y int)
insert into a select g, g % 5 from generate_series(1, 40) g
insert into b select g, case when g % 7 > 0 then g % 30 end, g % 4 from generate_series(1, 200) g
insert into c select g, case when g % 3 > 0 then g % 150 end, g % 6 from generate_series(1, 400) g
create index b_aid on b (aid)
create index c_bid on c (bid)
analyze a
analyze b
analyze c
select a.id, b.id, c.id from a left join (b join c on c.bid = b.id) on b.aid = a.id where a.id in (7, 35) order by 1, 2, 3
select count(*), sum(a.id), sum(b.id), sum(c.id) from a left join (b join c on c.bid = b.id) on b.aid = a.id
select count(*), sum(a.id), sum(b.id), sum(c.id) from a left join (b join c on c.bid = b.id and c.y > b.x) on b.aid = a.id and b.x = a.x where a.id < 9
select count(*), sum(a.id), sum(b.id), sum(c.id) from a left join (b left join c on c.bid = b.id) on b.aid = a.id where a.id < 5
select count(*), sum(a.id), sum(b.id), sum(c.id) from a left join (b left join c on c.bid = b.id) on b.aid = a.id and (c.y is null or c.y > a.x) where a.id < 5
select count(*), sum(a.id), sum(b.id), sum(d.id) from a left join (b join (c left join b d on d.id = c.y) on c.bid = b.id) on b.aid = a.id and d.x = a.x where a.id < 9
select a.id from a where a.id < 12 and not exists (select 1 from b join c on c.bid = b.id where b.aid = a.id and c.y = a.x) order by 1
select a.id from a where a.id < 12 and exists (select 1 from b join c on c.bid = b.id where b.aid = a.id and c.y = a.x) order by 1
select a.id, l.n from a left join lateral (select count(*) n from b join c on c.bid = b.id where b.aid = a.id) l on true where a.id < 4 order by 1
select count(*), sum(e.id) from a e left join (a left join (b join c on c.bid = b.id) on b.aid = a.id) on a.id = e.x where e.id < 11
select count(*), sum(e.id) from a e left join (a join (b join c on c.bid = b.id) on b.aid = a.id) on c.y = e.x and a.x = e.x where e.id < 6
select count(*), sum(a.id), sum(c.id) from a full join (b join c on c.bid = b.id) on b.aid = a.id
update a set x = 100 from b left join (c join b d on d.id = c.bid) on c.id = b.x where b.aid = a.id and b.id < 20
select sum(x) from a
set enable_hashjoin = off
select count(*), sum(a.id), sum(b.id), sum(c.id) from a left join (b join c on c.bid = b.id) on b.aid = a.id
select count(*), sum(e.id) from a e left join (a left join (b join c on c.bid = b.id) on b.aid = a.id) on a.id = e.x where e.id < 11
select count(*), sum(a.id), sum(b.id), sum(d.id) from a left join (b join (c left join b d on d.id = c.y) on c.bid = b.id) on b.aid = a.id and d.x = a.x where a.id < 9
