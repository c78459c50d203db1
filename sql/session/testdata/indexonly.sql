create table k (pk int primary key, i int, f float8, n numeric, b text, iv interval, a int[], j jsonb, tz timetz)
insert into k select g, g % 7, case when g % 5 <> 0 then g * 0.5 end, g * 1.10, 't' || g % 3, make_interval(days => g), array[g], to_jsonb(g), '12:00+00' from generate_series(1, 200) g
create index k_fi on k (f, i)
create index k_ni on k (n desc, i)
create index k_ivi on k (iv, i)
create index k_tzi on k (tz, i)
create index k_ai on k (a, i)
create index k_ji on k (j, i)
create index k_bf on k (b, f, i desc)
analyze k
set enable_seqscan = off
select i from k where f >= 98 order by f
select i from k where f is null and i > 5 order by i
select i from k where n > 215.5 order by n desc
select i from k where iv > '196 days' order by iv
select count(i), sum(i) from k where tz = '12:00+00'
select i from k where a = array[44]
select i from k where j = '55'
select i from k where b = 't1' and f = 0.5
select f from k where f > 99 order by f
select n from k where n > 218 order by n
select pk from k where i in (select i from k where f >= 99.5) and pk < 20 order by pk
