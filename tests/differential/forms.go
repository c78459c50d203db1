package main

// tameForms cannot fail on tame values, however rows and conditions are ordered: result :: text :: arguments. "=" of the first argument stands for any type.
const tameForms = `
int4 :: (%s + %s) :: int4 int4
int4 :: (%s - %s) :: int4 int4
int4 :: (%s * 3) :: int4
int4 :: (%s / nullif(%s, 0)) :: int4 int4
int4 :: (%s %% nullif(%s, 0)) :: int4 int4
int4 :: (- %s) :: int4
int4 :: abs(%s) :: int4
int4 :: (%s & %s) :: int4 int4
int4 :: (%s | %s) :: int4 int4
int4 :: length(%s) :: text
int4 :: position(%s in %s) :: text text
int4 :: ascii(%s) :: text
int4 :: octet_length(%s) :: bytea
int4 :: cardinality(%s) :: _int4
int4 :: array_length(%s, 1) :: _text
int4 :: (%s)[1] :: _int4
int4 :: array_position(%s, %s) :: _int4 int4
int4 :: (%s)::int4 :: bool
int4 :: (%s)::int4 :: int2
int4 :: extract(year from %s)::int4 :: date
int4 :: (%s - %s) :: date date
int4 :: jsonb_array_length(case when jsonb_typeof(%s) = 'array' then '[1, 2]'::jsonb end) :: jsonb
int2 :: (%s)::int2 :: bool_int
int8 :: (%s)::int8 :: int4
int8 :: (%s + %s) :: int8 int4
int8 :: (%s - %s) :: int8 int8
int8 :: (%s / nullif(%s, 0)) :: int8 int8
int8 :: abs(%s) :: int8
numeric :: (%s + %s) :: numeric numeric
numeric :: (%s - %s) :: numeric numeric
numeric :: (%s * %s) :: numeric int4
numeric :: round(%s, 1) :: numeric
numeric :: trunc(%s) :: numeric
numeric :: ceil(%s) :: numeric
numeric :: abs(%s) :: numeric
numeric :: (%s / nullif(%s, 0)) :: numeric numeric
numeric :: (%s)::numeric :: int4
numeric :: (%s)::numeric(20,3) :: numeric
numeric :: extract(epoch from %s) :: timestamp
numeric :: extract(day from %s) :: date
float8 :: (%s + %s) :: float8 float8
float8 :: (%s - %s) :: float8 float8
float8 :: (%s * 0.5) :: float8
float8 :: abs(%s) :: float8
float8 :: floor(%s) :: float8
float8 :: (%s)::float8 :: int4
float8 :: (%s)::float8 :: float4
float4 :: (%s)::float4 :: int2
text :: (%s || %s) :: text text
text :: (%s || %s) :: text int4
text :: upper(%s) :: text
text :: lower(%s) :: text
text :: initcap(%s) :: text
text :: substr(%s, 2, 3) :: text
text :: substring(%s from 2) :: text
text :: left(%s, 2) :: text
text :: right(%s, -1) :: text
text :: btrim(%s) :: text
text :: trim(leading 'a' from %s) :: text
text :: replace(%s, %s, 'z') :: text text
text :: reverse(%s) :: text
text :: split_part(%s, 'b', 1) :: text
text :: translate(%s, 'ab', 'x') :: text
text :: lpad(%s, 5, '*') :: text
text :: overlay(%s placing 'Q' from 2 for 1) :: text
text :: md5(%s) :: text
text :: concat(%s, %s, %s) :: text int4 bool
text :: format('%%s-%%I', %s, 'a b') :: text
text :: (%s)::text :: int4
text :: (%s)::text :: numeric
text :: (%s)::text :: date
text :: (%s)::text :: bool
text :: (%s)::text :: mood
text :: (%s)::text :: _int4
text :: (%s)::text :: interval
text :: (%s)::text :: varchar
text :: (%s)::text :: bpchar
text :: to_char(%s, 'YYYY-MM-DD Day Q') :: date
text :: to_char(%s, 'FM9990.00') :: numeric
text :: array_to_string(%s, '-', '*') :: _text
text :: (%s ->> 'a') :: jsonb
text :: jsonb_typeof(%s) :: jsonb
text :: encode(%s, 'hex') :: bytea
text :: case when %s then %s else %s end :: bool text text
varchar :: (%s)::varchar(4) :: text
varchar :: (%s)::varchar :: text
bpchar :: (%s)::char(3) :: text
bytea :: (%s || %s) :: bytea bytea
bytea :: convert_to(%s, 'UTF8') :: text
date :: (%s + (%s %% 1000)) :: date int4
date :: (%s)::date :: timestamp
date :: greatest(%s, %s) :: date date
time :: (%s)::time :: timestamp
time :: (%s + interval '90 minutes') :: time
timestamp :: (%s)::timestamp :: date
timestamp :: (%s + %s) :: date time
timestamp :: (%s + interval '1 mon 2 days') :: timestamp
timestamp :: (%s - interval '3 hours') :: timestamp
timestamp :: date_trunc('month', %s) :: timestamp
timestamp :: date_trunc('hour', %s) :: timestamp
timestamp :: (%s at time zone 'Europe/Rome') :: timestamptz
timestamptz :: (%s at time zone 'America/New_York') :: timestamp
timestamptz :: (%s + interval '1 day') :: timestamptz
interval :: (%s - %s) :: timestamp timestamp
interval :: (%s * 2) :: interval
interval :: (%s + %s) :: interval interval
interval :: age(%s, %s) :: timestamp timestamp
interval :: justify_days(%s) :: interval
jsonb :: (%s -> 'a') :: jsonb
jsonb :: (%s -> 0) :: jsonb
jsonb :: (%s #> '{b,1}') :: jsonb
jsonb :: jsonb_build_object('k', %s, 'v', %s) :: int4 text
jsonb :: jsonb_build_array(%s, %s) :: bool date
jsonb :: to_jsonb(%s) :: _int4
jsonb :: to_jsonb(%s) :: text
_int4 :: array[%s, %s] :: int4 int4
_int4 :: (%s || %s) :: _int4 int4
_int4 :: array_remove(%s, %s) :: _int4 int4
_int4 :: (%s)[2:3] :: _int4
_text :: string_to_array(%s, 'b') :: text
_text :: array_append(%s, %s) :: _text text
_text :: array[%s, %s] :: text text
uuid :: md5(%s)::uuid :: text
bool :: (%s and %s) :: bool bool
bool :: (%s or %s) :: bool bool
bool :: (not %s) :: bool
bool :: (%s is true) :: bool
bool :: (%s is not false) :: bool
bool :: (%s is unknown) :: bool
bool :: (%s like %s) :: text likes
bool :: (%s not ilike %s) :: text likes
bool :: (%s ~ '^[a-z ]+$') :: text
bool :: (%s ~* 'B') :: text
bool :: (%s similar to '(a|z)%%') :: text
bool :: starts_with(%s, %s) :: text text
bool :: (%s @> %s) :: _int4 _int4
bool :: (%s && %s) :: _text _text
bool :: (%s = any (%s)) :: int4 _int4
bool :: (%s <> all (%s)) :: text _text
bool :: (%s ? 'a') :: jsonb
bool :: (%s @> %s) :: jsonb jsonb
bool :: ((%s, %s) overlaps (%s, %s)) :: date date date date
bool :: ((%s, %s) < (%s, %s)) :: int4 text int4 text
bool :: ((%s, %s) = (%s, %s)) :: int4 date int4 date
bool :: ((%s, %s) is distinct from (%s, %s)) :: int4 text int4 text
bool :: (row(%s, %s) is not null) :: int4 text
bool :: isfinite(%s) :: date
mood :: greatest(%s, %s) :: mood mood
mood :: enum_first(%s) :: mood
`

