# psycopg 3: extended protocol, prepared statements, pipelines, binary parameters and results, binary COPY, type information.
import datetime
import decimal
import logging
import os
import uuid

import psycopg
from psycopg import sql
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.json import Jsonb
from psycopg.types import TypeInfo
from psycopg.rows import dict_row, namedtuple_row

# It warns of a pipeline's error at the end when the answer came early: a matter of time.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

db = psycopg.connect(os.environ["DATABASE_URL"])
print(db.info.server_version, db.info.encoding, db.info.transaction_status.name, db.info.parameter_status("TimeZone") is not None)
db.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
db.execute("CREATE TYPE pair AS (x int, y text)")
db.execute("""CREATE TABLE v (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, i2 smallint, i4 int, i8 bigint, n numeric(12,3), f4 real, f8 float8,
    t text, vc varchar(5), c char(4), b bytea, d date, tm time, tz timetz, ts timestamp, tt timestamptz, iv interval, u uuid, j json, jb jsonb,
    bo boolean, m mood, p pair, ia int[], ta text[], o oid, nm name, bt bit(3))""")
db.commit()
print(EnumInfo.fetch(db, "mood").labels, [f for f in CompositeInfo.fetch(db, "pair").field_names])
info = TypeInfo.fetch(db, "mood")
print(info.name, info.oid >= 16384, info.array_oid >= 16384)
register_composite(CompositeInfo.fetch(db, "pair"), db)
at = datetime.datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=datetime.timezone.utc)
values = dict(i2=-5, i4=70000, i8=1 << 40, n=decimal.Decimal("-1234.5"), f4=1.5, f8=float("inf"), t="h\u00e9\u20ac\U0001f600", vc="abcde", c="ab",
              b=b"\x00\x01\xfe", d=at.date(), tm=datetime.time(23, 59, 59, 1), tz=datetime.time(1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
              ts=datetime.datetime(2000, 1, 1), tt=at, iv=datetime.timedelta(days=-3, seconds=7), u=uuid.UUID(int=7), j=psycopg.types.json.Json([1, {"a": None}]),
              jb=Jsonb({"b": 1, "a": [True]}), bo=False, m="sad", ia=[1, None, -3], ta=["x", None, ""], o=4000000000, nm="nm", bt="101")
columns = sql.SQL(", ").join(map(sql.Identifier, values))
insert = sql.SQL("INSERT INTO v ({}) VALUES ({}) RETURNING id").format(columns, sql.SQL(", ").join(map(sql.Placeholder, values)))
print("insert", db.execute(insert, values).fetchone())
for binary in (False, True):
    cur = db.cursor(binary=binary)
    names = [k for k in values if k not in ("bt", "o")] if binary else list(values)
    cur.execute(sql.SQL("SELECT {} FROM v").format(sql.SQL(", ").join(map(sql.Identifier, names))))
    print("binary" if binary else "text", [(c.name, c.type_code if c.type_code < 16384 else "own", c.internal_size) for c in cur.description])
    print(cur.fetchone())
db.commit()

print("binary parameters")
for value in (1, 1 << 20, 1 << 40, 2.5, "x", b"y", True, at, at.date(), uuid.UUID(int=3), [1, 2], ["a", None], decimal.Decimal("1.10"), datetime.timedelta(1)):
    cur = db.execute("SELECT %b, pg_typeof(%b)::text", (value, value), binary=True)
    print(cur.fetchone())

print("prepared")
for i in range(8):
    row = db.execute("SELECT %s::int * 2, count(*) FROM v WHERE id = %s", (i, i)).fetchone()
print(row, db.execute("SELECT count(*) FROM pg_prepared_statements").fetchone())
db.execute("SELECT 1 + %s", (1,), prepare=True)
db.commit()
db.execute("ALTER TABLE v ADD COLUMN extra int DEFAULT 3")
db.commit()
for i in range(6):
    row = db.execute("SELECT * FROM v WHERE id = %s", (1,)).fetchone()
print(len(row))
db.commit()
db.execute("DEALLOCATE ALL")
db.commit()

print("pipeline")
with psycopg.connect(os.environ["DATABASE_URL"]) as p:
    with p.pipeline() as pipe:
        first = p.execute("INSERT INTO v (i4) VALUES (1), (2) RETURNING id, i4")
        second = p.execute("SELECT count(*) FROM v")
        third = p.cursor()
        third.executemany("INSERT INTO v (i4) VALUES (%s) RETURNING i4", [(i,) for i in range(5)], returning=True)
        pipe.sync()
        print(first.fetchall(), second.fetchall(), third.fetchone(), third.rowcount)
    try:
        with p.pipeline():
            p.execute("INSERT INTO v (i4) VALUES (99)")
            p.execute("SELECT 1/0")
            p.execute("INSERT INTO v (i4) VALUES (98)")
    except psycopg.Error as e:
        print(type(e).__name__, e.sqlstate)
    print(p.info.transaction_status.name)
    p.rollback()
    print(p.execute("SELECT count(*) FROM v WHERE i4 IN (98, 99)").fetchone())

print("copy")
with db.cursor() as cur:
    with cur.copy("COPY v (i4, t, tt) FROM STDIN") as copy:
        for i in range(1000):
            copy.write_row((i, f"row\t{i}", at))
    with cur.copy("COPY v (i4, t, n, ia) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int4", "text", "numeric", "int4[]"])
        for i in range(1000):
            copy.write_row((i, None if i % 3 else "t", decimal.Decimal(i) / 8, [i, None]))
    cur.execute("SELECT count(*), sum(i4), sum(n), count(t), sum(ia[1]) FROM v WHERE id > 8")
    print(cur.fetchone())
    with cur.copy("COPY (SELECT i4, t, n FROM v WHERE n IS NOT NULL ORDER BY id LIMIT 3) TO STDOUT (FORMAT BINARY)") as copy:
        copy.set_types(["int4", "text", "numeric"])
        print(list(copy.rows()))
    with cur.copy("COPY (SELECT i4, t, n FROM v ORDER BY id LIMIT 3) TO STDOUT") as copy:
        print([bytes(b) for b in copy])
    try:
        with cur.copy("COPY v (i4) FROM STDIN") as copy:
            copy.write_row((1,))
            raise RuntimeError("stop")
    except psycopg.errors.QueryCanceled as e:
        print("stopped", e.sqlstate, db.info.transaction_status.name)
