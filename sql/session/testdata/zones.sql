set datestyle = 'postgres, mdy'
set timezone = '00:00'
select to_char('2020-01-01'::timestamptz, 'OF TZH:TZM'), '2020-01-01 12:00'::timestamptz at time zone 'utc'
set timezone = '+02:00'
select to_char('2020-01-01'::timestamptz, 'OF TZH:TZM'), '2020-01-01 12:00'::timestamptz at time zone 'utc'
set timezone = '-00:30'
select to_char('2020-01-01'::timestamptz, 'OF TZH:TZM'), '2020-01-01 12:00'::timestamptz at time zone 'utc'
set timezone = 'CST7CDT,M4.1.0,M10.5.0'
select '2005-04-02 12:00-07'::timestamptz + interval '1 day', '2005-04-02 12:00-07'::timestamptz + interval '24 hours', '1970-07-01 00:00+00'::timestamptz, '2050-12-01 00:00+00'::timestamptz
set timezone = 'ABC3DEF'
select '2020-07-01 00:00+00'::timestamptz, '2020-12-01 00:00+00'::timestamptz
set timezone = 'no/where'
reset timezone
select t at time zone 'MSK' from (values ('2011-03-26 22:59:59 UTC'::timestamptz), ('2011-03-26 23:00:00 UTC'), ('2014-10-25 21:59:59 UTC'), ('2014-10-25 22:00:00 UTC'), ('2014-10-25 23:00:01 UTC')) v(t)
select t at time zone 'MSK' from (values ('2011-03-27 01:59:59'::timestamp), ('2011-03-27 02:00:00'), ('2011-03-27 03:00:00'), ('2014-10-26 01:00:00'), ('2014-10-26 01:59:59'), ('2014-10-26 02:00:00')) v(t)
select interval '2147483648 months'
select interval '2147483647 months 1 year'
select interval '0.1 yrs 2147483647 months'
select interval '-2147483648 months ago'
select interval '2147483647 years'
select interval '-9223372036854775808 us'
select interval '9223372036854775808 us'
select interval '-2147483648 months -2147483648 days -9223372036854775808 us'
set intervalstyle = sql_standard
select interval '-2147483648 months -2147483648 days -9223372036854775808 us', interval '1 year -2 days 3:04'
set intervalstyle = iso_8601
select interval '-2147483648 months -2147483648 days -9223372036854775808 us', interval '1 year -2 days 3:04'
set intervalstyle = postgres_verbose
select interval '-2147483648 months -2147483648 days -9223372036854775808 us', interval '1 year -2 days 3:04'
reset intervalstyle
select interval 'P1Y2M3W4DT5H6M7.8S', interval 'P0001-02-03T04:05:06.7', interval 'P00010203T040506', interval 'P0002', interval 'P1-2', interval 'PT10.5', interval 'PT4:05', interval 'P-1Y-2M', interval 'P1.5M', interval 'P0.5Y', interval 'P1T2'
select interval 'P2147483648'
select interval 'P1-2147483647-2147483647'
select interval 'P0.1-2147483647-00'
select interval 'PT'
select interval 'P'
select interval 'P1'
select interval 'P1Y2'
select interval 'P1-2-3-4'
select interval 'PT1:2:3:4'
select interval 'P1H'
select interval 'PxY'
