select 1 / 0
select 1 % 0
select 1.0 / 0
select 1.0 % 0
select 1::float8 / 0
select div(1, 0)
select mod(1, 0)
select 2147483647 + 1
select (-2147483648) - 1
select 2147483647 * 2
select - (-2147483648)::int4
select abs((-2147483648)::int4)
select 32767::int2 + 1::int2
select 32767::int2 * 2::int2
select (-32768)::int2 / (-1)::int2
select (-2147483648) / (-1)
select 9223372036854775807 + 1
select (-9223372036854775807) - 2
select 9223372036854775807 * 2
select (-9223372036854775808) / (-1)
select 3000000000::int4
select 40000::int2
select 1e30::int8
select 1e30::float8::int8
select 'NaN'::float8::int
select 'Infinity'::float8::int
select 'NaN'::numeric::int
select 'Infinity'::numeric::int8
select 1e308::float8 * 10
select 1e-308::float8 / 1e10
select 1e38::float4 * 10
select 1e300::float8::float4
select exp(1000::float8)
select exp(100000000.0)
select power(10.0, 200000)
select power(0.0, -1)
select power(-1.0, 0.5)
select power(0::float8, -1)
select power(-1::float8, 0.5)
select sqrt(-1)
select sqrt(-1.0)
select ln(0)
select ln(-1)
select ln(0.0)
select ln(-1.0)
select log(0.0)
select log(-1::float8)
select log(1.0, 5.0)
select log(-2.0, 5.0)
select acos(2)
select asin(2)
select acosh(0)
select atanh(2)
select sin('infinity')
select factorial(-1)
select factorial(100000)
select gcd((-2147483648)::int4, 0)
select lcm(2147483647, 2147483646)
select width_bucket(1, 2, 2, 3)
select width_bucket(1, 2, 3, 0)
select width_bucket(1.0, 'NaN', 3, 4)
select width_bucket(1, array[]::int[])
select width_bucket(1, array[1, null])
select width_bucket(1, array[[1]])
select random(1, 2)
select setseed(2)
select 1234.5::numeric(5,2)
select 12345::numeric(4)
select 0.00001::numeric(3,5)
select 99.995::numeric(4,2)
select 'Infinity'::numeric(5,2)
select trim_scale('x')
select round(1.5, 'x')
select to_number('x', '9')
select to_number('', '9')
select to_char(1, '9.9.9')
select to_char(1.5, 'RN9')
select to_char(1, 'V.')
select to_char(1, 'EEEE9')
select to_date('x', 'YYYY')
select to_date('2000-13', 'YYYY-MM')
select to_date('2000-02-30', 'YYYY-MM-DD')
select to_date('2000', 'YYYY IW')
select to_date('2000 52 1', 'IYYY WW D')
select to_date('abc', 'Mon')
select to_timestamp('25', 'HH24')
select to_timestamp('13', 'HH12')
select to_timestamp('xx', 'HH24')
select to_timestamp('2000', 'TZ')
select to_timestamp('1e400')
select to_timestamp('Infinity'::float8 * -1)
select to_timestamp('NaN'::float8)
select make_date(2000, 13, 1)
select make_date(2000, 2, 30)
select make_date(0, 1, 1)
select make_date(9999999, 1, 1)
select make_time(25, 0, 0)
select make_time(1, 60, 0)
select make_timestamp(2000, 1, 1, 25, 0, 0)
select make_timestamp(2000, 13, 1, 0, 0, 0)
select make_timestamptz(2000, 1, 1, 0, 0, 0, 'Nowhere')
select date '5874897-12-31' + 1
select date '4713-01-01 BC' - 10000
select timestamp '294276-12-31' + interval '1 day'
select timestamp '4713-01-01 BC' - interval '1 year'
select timestamptz '294276-12-31' + interval '10 day'
select interval '178000000 years' * 2
select interval '1 day' / 0
select interval '2147483647 days' + interval '1 day'
select interval '1 day' * 'NaN'::float8
select date 'infinity' - date 'infinity'
select date 'infinity' - 1 - date '2000-01-01'
select timestamp 'infinity' - timestamp 'infinity'
select date '294277-01-01'::timestamp
select date_trunc('foo', timestamp '2000-01-01')
select date_trunc('timezone', timestamp '2000-01-01')
select date_trunc('day', now(), 'Nowhere')
select date_bin('1 month', timestamp '2000-01-01', timestamp '2000-01-01')
select date_bin('0', timestamp '2000-01-01', timestamp '2000-01-01')
select date_bin('-1 day', timestamp '2000-01-01', timestamp '2000-01-01')
select extract(foo from timestamp '2000-01-01')
select extract(timezone from timestamp '2000-01-01')
select extract(hour from date '2000-01-01')
select extract(day from time '12:00')
select extract(foo from interval '1 day')
select date_part('timezone', interval '1 day')
select now() at time zone 'Nowhere'
select timestamp '2000-01-01' at time zone 'foo'
select now() at time zone interval '1 month'
select time '12:00' at time zone 'Nowhere'
select generate_series(1, 10, 0)
select generate_series(1.0, 2.0, 0)
select generate_series(1.0, 'NaN', 1)
select generate_series(timestamp '2000-01-01', '2000-01-02', '0')
select generate_series(now(), now(), '0 day')
select array_append(array[[1]], 2)
select array_prepend(1, array[[1]])
select array_cat(array[1], array[[[1]]])
select array_cat(array[[1]], array[[1, 2]])
select array[[1, 2], [3]]
select array[array[1], array[1, 2]]
select array_fill(1, null)
select array_fill(1, array[null])
select array_fill(1, array[[1]])
select array_fill(1, array[1], array[1, 2])
select array_fill(1, array[-1])
select array_fill(1, array[100000, 100000])
select array_position(array[[1]], 1)
select array_remove(array[[1]], 1)
select array_to_string(1, ',')
select trim_array(array[1], 2)
select trim_array(array[1], -1)
select (array[1, 2])[1:2:3]
select ('{1}'::int[])[99999999999]
select string_to_array('a', 'b', 'c', 'd')
select chr(0)
select chr(-1)
select chr(1114112)
select chr(55296)
select ascii(1)
select repeat('x', 1073741824)
select lpad('x', 2000000000)
select substring('abc' from 1 for -1)
select substr('abc', 1, -1)
select overlay('abc' placing 'x' from 0)
select overlay('abc' placing 'x' from -1)
select split_part('a,b', ',', 0)
select 'a' like 'a\'
select 'a' like 'a' escape 'xy'
select 'a' similar to 'a' escape 'xy'
select substring('abc' similar 'a#"b#"c#"' escape '#')
select substring('abc' similar 'a' escape 'xx')
select 'a' ~ '('
select 'a' ~ '['
select 'a' ~ 'a{2,1}'
select 'a' ~ '*'
select 'a' ~ 'a**'
select 'a' ~ '\'
select 'a' ~ '[[:foo:]]'
select 'a' ~ '[b-a]'
select 'a' ~ '(?z)a'
select 'a' ~ 'a{256}'
select 'a' ~ '\1'
select regexp_replace('a', '(', 'x')
select regexp_replace('a', 'a', 'b', 'z')
select regexp_replace('a', 'a', 'b', 0)
select regexp_replace('a', 'a', 'b', 1, -1)
select regexp_matches('a', 'a', 'z')
select regexp_match('a', 'a', 'g')
select regexp_count('a', 'a', 0)
select regexp_instr('a', 'a', 1, 0)
select regexp_instr('a', 'a', 1, 1, 2)
select regexp_instr('a', 'a', 1, 1, 0, '', -1)
select regexp_substr('a', 'a', 1, 1, 'g')
select regexp_split_to_array('a', '(')
select regexp_split_to_table('a', 'a', 'g')
select encode('a', 'foo')
select decode('x', 'hex')
select decode('abc', 'hex')
select decode('!', 'base64')
select decode('a', 'base64')
select decode('\9', 'escape')
select decode('a', 'foo')
select convert_from('\xff', 'utf8')
select convert_to('a', 'foo')
select convert_to(U&'\20ac', 'sql_ascii')
select get_byte('a', 1)
select get_byte('a', -1)
select set_byte('a', 1, 1)
select get_bit('a', 8)
select set_bit('a', 0, 2)
select set_bit('a'::bytea, 9, 1)
select get_bit(B'101', 3)
select set_bit(B'101', 3, 1)
select B'101' & B'11'
select B'101' # B'1'
select substring(B'101' from 1 for -1)
select overlay(B'101' placing B'1' from 0)
select bit_length(1)
select md5(1)
select sha256('a'::text)
select to_hex('x')
select format('%')
select format('%s')
select format('%I', null)
select format('%z', 1)
select format('%0$s', 1)
select format('%2$s', 1)
select format('%1$', 1)
select format('%*s', 'x', 1)
select format('%99999999999s', 1)
select quote_ident(1)
select parse_ident('')
select parse_ident('a.')
select parse_ident('.a')
select parse_ident('"a')
select parse_ident('"".a')
select parse_ident('a b')
select normalize('a', foo)
select 'a' is foo normalized
select unistr('\u00')
select unistr('\zz')
select unistr('\+110000')
select pg_size_bytes('x')
select pg_size_bytes('1 foo')
select pg_size_bytes('')
select current_setting('foo')
select current_setting('foo.bar')
select set_config('foo', 'x', false)
select set_config('work_mem', 'x', false)
select set_config('work_mem', '1', false), set_config('datestyle', 'foo', false)
select json_object('{a}')
select json_object('{{a,b,c}}')
select json_object('{a}', '{1,2}')
select json_object('{NULL,1}')
select json_build_object(null, 1)
select json_build_object('a')
select json_build_object(array[1], 1)
select jsonb_build_object('a', 1, 2)
select json_object_agg(null, 1)
select json_array_length('{}')
select json_array_length('1')
select jsonb_array_length('{}')
select json_object_keys('[]')
select jsonb_object_keys('1')
select json_array_elements('{}')
select jsonb_array_elements('1')
select json_each('[]')
select jsonb_each('1')
select json_populate_record(1, '{}')
select * from json_to_record('[]') x(a int)
select * from json_to_recordset('{}') x(a int)
select * from json_to_record('{"a":"x"}') x(a int)
select jsonb_set('1', '{a}', '1')
select jsonb_set('{}', '{a}', null, 'x')
select jsonb_set('[]', '{a}', '1')
select jsonb_set('[[]]', '{0,a}', '1')
select jsonb_set_lax('{}', '{a}', null, true, 'raise_exception')
select jsonb_set_lax('{}', '{a}', null, true, 'foo')
select jsonb_insert('{"a":1}', '{a}', '2')
select jsonb_insert('[]', '{a}', '2')
select '1'::jsonb - 'a'
select '{}'::jsonb - 1
select '1'::jsonb - 1
select '{}'::jsonb #- '{a,b}' #- array['x', null]
select ('1'::jsonb)::bool
select ('"x"'::jsonb)::int
select ('1'::jsonb)::text::bool
select ('null'::jsonb)::int
select ('[]'::jsonb)['a']['b']['c']::int
select ('{}'::jsonb)[1.5]
select ('{}'::jsonb)[now()]
select ('{}'::jsonb)[1:2]
select jsonb_path_query('1', '$.a')
select jsonb_path_query('1', 'strict $.a')
select jsonb_path_query('[]', 'strict $[1]')
select jsonb_path_query('{}', 'strict $[*]')
select jsonb_path_query('"a"', '$.double()')
select jsonb_path_query('"a"', '$.datetime()')
select jsonb_path_query('"a"', '$.abs()')
select jsonb_path_query('1', '$ / 0')
select jsonb_path_query('"a"', '-$')
select jsonb_path_query('"a"', '$ + 1')
select jsonb_path_query('[1,2]', '$[*] + $[*]')
select jsonb_path_query('1', '$x')
select jsonb_path_query('1', '$x', '[]')
select jsonb_path_query('1', '$[last]')
select jsonb_path_query('[1]', '$["a"]')
select jsonb_path_query('[1]', 'strict $["a"]')
select jsonb_path_query('1', '$.keyvalue()')
select jsonb_path_match('1', '$')
select jsonb_path_query_tz('"2000-01-01 x"', '$.datetime()')
select jsonb_path_query('"10:00"', '$.datetime("HH24:MI:SS")')
select row_to_json(1)
select to_json()
select array_to_json(1)
select percentile_cont(2) within group (order by a) from (values (1)) x(a)
select percentile_cont(-0.5) within group (order by a) from (values (1)) x(a)
select percentile_disc('NaN') within group (order by a) from (values (1)) x(a)
select percentile_cont(array[0.5, 2]) within group (order by a) from (values (1)) x(a)
select ntile(0) over ()
select ntile(-1) over ()
select nth_value(1, 0) over ()
select sum(1) over (rows -1 preceding)
select sum(1) over (rows null preceding)
select sum(a) over (order by a range -1 preceding) from (values (1)) x(a)
select sum(1) over (rows between 1 preceding and -1 following)
select 1 limit -1
select 1 offset -1
select 1 fetch first -1 rows only
select 1 limit 'x'
select (select 1 union select 2)
select 1 = (select 1 union select 2)
select array(select 1, 2)
select (select 1, 2)
select sum(9223372036854775807::int8)::int8 + 1 from generate_series(1, 2)
select sum(x)::int8 from (values (9223372036854775807::int8), (1::int8)) v(x)
select string_agg(x, 1) from (values ('a')) v(x)
select array_agg(x) from (values (array[1]), (array[1, 2])) v(x)
select array_agg(x) from (values (array[]::int[])) v(x)
select array_agg(x) from (values (null::int[])) v(x)
select to_regclass(1)
select pg_get_viewdef(1)
select pg_advisory_lock('x')
select pg_sleep('x')
select nextval('')
select lastval()
select pg_terminate_backend('x')
select enum_first(null)
select enum_range(1)
select pg_input_is_valid('x', 'int')
select has_table_privilege('nope', 'select')
select has_table_privilege('pg_class', 'foo')
select has_table_privilege('nobody', 'pg_class', 'select')
select has_column_privilege('pg_class', 'nope', 'select')
select has_schema_privilege('nope', 'usage')
select has_function_privilege('nope()', 'execute')
select has_type_privilege('nope', 'usage')
select has_database_privilege('nope', 'connect')
select pg_has_role('nope', 'usage')
select makeaclitem(1, 2, 'foo', true)
select aclexplode('x')
select pg_relation_size('nope')
select pg_get_serial_sequence('nope', 'a')
select pg_get_serial_sequence('pg_class', 'nope')
select col_description('x', 1)
select obj_description(1, 'nope')
select pg_encoding_to_char('x')
select pg_char_to_encoding('nope')
select pg_client_encoding(1)
select inet_server_addr(1)
select int4('x'::text)
select int8mi(1, 'x')
select 'a'::"char"::int2
select 123456::"char"
select char_length(1)
select starts_with(1, 'a')
select 1::text::bool
select 'maybe'::text::bool
select 2::bool::text::int
select 'x'::text::int
select 'x'::text::numeric
select 'x'::text::float8
select 'x'::text::date
select 'x'::text::timestamp
select 'x'::text::interval
select 'x'::text::uuid
select 'x'::text::json
select '{'::text::jsonb
select 'x'::text::int[]
select 'x'::text::bytea::text::bit(3)
select timestamptz 'epoch' + '1'
select localtime(-1)
select cast('12' as char varying(1))::int / 0
select 1 / (select 0)
select case when false then 1 / 0 else 1 end, 1 / 0
select a / b from (values (1, 0)) x(a, b)
select 1 where 1 / 0 = 1
select count(*) from generate_series(1, 3) g where 1 / (g - 2) > 0
select max(1 / (g - 2)) from generate_series(1, 3) g
select * from generate_series(1, 3) g order by 1 / (g - 2)
