create temp table tr (id int primary key, p int references tr)
insert into tr values (1, null), (2, 1)
insert into tr values (3, 9)
delete from tr where id = 1
create temp table tr2 (id int primary key, p int references tr, q int, foreign key (q) references tr2 (id))
insert into tr2 values (1, 1, 1), (2, 2, 3)
drop table tr2, tr
