create table e (exclude int not null default 7, b text)
insert into e (b) values ('x')
alter table e add column if not exists exclude int
create table f(exclude int)
alter table f add a int, add exclude2 int
select exclude, e.exclude + 1 as exclude from e where exclude > 0 order by exclude
update e set exclude = exclude + 1 returning exclude
alter table e rename exclude to other
alter table e rename other to exclude
create index on e (exclude)
@describe e
create table g (a int, exclude int nope)
