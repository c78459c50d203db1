# psycopg2: adaptation of types, errors and their fields, named cursors, COPY, transactions, composite and enum types.
import datetime
import decimal
import io
import os
import uuid

import psycopg2
import psycopg2.errors
import psycopg2.extensions
import psycopg2.extras

psycopg2.extras.register_uuid()
db = psycopg2.connect(os.environ["DATABASE_URL"])
print("version", db.server_version, "encoding", db.encoding, "status", db.info.transaction_status)
for name in ("server_encoding", "client_encoding", "is_superuser", "session_authorization", "DateStyle",
             "IntervalStyle", "integer_datetimes", "standard_conforming_strings", "in_hot_standby", "default_transaction_read_only"):
    print("parameter", name, db.get_parameter_status(name))
cur = db.cursor()
cur.execute("""
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE TYPE point2 AS (x int, y text);
    CREATE TABLE item (id serial PRIMARY KEY, name text NOT NULL UNIQUE, price numeric(10,2) CHECK (price >= 0), tags text[],
        data jsonb, at timestamptz, day date, t time, span interval, raw bytea, key uuid, m mood, p point2, f float8, b boolean);
    CREATE TABLE part (id int PRIMARY KEY, item int REFERENCES item ON DELETE CASCADE);
""")
db.commit()
at = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=datetime.timezone.utc)
cur.execute(
    "INSERT INTO item (name, price, tags, data, at, day, t, span, raw, key, m, f, b) VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s) RETURNING id",
    ("it's \\ a \u20ac", decimal.Decimal("12.50"), ["a", None, 'q"{}'], psycopg2.extras.Json({"k": [1, 2.5, None]}), at, at.date(),
     datetime.time(1, 2, 3, 4), datetime.timedelta(days=3, seconds=5, microseconds=7), b"\x00\xff'\\", uuid.UUID(int=1 << 100), "ok", 1e-300, True))
print("returning", cur.fetchone(), cur.rowcount, cur.statusmessage, cur.lastrowid)
cur.execute("SELECT * FROM item")
print([(c.name, c.type_code, c.internal_size, c.precision, c.scale) for c in cur.description])
print([bytes(v) if isinstance(v, memoryview) else v for v in cur.fetchone()])
psycopg2.extras.register_composite("point2", db)
cur.execute("UPDATE item SET p = (%s, %s) RETURNING p", (5, 'a,"b'))
print("composite", cur.fetchone())
db.commit()

print("errors")
def failing(sql, args=None):
    try:
        cur.execute(sql, args)
        print("no error", cur.statusmessage)
    except psycopg2.Error as e:
        d = e.diag
        print(type(e).__name__, e.pgcode, d.severity, d.message_primary, d.message_detail, d.message_hint, d.statement_position,
              d.schema_name, d.table_name, d.column_name, d.datatype_name, d.constraint_name)
    print("  transaction", db.info.transaction_status)
    db.rollback()
failing("INSERT INTO item (name) VALUES ('it''s \\ a \u20ac')")
failing("INSERT INTO item (name, price) VALUES ('x', -1)")
failing("INSERT INTO item (name) VALUES (NULL)")
failing("INSERT INTO part VALUES (1, 77)")
failing("INSERT INTO item (name, price) VALUES ('x', 1e20)")
failing("SELECT nope FROM item")
failing("SELECT * FROM nope")
failing("SELEC 1")
failing("SELECT 1/0")
failing("SELECT 'x'::int")
failing("SELECT 'bad'::mood")
failing("SELECT nofunc(1)")
failing("SELECT 1 + 'a'::text")
failing("SELECT %s::int", ("9999999999",))
failing("CREATE TABLE item ()")
failing("DROP TABLE item")
failing("SAVEPOINT a; ROLLBACK TO b")
cur.execute("BEGIN")  # psycopg2 has begun one already: a warning
print("notices", [n.strip() for n in db.notices])
try:
    cur.execute("SELECT 1/0")
except psycopg2.Error:
    pass
try:
    cur.execute("SELECT 1")
