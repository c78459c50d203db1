create table fkd_p (k int primary key)
create table fkd_c (id int primary key, a int default 0 references fkd_p on delete set default on update set default)
insert into fkd_p values (0), (1), (2)
insert into fkd_c values (1, 0), (2, 1), (3, 2)
delete from fkd_p where k = 0
update fkd_p set k = 9 where k = 0
delete from fkd_p where k = 1
select * from fkd_c order by id
delete from fkd_p where k in (0, 2)
select * from fkd_p order by k
update fkd_p set k = k + 10 where k = 2
select * from fkd_c order by id
drop table fkd_c, fkd_p
