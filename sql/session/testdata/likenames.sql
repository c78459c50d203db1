create table lk_t (a int, b text)
create table "lk%t" (a int)
create table "lk\t" (a int)
select relname from pg_class where relname like 'lk_t' order by 1
select relname from pg_class where relname like 'lk\_t' order by 1
select relname from pg_class where relname like 'lk\\t' order by 1
select relname from pg_class where relname like 'lk%' order by 1
create table lkt (a int)
select relname, attname from pg_class c join pg_attribute a on a.attrelid = c.oid where relname like 'lkt' and attnum > 0
select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname like 'public' and relname like 'lkt'
select relname from pg_class where relname like 'LKT'
select relname from pg_class where relname ilike 'LKT'
select relname from pg_class where relname not like 'lk%' and relname like 'lkt'
select relname from pg_class where relname like null
select relname from pg_class where relname like ''
select table_name, column_name from information_schema.columns where table_name = 'lk_t' order by ordinal_position
select table_name, column_name from information_schema.columns where table_name like 'lkt' and table_schema = 'public'