// wildForms have a syntax of their own and may fail.
const wildForms = `
text :: substring(%s from %s for %s) :: text small small
text :: substring(%s from %s) :: text small
text :: substring(%s similar '%%#"a#"%%' escape '#') :: text
text :: overlay(%s placing %s from %s for %s) :: text text small small
text :: trim(both %s from %s) :: text text
text :: repeat(%s, %s) :: text small
text :: lpad(%s, %s, %s) :: text small text
text :: rpad(%s, %s) :: text small
text :: split_part(%s, %s, %s) :: text text small
text :: format(%s, %s) :: formats int4
text :: format(%s, %s, %s) :: formats text date
text :: to_char(%s, %s) :: numeric numberpics
text :: to_char(%s, %s) :: int4 numberpics
text :: to_char(%s, %s) :: float8 numberpics
text :: to_char(%s, %s) :: timestamp datepics
text :: to_char(%s, %s) :: interval datepics
text :: chr(%s) :: small
text :: regexp_replace(%s, %s, %s, 'g') :: text patterns text
text :: regexp_substr(%s, %s) :: text patterns
text :: normalize(%s, nfd) :: text
text :: quote_ident(%s) :: text
text :: quote_literal(%s) :: text
text :: (%s collate "C") :: text
text :: case %s when %s then %s when %s then %s end :: int4 int4 text int4 text
text :: cast(%s as text) :: anything
text :: json_build_object(%s, %s)::text :: text anything
text :: jsonb_pretty(%s) :: jsonb
text :: row_to_json(row(%s, %s))::text :: anything anything
text :: row(%s, %s)::text :: anything anything
text :: pg_typeof(%s)::text :: anything
text :: concat_ws(%s, %s, %s) :: text anything anything
text :: array_to_json(array[%s, %s])::text :: int4 int4
text :: jsonb_path_query_first(%s, '$.a')::text :: jsonb
text :: jsonb_set(%s, '{a}', %s)::text :: jsonb jsonb
text :: string_to_array(%s, %s)::text :: text text
bool :: (%s between %s and %s) :: int4 int4 int4
bool :: (%s not between symmetric %s and %s) :: numeric numeric numeric
bool :: (%s in (%s, %s)) :: int4 int4 int4
bool :: (%s not in (%s, %s)) :: text text text
bool :: (%s is distinct from %s) :: float8 float8
bool :: (%s like %s escape '#') :: text text
bool :: (%s ilike %s) :: text text
bool :: (%s ~ %s) :: text patterns
bool :: (%s !~* %s) :: text patterns
bool :: (%s < any (%s)) :: int4 _int4
bool :: ((%s, %s) overlaps (%s, %s)) :: timestamp interval timestamp timestamp
bool :: jsonb_path_exists(%s, '$.b[*] ? (@ > 1)') :: jsonb
bool :: regexp_like(%s, %s) :: text patterns
numeric :: extract(%s from %s) :: fields timestamp
numeric :: extract(%s from %s) :: fields interval
numeric :: extract(%s from %s) :: fields date
numeric :: extract(%s from %s) :: fields time
numeric :: extract(%s from %s) :: fields timestamptz
numeric :: power(%s, %s) :: numeric small
numeric :: (%s ^ %s) :: numeric small
numeric :: round(%s, %s) :: numeric small
numeric :: cast(%s as numeric(6,2)) :: numeric
numeric :: (%s)::numeric :: text
numeric :: to_number(%s, %s) :: text numberpics
float8 :: power(%s, %s) :: float8 small
float8 :: (%s)::float8 :: text
float8 :: (%s)::float8 :: numeric
int4 :: (%s)::int4 :: text
int4 :: (%s)::int4 :: numeric
int4 :: (%s)::int4 :: float8
int4 :: (%s)::int4 :: jsonb
int4 :: regexp_count(%s, %s) :: text patterns
int4 :: (%s)[%s] :: _int4 small
int4 :: width_bucket(%s, %s, %s, %s) :: numeric numeric numeric small
int4 :: array_length(%s, %s) :: _int4 small
int8 :: (%s)::int8 :: text
int2 :: (%s)::int2 :: int4
date :: (%s)::date :: text
date :: make_date(%s, %s, %s) :: small small small
timestamp :: (%s)::timestamp :: text
timestamp :: (%s)::timestamp(2) :: timestamp
timestamp :: (%s at time zone %s) :: timestamptz zones
timestamp :: to_timestamp(%s, %s)::timestamp :: text datepics
timestamp :: date_trunc(%s, %s) :: units timestamp
timestamptz :: (%s at time zone %s) :: timestamp zones
interval :: (%s)::interval :: text
interval :: make_interval(%s, %s, %s) :: small small small
interval :: date_trunc(%s, %s) :: units interval
interval :: (%s)::interval(1) :: interval
time :: (%s)::time :: text
jsonb :: (%s)::jsonb :: text
jsonb :: (%s -> %s) :: jsonb small
jsonb :: to_jsonb(%s) :: anything
bytea :: decode(%s, 'hex') :: text
bytea :: (%s)::bytea :: text
uuid :: (%s)::uuid :: text
_int4 :: (%s)::int4[] :: text
_int4 :: array[%s, %s, %s] :: int4 int4 int4
_int4 :: (%s)[%s:%s] :: _int4 small small
_int4 :: array_fill(%s, array[%s]) :: int4 small
_text :: regexp_split_to_array(%s, %s) :: text patterns
_text :: regexp_match(%s, %s) :: text patterns
mood :: (%s)::mood :: text
varchar :: (%s)::varchar(2) :: text
bpchar :: (%s)::char(2) :: text
bool :: (%s)::bool :: text
`