db.rollback()

print("errors")
for query, args in (("INSERT INTO v (vc) VALUES (%s)", ("toolong",)), ("SELECT %s + %s", (1, "x")), ("SELECT %s", (object,)), ("SELECT * FROM nope", None),
                    ("INSERT INTO v (id) VALUES (1)", None), ("SELECT %s::int", ("a",)), ("SELECT %s; SELECT 2", (1,))):
    try:
        print(db.execute(query, args).fetchall())
    except psycopg.Error as e:
        print(type(e).__name__, e.sqlstate, e.diag.message_primary, e.diag.statement_position)
    db.rollback()

print("transactions")
with db.transaction():
    db.execute("INSERT INTO v (i4) VALUES (500)")
    try:
        with db.transaction():
            db.execute("INSERT INTO v (i4) VALUES (501)")
            raise psycopg.Rollback()
    except psycopg.Error as e:
        print(e)
    with db.transaction("named"):
        db.execute("INSERT INTO v (i4) VALUES (502)")
print(db.execute("SELECT i4 FROM v WHERE i4 >= 500 AND i4 < 510 ORDER BY 1").fetchall())
db.commit()
db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
db.read_only = True
print(db.execute("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')").fetchone())
db.rollback()
db.isolation_level, db.read_only = None, None

print("cursors")
with db.cursor("c", scrollable=True, row_factory=dict_row) as cur:
    cur.execute("SELECT id, i4 FROM v ORDER BY id")
    print(cur.fetchmany(2))
    cur.scroll(1)
    print(cur.fetchone())
    cur.itersize = 3
    print(sum(1 for _ in cur))
with db.cursor(row_factory=namedtuple_row) as cur:
    print([tuple(r) for r in cur.stream("SELECT g, g::text AS t FROM generate_series(1, 4) g")])
    print(cur.execute("SELECT 1 AS a, 2 AS b").fetchone())
    cur.execute("SELECT 1 AS a; SELECT 2 AS b, 3 AS c")
    print(cur.fetchall(), cur.nextset(), cur.fetchall())
db.commit()
db.autocommit = True
notices = []
db.add_notice_handler(lambda d: notices.append((d.severity, d.sqlstate, d.message_primary)))
db.execute("DROP TABLE IF EXISTS never_there")
db.execute("COMMIT")
print(notices)
db.close()
