listen a
select pg_listening_channels()
listen "Two Words"
listen a
select * from pg_listening_channels()
begin
listen c
select * from pg_listening_channels()
rollback
select * from pg_listening_channels()
begin
listen c
savepoint s
listen d
unlisten a
rollback to s
unlisten "Two Words"
commit
select * from pg_listening_channels()
notify a
notify a, 'payload'
select pg_notify('a', 'x')
select pg_notify('', 'x')
select pg_notify(null, 'x')
select pg_notify('a', null)
select pg_notify('n012345678901234567890123456789012345678901234567890123456789012', '')
select pg_notify('n0123456789012345678901234567890123456789012345678901234567890123', '')
select pg_notify('a', repeat('x', 8000))
select pg_notification_queue_usage()
unlisten nosuch
unlisten *
select * from pg_listening_channels()
listen z
discard all
select * from pg_listening_channels()
begin read only
notify z
commit
begin
select 1/0
listen z
rollback