// words are arguments that are no type's, as SQL.
var words = map[string][]string{
	"small":      {"0", "1", "2", "3", "-1", "-2", "5", "12"},
	"bool_int":   {"1", "2", "0"},
	"likes":      {"'a%'", "'%b'", "'_b%'", "'%'", "''", "'zz top'"},
	"patterns":   {"'a'", "'^a.*'", "'[^b]+'", "'(a)(b)?'", "'x*'", "'\\d+'", "'('", "'a{2,1}'", "'\\ma'"},
	"formats":    {"'%s'", "'%I %L'", "'%2$s %1$s'", "'%-5s|'", "'%%'", "'%'", "'%5L'"},
	"numberpics": {"'999'", "'FM0.00'", "'S9G999D99'", "'9.99EEEE'", "'RN'", "'L99PR'", "'000MI'", "'9V99'", "'9TH'", "'99th'"},
	"datepics":   {"'YYYY-MM-DD HH24:MI:SS.US'", "'Dy, DD Mon YY'", "'IYYY-IW-ID'", "'J'", "'Q CC BC'", "'HH12:MI AM'", "'FMMonth FMDDth'", "'DDD WW W'", "'SSSS MS'"},
	"fields":     {"year", "month", "day", "hour", "minute", "second", "epoch", "dow", "isodow", "doy", "week", "quarter", "century", "decade", "millennium", "milliseconds", "microseconds", "isoyear", "julian", "timezone"},
	"units":      {"'year'", "'month'", "'day'", "'hour'", "'minute'", "'second'", "'week'", "'quarter'", "'century'", "'decade'", "'millennium'", "'milliseconds'", "'nothing'"},
	"zones":      {"'UTC'", "'Europe/Rome'", "'-03:30'", "'EST5EDT'", "interval '2 hours'", "'Nowhere/City'"},
}