except psycopg2.errors.InFailedSqlTransaction as e:
    print("aborted", e.pgcode, str(e).strip())
db.rollback()

print("named cursors")
named = db.cursor("big", scrollable=True)
named.itersize = 100
named.execute("SELECT g, repeat('x', g %% 5) FROM generate_series(1, %s) g", (1000,))
print(named.fetchone(), len(named.fetchmany(10)), sum(r[0] for r in named))
named.scroll(-2)
print(named.fetchone(), named.fetchone())
named.scroll(3, mode="absolute")
print(named.fetchone())
named.close()
held = db.cursor("held", withhold=True)
held.execute("SELECT * FROM generate_series(1, 5)")
db.commit()
print("with hold", held.fetchall())
held.close()

print("copy")
text = io.StringIO("10\tten\t\\N\n11\tel\\tev\\\\en\t1.5\n")
cur.copy_from(text, "item", columns=("id", "name", "price"))
out = io.StringIO()
cur.copy_expert("COPY (SELECT id, name, price FROM item ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER, NULL 'nil', FORCE_QUOTE *)", out)
print(out.getvalue())
try:
    cur.copy_from(io.StringIO("12\ta\tbad\n"), "item", columns=("id", "name", "price"))
except psycopg2.Error as e:
    print(e.pgcode, e.diag.message_primary, "|", e.diag.context)
db.rollback()

print("batches")
psycopg2.extras.execute_values(cur, "INSERT INTO item (id, name) VALUES %s RETURNING id", [(i, f"n{i}") for i in range(100, 350)], page_size=100)
print(cur.rowcount)
psycopg2.extras.execute_batch(cur, "UPDATE item SET price = %s WHERE id = %s", [(i / 4, i) for i in range(100, 350)])
cur.executemany("DELETE FROM item WHERE id = %s", [(i,) for i in range(300, 350)])
cur.execute("SELECT count(*), sum(price), min(name), max(id) FROM item WHERE id >= %s", (100,))
print(cur.fetchone())
cur.execute("SELECT id FROM item WHERE id IN %s ORDER BY id", ((100, 200, 300),))
print(cur.fetchall())
cur.execute("SELECT id FROM item WHERE id = ANY(%s) ORDER BY id", ([100, 250, 999],))
print(cur.fetchall())
dicts = db.cursor(cursor_factory=psycopg2.extras.RealDictCursor)
dicts.execute("SELECT id, name AS n FROM item WHERE id < 105 ORDER BY id DESC")
print(dicts.fetchall())
db.commit()

print("sessions")
db.set_session(isolation_level="SERIALIZABLE", readonly=True, deferrable=True)
cur.execute("SHOW transaction_isolation")
print(cur.fetchone())
failing("UPDATE item SET price = 1")
db.set_session(isolation_level="READ COMMITTED", readonly=False, deferrable=False)
db.autocommit = True
cur.execute("SET TIME ZONE 'Europe/Rome'; SELECT at FROM item WHERE id = 1")
print(cur.fetchone()[0].isoformat())
cur.execute("SELECT %s::timestamptz = at FROM item WHERE id = 1", (at,))
print(cur.fetchone())
cur.execute("SELECT mogrify.a FROM (VALUES (%s), (%s)) AS mogrify(a)", ("x%", "y\ny"))
print(cur.fetchall())
db.reset()
db.cancel()
with db:
    with db.cursor() as c:
        c.execute("SELECT pg_typeof(%s), pg_typeof(%s), pg_typeof(%s)", (1, 1.5, None))
        print(c.fetchone())
db.autocommit = False
with db, db.cursor() as c:
    c.execute("SAVEPOINT s")
    c.execute("DELETE FROM item")
    c.execute("ROLLBACK TO SAVEPOINT s")
    c.execute("RELEASE s")
    c.execute("SELECT count(*) FROM item")
    print(c.fetchone())
cur.execute("TRUNCATE item CASCADE")
print([n.strip() for n in db.notices[-1:]])
db.close()
