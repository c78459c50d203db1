create table accounts (id bigserial not null primary key, email varchar(255) not null, created_at timestamp(6) not null default '2020-01-01', updated_at timestamp(6), active boolean default true not null, balance numeric(12,2) default 0.0, meta jsonb default '{}'::jsonb, tags text[] default '{}'::text[]);
create unique index index_accounts_on_email on accounts (email);
create index index_accounts_on_created_at on accounts using btree (created_at desc);
create index concurrently index_accounts_active on accounts (active) where active;
@describe accounts
insert into accounts (email) values ('a@x'), ('b@x') returning id, active, balance, meta, tags;
create table posts (id bigserial primary key, account_id bigint not null, title character varying, body text, constraint fk_rails_1 foreign key (account_id) references accounts (id));
create index index_posts_on_account_id on posts (account_id);
insert into posts (account_id, title) values (1, 't1'), (2, 't2');
insert into posts (account_id, title) values (3, 't3');
alter table posts add column slug varchar(20);
update posts set slug = lower(title);
alter table posts alter column slug set not null;
alter table posts add constraint posts_slug_key unique (slug);
alter table posts alter column body set default 'none';
insert into posts (account_id, title, slug) values (1, 't4', 't1');
insert into posts (account_id, title, slug) values (1, 't4', 't4') returning body;
alter table posts drop constraint fk_rails_1;
alter table posts add constraint fk_rails_2 foreign key (account_id) references accounts (id) on delete cascade not valid;
alter table posts validate constraint fk_rails_2;
delete from accounts where id = 1;
select id, account_id from posts order by 1;
alter table posts rename column body to content;
alter index index_posts_on_account_id rename to ipa;
@describe posts
alter table accounts add column kind smallint not null default 1, add column ref uuid, add constraint kind_ok check (kind in (1, 2, 3));
insert into accounts (email, kind) values ('c@x', 4);
alter table accounts alter column kind type integer, alter column kind set default 2;
insert into accounts (email) values ('d@x') returning id, kind;
alter table accounts drop column meta, drop column tags;
select * from accounts order by id;
@describe accounts
begin;
alter table accounts add column x int default 7;
insert into accounts (email, x) values ('e@x', 8);
select id, x from accounts order by id;
alter table accounts alter column x type text;
select id, x from accounts order by id;
rollback;
select * from accounts order by id;
begin;
create table tx1 (a int primary key);
insert into tx1 values (1), (2);
savepoint s1;
alter table tx1 drop constraint tx1_pkey;
insert into tx1 values (1);
select count(*) from tx1;
rollback to s1;
insert into tx1 values (1);
rollback to s1;
truncate tx1;
select count(*) from tx1;
rollback to s1;
select count(*) from tx1;
commit;
select count(*) from tx1;
create table schema_migrations (version character varying not null primary key);
create table ar_internal_metadata (key character varying not null primary key, value character varying, created_at timestamp(6) without time zone not null);
insert into schema_migrations (version) values ('20200101000000') returning version;
create view active_accounts as select a.id, a.email, count(p.id) as posts from accounts a left join posts p on p.account_id = a.id where a.active group by a.id, a.email;
select * from active_accounts order by id;
@describe active_accounts
alter table accounts rename column email to mail;
select * from active_accounts order by id;
@describe active_accounts
alter table posts rename to articles;
@describe active_accounts
alter table accounts alter column mail type text;
drop view active_accounts;
alter table accounts alter column mail type text;
alter table accounts alter column created_at type date using created_at::date;
select id, created_at from accounts order by id;
create sequence order_seq as integer start with 1000 increment by 10 cycle maxvalue 1020;
select nextval('order_seq'), nextval('order_seq'), nextval('order_seq'), nextval('order_seq');
select setval('order_seq', 1010), setval('order_seq', 1010, false), nextval('order_seq');
select last_value, is_called from order_seq;
alter sequence order_seq increment by 1 no maxvalue;
create table orders (id int default nextval('order_seq') primary key, note text);
alter sequence order_seq owned by orders.id;
alter sequence order_seq rename to oseq;
@describe orders
drop sequence oseq;
drop table orders;
select nextval('oseq');
create table parent (id int primary key, code text unique not null);
create table child (id int primary key, pid int references parent on update cascade on delete set null, pcode text references parent(code) on delete restrict);
create table grand (id int primary key, cid int references child on delete cascade);
insert into parent values (1, 'a'), (2, 'b');
insert into child values (10, 1, 'a'), (20, 2, null);
insert into grand values (100, 10), (200, 20);
update parent set id = 11 where id = 1;
select * from child order by id;
delete from parent where id = 11;
delete from parent where id = 2;
select * from child order by id;
delete from child where id = 20;
select * from grand order by id;
truncate parent;
truncate parent, child, grand;
drop table parent;
drop table parent cascade;
@describe child
create table nn (a int, b int not null, constraint pk primary key (a, b));
alter table nn alter a drop not null;
alter table nn drop constraint pk;
alter table nn alter a drop not null;
@describe nn
create table w (a int);
insert into w values (null);
alter table w add constraint w_c check (a is not null) not valid;
insert into w values (null);
alter table w validate constraint w_c;
delete from w;
alter table w validate constraint w_c;
create table if not exists w (a int);
create unique index wi on w (a) nulls not distinct;
alter table w drop constraint w_c;
insert into w values (null);
insert into w values (null);
create table d1 (id int primary key, constraint dk unique (id) deferrable initially deferred);
begin;
insert into d1 values (1), (2);
commit;
select * from d1 order by id;
drop table d1;
create table types_t (a smallint, b integer, c bigint, d real, e double precision, f numeric, g numeric(5), h numeric(5,2), i char, j char(5), k varchar, l varchar(5), m text, n bytea, o timestamp, p timestamptz, q timestamp(3), r date, s time, t time(2), u timetz, v interval, w interval day to second, x boolean, y uuid, z json, aa jsonb, bb bit(3), cc bit varying(5), dd int[], ee text[][], ff varchar(3)[], gg inet, hh oid, ii name, jj "char");
@describe types_t
create table "Mixed Case" ("Col" int, "select" text, constraint "Weird-Name" check ("Col" > 0));
create index on "Mixed Case" ("Col");
@describe "Mixed Case"
alter table "Mixed Case" rename "Col" to "c2";
@describe "Mixed Case"
create table averyveryveryveryveryveryveryverylongtablename (averyveryveryveryveryveryveryverylongcolumnname serial unique, b int references averyveryveryveryveryveryveryverylongtablename(averyveryveryveryveryveryveryverylongcolumnname));
@describe averyveryveryveryveryveryveryverylongtablename
