create table sh (a int, b int)
select b from sh where a = 1 and b = 2
select b from sh where a = 1 and b = 2
select b from sh where a = 1 and b = 2
alter table sh rename b to c
select b from sh where a = 1 and b = 2
select a from sh where a = 1000000 and b = 2
select a from sh where a = 1000000 and b = 2
alter table sh rename c to b
select b from sh where a = 1000000 and b = 2
