create table src (id int generated always as identity (start 10 increment by 5 maxvalue 1000 cache 3 cycle) primary key, a int default 7, b text constraint bc check (b <> ''), g int generated always as (a * 2) stored, u int unique)
create index si on src (lower(b))
comment on column src.a is 'column a'
comment on constraint bc on src is 'constraint bc'
comment on constraint src_pkey on src is 'the key'
comment on index si is 'index si'
comment on index src_pkey is 'index pkey'
comment on table src is 'table'
create table c1 (like src including comments)
select objsubid, description from pg_description where objoid = 'c1'::regclass order by 1
create table c2 (like src including all)
select objsubid, description from pg_description where objoid = 'c2'::regclass order by 1
select conname, description from pg_constraint k left join pg_description d on d.objoid = k.oid and d.classoid = 'pg_constraint'::regclass where conrelid = 'c2'::regclass order by 1
select c.relname, description from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass where indrelid = 'c2'::regclass order by 1
insert into c2 (b) values ('x'), ('y') returning *
select seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle, seqtypid::regtype from pg_sequence where seqrelid = pg_get_serial_sequence('c2', 'id')::regclass
create table c3 (like src including identity excluding defaults, extra int)
insert into c3 (b) values ('z') returning *
insert into c3 (id, b) values (1, 'z')
create table c4 (like src including all excluding comments excluding identity)
insert into c4 (b) values ('z')
select count(*) from pg_description where objoid = 'c4'::regclass
create table c5 (like src including indexes including comments)
select c.relname, description from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass where indrelid = 'c5'::regclass order by 1
