select n[0], n[1], n[5], n[-1], n[63], n[64], n[null] is null, pg_typeof(n[0]), n[0] = 'a', n[5] = '' from (values ('abc'::name)) s(n);
select n[0][1] from (values ('abc'::name)) s(n);
select typname[0] from pg_type where typname[0] = '_' and typname = '_int4';
select array_agg(typname order by typname) from pg_type where typname[0] != '_' and oid < 25;
select sum(random()) = sum(random()), count(distinct random()) from generate_series(1,3);
