create schema app
create domain app.pos as int constraint positive check (value > 0) not null
create domain app.small as app.pos check (value < 100)
create domain app.word as varchar(5) check (value <> 'bad')
create type app.pair as (l app.pos, r app.word)
create table app.doms (p app.pos, w app.word, pr app.pair, ps app.small[])
insert into app.doms values (1, 'x', '(0,x)')
insert into app.doms values (1, 'x', '(1,bad)')
insert into app.doms values (1, 'x', '(,x)')
insert into app.doms values (1, 'x', '(1,)')
insert into app.doms values (1, 'x', '(1,toolong)')
insert into app.doms values (1, 'x', null, '{1,0}')
insert into app.doms values (1, 'x', null, '{1,100}')
insert into app.doms values (1, 'x', null, '{1,NULL}')
insert into app.doms values (1, 'x', null, '{1,99}')
insert into app.doms values (0)
insert into app.doms values (1, 'bad')
select '(0,x)'::app.pair
select '{"(0,x)"}'::app.pair[]
select '(1,x)'::text::app.pair
select '(0,x)'::text::app.pair
select '{5,200}'::text::app.small[]
select '{1,2}'::text::app.pos[]
set search_path = app
select '{1,0}'::pos[]
select 0::pos
create domain odd as int check (value % 2 = 1)
select '{1,3}'::text::odd[]
alter domain odd add check (value < 3)
select '{1,3}'::text::odd[]
alter domain odd drop constraint odd_check
select '{1,2}'::text::odd[]
drop domain odd
begin
create domain odd as int check (value > 5)
select '{6}'::text::odd[]
select '{5}'::text::odd[]
rollback
create domain nested as int[] check (value[1] > 0)
select '{0}'::nested
select '{"{1}","{0}"}'::text::nested[]
insert into doms select 1, 'x', null, x::small[] from (values ('{1}'), ('{2,3}'), ('{0}')) v(x)
prepare p as select $1::small[]
execute p('{1,2}')
execute p('{1,200}')
select pr from doms
create type recs as (p pos, ps pos[], w word)
select * from json_populate_record(null::recs, '{"p":1,"ps":[1,2],"w":"ok"}')
select * from jsonb_populate_record(null::recs, '{"p":0}')
select * from jsonb_populate_record(null::recs, '{"p":1,"ps":[1,0]}')
select * from jsonb_populate_record(null::recs, '{"p":1,"ps":"{1,0}"}')
select * from jsonb_populate_record(null::recs, '{"p":1,"w":"bad"}')
select * from jsonb_populate_record(null::recs, '{"w":"ok"}')
select * from jsonb_populate_record(row(1,null,'ok')::recs, '{"w":"new"}')
select json_populate_record(null::recs, '{"p":3,"ps":[1,2]}')
select * from jsonb_to_recordset('[{"a":1},{"a":2}]') as x(a pos)
select array[1, 2]::pos[]
select ('{1,2}'::pos[])[2] + 1, array_agg(p) from doms group by 1
select unnest('{4,5}'::pos[]) + 1
create table da (a pos[])
insert into da values (array[1, 2]), ('{3}'), (array[4, 5]::pos[])
insert into da select array_agg(g) from generate_series(1, 3) g
insert into da select array_agg(g::pos) from generate_series(1, 3) g
update da set a[2] = 9 where a[1] = 3
update da set a[2] = 0 where a[1] = 3
select *, a[1] + 1, array_length(a, 1), a = '{3,9}' from da order by a
select array[5::pos], array[5::pos, 6], row(7::pos, array[8::pos])
select array[[1], [0]]::pos[]
