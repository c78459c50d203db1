create table f1 (a int primary key, b int)
create table f2 (a int primary key, b int)
insert into f1 values (1,1),(2,2)
insert into f2 values (1,1)
select * from f1 left join f2 using (a) for update
select * from f1 left join f2 using (a) for update of f2
select * from f1 left join f2 using (a) for update of f1
select * from f1 right join f2 using (a) for update of f1
select * from f1 full join f2 using (a) for share of f1
select * from f1 full join f2 using (a) for share of f2
select * from f1 left join f2 on f1.a = f2.a where f2.b > 0 for update
select * from f1 left join (select * from f2) s on f1.a = s.a for update
select * from f1 left join (select * from f2 for update) s on f1.a = s.a
select * from (f1 left join f2 using (a)) j for update of f1
create view fv as select * from f2
select * from f1 left join fv on f1.a = fv.a for update
select * from f1 left join fv on f1.a = fv.a for update of f1
select * from f1 left join (select * from f2 limit 1) s on f1.a = s.a for update
select * from f1 left join f2 on f1.a = f2.a where f2.a is null for update
select * from f1 left join f2 on f1.a = f2.a where f2.a is null for no key update of f1
select * from f1 join (f1 x left join f2 using (a)) on f1.a = x.a for key share
select * from f1 join (f1 x left join f2 on x.a = f2.a) on f1.b = f2.b for key share
select * from f1 where not exists (select 1 from f2 where f2.a = f1.a) for update
select * from f1 where a in (select a from f2) for update
select * from f1, lateral (select f1.a + 1 as c) l left join f2 on f2.a = l.c for update of f1
