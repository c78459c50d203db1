create role catr1
set role catr1
select count(*) > 100 from pg_class
select rolname from pg_roles where rolname = 'catr1'
select usename, passwd from pg_user where usename = 'catr1'
select count(*) from information_schema.tables where table_name = 'pg_class'
select count(*) > 0 from pg_authid
select count(*) > 0 from pg_shadow
select has_table_privilege('catr1', 'pg_class', 'select'), has_table_privilege('catr1', 'pg_authid', 'select'), has_table_privilege('catr1', 'pg_class', 'insert')
set client_encoding = '''utf-8'''
show client_encoding
set client_encoding = 'u t_f8'
reset role
drop role catr1
