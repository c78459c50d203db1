select '$.a.**{2 to last}.b ? (@ like_regex "a.c" flag "is" && !(@ == 1)) [1, $.x to last].keyvalue()'::jsonpath
select '- (1 + $.a) * 2 - -$.b[*] % 3'::jsonpath, 'strict $ ? ((@.a > 1 || exists (@.b)) is unknown).size()'::jsonpath
select '(($.a > 1) || !($.b == 2)).type()'::jsonpath, '"\u00e4\x41\t"'::jsonpath, '$"v w" + $x'::jsonpath
select '$ ? (@ like_regex "(a")'::jsonpath
select '$ ? (1)'::jsonpath
select '$.a b'::jsonpath
select '($.a == 1) == 2'::jsonpath
select '1 + (2 == 3)'::jsonpath
select '@.a'::jsonpath
select '$[1'::jsonpath
select '"a'::jsonpath
select '$ /* no end'::jsonpath
select 'lax'::jsonpath
select jsonb_path_query('{"a": [1, 2, {"b": [3, 4]}]}', '$.**')
select jsonb_path_query('{"a": [1, 2, {"b": [3, 4]}]}', '$.**{last}')
select jsonb_path_query('{"a": [1, 2, {"b": [3, 4]}]}', 'strict $.a[2 to 3]')
select jsonb_path_query('{"a": [1, 2, {"b": [3, 4]}]}', 'strict $.a[2 to 3]', silent => true)
select jsonb_path_query('[{"a": 1, "b": [1.50, 2]}, {"c": {"a": "bbb"}}, {"x": 12345678901234567890.5}]', '$[*].keyvalue()')
select jsonb_path_query('[{"a": {"q": 1}}]', '$[*].keyvalue().value.keyvalue()')
select jsonb_path_query('{}', '$v.keyvalue()', '{"v": {"a": {"b": 1}}}')
select jsonb_path_query_array('[1, "2", null, true, [5], 7.5]', '$[*] ? (@ > $min)', '{"min": 1}')
select jsonb_path_query_array('[1, 2]', '-$[*]'), jsonb_path_query_array('[1.5, -2.5]', '$[*].ceiling()'), jsonb_path_query_array('[1.5, -2.5]', '$.floor()')
select jsonb_path_query('[1]', '$[0] / 0')
select jsonb_path_query('[1]', '$[0] / 0', silent => true)
select jsonb_path_query('[1, 2]', '$ + 1')
select jsonb_path_query('"12.5"', '$.double()'), jsonb_path_query('" 1e2 "', '$.double()')
select jsonb_path_exists('{"a": 1}', 'strict $.b'), jsonb_path_exists('{"a": 1}', '$.b'), jsonb '{"a": 1}' @? '$.a ? (@ == 1)', jsonb '{"a": 1}' @@ '$.a == 1', jsonb '[1]' @@ '$'
select jsonb_path_exists('{"a": 1}', 'strict $.b', silent => true)
select jsonb_path_match('[1]', '$[*]')
select jsonb_path_match('{"a": null}', '$.a > $x', '{"x": 1}')
select jsonb_path_query('{}', '$y', '[]')
select jsonb_path_query('{}', '$y')
select jsonb_path_query('["2017-03-10", "12:34:56+3", "2017-03-10 12:34:56.789-03:10", "2017-03-10T01:02:03"]', '$[*].datetime()')
select jsonb_path_query('["2017-03-10", "12:34:56+3", "2017-03-10 12:34:56.789-03:10", "2017-03-10T01:02:03"]', '$[*].datetime().type()')
select jsonb_path_query('"10.03.2017 5 PM"', '$.datetime("DD.MM.YYYY HH12 PM")')
select jsonb_path_query('"10/03"', '$.datetime("DD.MM")')
select jsonb_path_query('"10.03."', '$.datetime("DD.MM")')
select jsonb_path_query('"2017-03-10"', '$.datetime() < "2017-03-10 00:00:01+00".datetime()')
set time zone 'Europe/Berlin'
select jsonb_path_query_tz('"2017-03-10"', '$.datetime() < "2017-03-10 00:00:01+00".datetime()'), jsonb_path_query_tz('"12:00"', '$.datetime("HH24:MI") == "12:00 +2".datetime("HH24:MI TZH")')
select jsonb_path_query('["abc", "a\nc", "ABC"]', '$[*] ? (@ like_regex "^a.c" flag "is")')
select jsonb_path_query('["abc", "b"]', '$[*] ? (@ starts with $p)', '{"p": "a"}')
create table docs (d jsonb, p jsonpath)
insert into docs values ('{"a": [1, 2, 3]}', '$.a[last]'), ('{"b": 1}', '$.b'), (null, '$'), ('1', null)
select d, p, jsonb_path_query_first(d, p) from docs order by d
select count(*) from docs where d @? p
select p::text, p = p from docs
drop table docs
