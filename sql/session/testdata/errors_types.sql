create type mood as enum ('sad', 'ok', 'happy')
create type comp as (x int, y text)
create domain posint as int check (value > 0)
create table ty (i2 int2, i4 int4, i8 int8, n numeric(5,2), f4 float4, b bool, d date, ts timestamp, tz timestamptz, iv interval, u uuid, j json, jb jsonb, ia int[], m mood, c comp, p posint, v varchar(3), ch char(3), bi bit(3), vb varbit(3), by bytea)
select 'x'::bool
select ''::bool
select 'tr ue'::bool
select '2'::bool
select 'nul'::bool
select ''::int2
select 'x'::int2
select '32768'::int2
select '-32769'::int2
select '1.5'::int2
select '1 2'::int2
select '1e3'::int2
select '+'::int2
select '0x10'::int2
select ''::int4
select 'x'::int4
select '2147483648'::int4
select '-2147483649'::int4
select '1.5'::int4
select '99999999999999999999'::int4
select ''::int8
select 'x'::int8
select '9223372036854775808'::int8
select '-9223372036854775809'::int8
select '1.0'::int8
select ''::numeric
select 'x'::numeric
select '1.2.3'::numeric
select '1e'::numeric
select '1 2'::numeric
select 'e5'::numeric
select '--1'::numeric
select '1e200000'::numeric
select 'infinit'::numeric
select ''::float4
select 'x'::float4
select '1e40'::float4
select '1e-60'::float4
select '1.2.3'::float4
select 'infinit'::float4
select ''::float8
select 'x'::float8
select '1e400'::float8
select '1e-400'::float8
select '1..2'::float8
select ''::oid
select 'x'::oid
select '-5000000000'::oid
select '4294967296'::oid
select E'\\x1'::bytea
select E'\\xzz'::bytea
select E'\\9'::bytea
select E'\\400'::bytea
select ''::uuid
select 'x'::uuid
select 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1'::uuid
select '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
select 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
select ''::date
select 'x'::date
select '2000-13-01'::date
select '2000-02-30'::date
select '2000-00-01'::date
select '99999-99-99'::date
select '5874898-01-01'::date
select '4714-01-01 BC'::date
select '2000-01-01 foo'::date
select 'tomorrow yesterday'::date
select ''::time
select 'x'::time
select '25:00'::time
select '12:60'::time
select '12:00:61'::time
select '12:00 foo'::time
select '24:00:01'::time
select ''::timetz
select 'x'::timetz
select '25:00+01'::timetz
select '12:00+99'::timetz
select '12:00 Nowhere/City'::timetz
select ''::timestamp
select 'x'::timestamp
select '2000-01-01 25:00'::timestamp
select '2000-13-01 00:00'::timestamp
select '294277-01-01'::timestamp
select '2000-01-01 12:00 foo bar'::timestamp
select 'infinit'::timestamp
select '2000-01-01 00:00:00.0000001 x'::timestamp
select ''::timestamptz
select 'x'::timestamptz
select '2000-01-01 00:00 Nowhere/City'::timestamptz
select '2000-01-01 00:00+99'::timestamptz
select '2000-01-01 00:00 +1:99'::timestamptz
select '294277-01-01'::timestamptz
select '2000-01-01 24:00:01'::timestamptz
select ''::interval
select 'x'::interval
select '1'::interval
select '1 foo'::interval
select '1 day foo'::interval
select 'P'::interval
select 'P1'::interval
select 'PT'::interval
select 'P1Y1'::interval
select '1 day 2'::interval
select '99999999999 years'::interval
select '1:2:3:4'::interval
select '@'::interval
select '2'::bit(3)
select '12'::bit(3)
select '1111'::bit(3)
select 'xG'::bit(3)
select '1x'::varbit(2)
select ''::json
select 'x'::json
select '{'::json
select '{"a"}'::json
select '{"a":}'::json
select '{a:1}'::json
select '[1,]'::json
select '[1 2]'::json
select '{"a":1,}'::json
select '"a'::json
select E'\\u'::json
select E'"\\u00"'::json
select E'"\\uD800"'::json
select 'nul'::json
select 'tru'::json
select '01'::json
select '1.'::json
select '1e'::json
select '{"a":1 "b"}'::json
select '[}'::json
select '1 2'::json
select E'"\\q"'::json
select ''::jsonb
select 'x'::jsonb
select '{'::jsonb
select '{"a"}'::jsonb
select '[1,]'::jsonb
select E'"\\u0000"'::jsonb
select E'"\\uDC00"'::jsonb
select '1e999999'::jsonb
select 'nul'::jsonb
select '{"a":1}}'::jsonb
select ''::jsonpath
select '$.'::jsonpath
select '$['::jsonpath
select '$ ? '::jsonpath
select '$.a ?('::jsonpath
select '@'::jsonpath
select '$.a[1'::jsonpath
select 'strict'::jsonpath
select 'lax lax $'::jsonpath
select '$.**{'::jsonpath
select '$.a.type('::jsonpath
select 'last'::jsonpath
select '$.a like_regex "("'::jsonpath
select '$ ? (@ like_regex "a" flag "z")'::jsonpath
select '1 + '::jsonpath
select '"a'::jsonpath
select '$.$'::jsonpath
select '$x"'::jsonpath
select ''::int4[]
select 'x'::int4[]
select '{'::int4[]
select '{1'::int4[]
select '{1,}'::int4[]
select '{,1}'::int4[]
select '{1,2'::int4[]
select '{a}'::int4[]
select '{{1},2}'::int4[]
select '{{1},{1,2}}'::int4[]
select '[1:2]={1}'::int4[]
select '[1]={1}'::int4[]
select '[2:1]={}'::int4[]
select '{1}x'::int4[]
select '{"1'::int4[]
select '[0:0]=1'::int4[]
select '{"a" b}'::text[]
select '{a"b"}'::text[]
select '{"a}'::text[]
select '{a,{b}}'::text[]
select E'{\\'::text[]
select ''::mood
select 'x'::mood
select 'SAD'::mood
select 'sad '::mood
select ''::comp
select 'x'::comp
select '('::comp
select '(1'::comp
select '(1,2'::comp
select '(1,2,3)'::comp
select '(a,b)'::comp
select '1,2)'::comp
select '(1,2)x'::comp
select '(1)'::comp
select ''::posint
select '0'::posint
select '-1'::posint
select 'x'::posint
select ''::tid
select '('::tid
select '(1)'::tid
select '(1,2'::tid
select '(a,b)'::tid
select '(1,99999)'::tid
select ''::regclass
insert into ty (i2) values ('x')
insert into ty (i2) values (99999)
insert into ty (i2) values (99999::int8)
insert into ty (i2) values (1.5::float8*1e10)
insert into ty (i2) values (true)
insert into ty (i4) values ('x')
insert into ty (i4) values (3000000000)
insert into ty (i4) values (1e20)
insert into ty (i4) values (b)
insert into ty (i4) values (now())
insert into ty (i8) values ('x')
insert into ty (i8) values (1e30)
insert into ty (i8) values (true)
insert into ty (n) values ('x')
insert into ty (n) values (1000)
insert into ty (n) values (999.995)
insert into ty (n) values (-1000.1)
insert into ty (n) values ('1e10')
insert into ty (n) values (1e300::float8)
insert into ty (f4) values ('x')
insert into ty (f4) values (1e50::float8)
insert into ty (b) values ('x')
insert into ty (b) values (1)
insert into ty (b) values (1.5)
insert into ty (d) values ('x')
insert into ty (d) values (1)
insert into ty (d) values (now() - now())
insert into ty (ts) values ('x')
insert into ty (ts) values (1)
insert into ty (iv) values ('x')
insert into ty (iv) values (1)
insert into ty (iv) values (now())
insert into ty (u) values ('x')
insert into ty (u) values (1)
insert into ty (u) values ('a'::text)
insert into ty (j) values ('x')
insert into ty (j) values (1)
insert into ty (jb) values ('{')
insert into ty (jb) values (true)
insert into ty (ia) values ('x')
insert into ty (ia) values (1)
insert into ty (ia) values (array['x'])
insert into ty (ia) values (array[1.5])
insert into ty (ia) values (array[true])
insert into ty (m) values ('x')
insert into ty (m) values (1)
insert into ty (m) values ('ok'::text)
insert into ty (c) values ('x')
insert into ty (c) values (1)
insert into ty (c) values (row(1))
insert into ty (c) values (row('x', 'y'))
insert into ty (c) values (row(1, 2, 3))
insert into ty (p) values ('x')
insert into ty (p) values (0)
insert into ty (p) values (-1)
insert into ty (p) values ('0')
insert into ty (v) values ('abcd')
insert into ty (v) values ('abc  d')
insert into ty (v) values (1234)
insert into ty (v) values (repeat('x', 10))
insert into ty (ch) values ('abcd')
insert into ty (ch) values (1234)
insert into ty (bi) values (B'11')
insert into ty (bi) values (B'1111')
insert into ty (bi) values ('11')
insert into ty (bi) values ('2')
insert into ty (bi) values (5)
insert into ty (vb) values (B'1111')
insert into ty (vb) values ('1111')
insert into ty (by) values ('\x1')
insert into ty (by) values ('a'::text)
insert into ty (by) values (1)
update ty set i2 = 'x' where false
update ty set i4 = 'x' where false
update ty set i8 = 'x' where false
update ty set n = 'x' where false
update ty set f4 = 'x' where false
update ty set b = 'x' where false
update ty set d = 'x' where false
update ty set ts = 'x' where false
update ty set iv = 'x' where false
update ty set u = 'x' where false
update ty set j = 'x' where false
update ty set jb = '{' where false
update ty set ia = 'x' where false
update ty set m = 'x' where false
update ty set c = 'x' where false
update ty set p = 'x' where false
update ty set v = 'abcd' where false
update ty set ch = 'abcd' where false
update ty set bi = B'11' where false
update ty set vb = B'1111' where false
update ty set by = '\x1' where false
