create type pair as (x int, y text, z int[])
create domain posints as int[] check (value[1] > 0)
create table t (id int primary key, a int[], m int[][], j jsonb, p pair, ps pair[], d posints)
insert into t (id, a, m, j, p, ps, d) values (1, '{1,2,3}', '{{1,2,3},{4,5,6},{7,8,9}}', '{"k": {"l": [1,2]}}', (1, 'a', '{1,2}'), array[(1, 'a', null)::pair], '{1,2}'), (2, null, null, null, null, null, null)
update t set a[2] = 20, m[2][2] = 50, j['k']['l'][0] = '10', p.x = 7, ps[1].y = 'b', d[2] = 5 returning *
update t set a[1:2] = '{100,200}', m[1:2][2:3] = '{{20,30},{50,60}}', j['n'] = 'null', p.z[2] = 9, ps[2].x = 3 where id = 1 returning *
update t set a[5] = 5, a[6:7] = '{6,7}', p.x = 8, p.y = 'two' where id = 1 returning a, p
update t set j['k']['l'][5] = '"far"', j['k']['q']['r'] = to_jsonb(id) where id = 1 returning j
update t set j[0] = '1' where id = 2
update t set j = null where id = 2
update t set j[2] = '{"x": 1}' where id = 2 returning j
update t set j[-1]['x'] = null where id = 2 returning j
update t set j[-9] = '1' where id = 2
update t set j['a'] = '1' where id = 2
update t set j[2]['x']['y'] = '1' where id = 2
update t set j[null] = '1' where id = 1
update t set j['a':'b'] = '1'
update t set j['a'] = 5
update t set a[null] = 1
update t set a['x'] = 1
update t set a[1] = 'x'
update t set a[1] = true
update t set a[1:2] = array['x']
update t set a[1] = default
update t set p.x = default
update t set p.nosuch = 1
update t set p.x = 'x'::text
update t set a.f = 1
update t set p.* = null
update t set a[1:3] = '{1}'
update t set a[3:1] = '{1}'
update t set m[1:5][1:1] = '{1,2,3,4,5}' where id = 1
update t set m[4][1] = 1 where id = 1
update t set m[1] = 1 where id = 1
update t set a = null where id = 1
update t set a[2:] = '{1}' where id = 1
update t set a[2:3] = '{1,2}' where id = 1 returning a, array_dims(a)
update t set a[:5] = '{9,9,9,9}' where id = 1 returning a, array_dims(a)
update t set d[1] = -5 where id = 1
update t set a[1] = 1, a = '{1}'
update t set a = '{1}', a[1] = 1
update t set (a[1], p.x) = (1, 2) where id = 1 returning a, p
update t set (a[1], j['z']) = (select 5, '"s"'::jsonb) where id = 1 returning a, j
insert into t (id, a[1], a[3], p.x, p.z[1], j['k'], ps[2].y) values (3, 1, 3, 4, 5, '6', 'seven') returning *
insert into t (id, a[1:2], p.y) values (4, '{1,2}', 'x'), (5, '{3,4}', 'y') returning *
insert into t (id, a[1], a[2]) select 6 + g, g, g * 2 from generate_series(0, 1) g returning id, a
insert into t (id, a[1], a) values (9, 1, '{1}')
insert into t (id, p.x, p.x) values (9, 1, 2) returning p
insert into t (id, a[1]) values (9, default)
insert into t (id, a[1]) values (9, 'x'::text)
insert into t (id) values (1) on conflict (id) do update set a[2] = excluded.id, p.x = t.p.x + 1 returning a, p
prepare u(int, int) as update t set a[$1] = $2 where id = 1 returning a
execute u(3, 33)
merge into t using (values (1, 5)) v(id, n) on t.id = v.id when matched then update set a[1] = n, p.y = 'merged'
select a, p from t where id = 1
