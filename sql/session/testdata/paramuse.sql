-- The type of a parameter comes from its first use, in the order in which PostgreSQL analyses the statement.
create table paramuse (id int primary key, v bigint, s text);
prepare a as select count(*) from paramuse where v between $1 and $1 + 198;
prepare b as select count(*) from paramuse where v not between symmetric $1 + 1 and $1;
prepare c as insert into paramuse (id, s) select i, $1 from generate_series(1, $2) i;
prepare d as insert into paramuse (id, v) select i, $1 from generate_series(10, 12) i order by 2;
prepare e as insert into paramuse (id, s) select i, $2 from generate_series(1, $3) i;
select name, parameter_types from pg_prepared_statements order by 1;
execute c('x', 3);
execute d(7);
execute a(5);
execute b(2);
select * from paramuse order by 1;
select 2 between 1 and 3, 4 between 1 and 3, 2 between 3 and 1, 2 between symmetric 3 and 1, 2 not between 1 and 3, 2 not between symmetric 3 and 1, null between 1 and 2;
deallocate all;
drop table paramuse;
