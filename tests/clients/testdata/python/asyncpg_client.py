# asyncpg: binary format both ways, introspection of types, prepared statements, cursors, COPY, reset of pooled sessions.
import asyncio
import datetime
import decimal
import io
import os
import uuid

import asyncpg


async def main():
    url = os.environ["DATABASE_URL"]
    db = await asyncpg.connect(url)
    print(tuple(db.get_server_version())[:2], db.get_settings().TimeZone is not None)
    await db.execute("""
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TYPE pair AS (x int, y text, m mood);
        CREATE DOMAIN positive AS int CHECK (VALUE > 0);
        CREATE TABLE a (id bigserial PRIMARY KEY, m mood, p pair, ps pair[], d positive, ms mood[], n numeric, ts timestamptz, da date, t time, iv interval,
            u uuid, b bytea, j jsonb, bo bool, i2 int2, f4 float4, f8 float8, tx text, ta text[], i4 int4, ia int4[][], bt bit(5), vb varbit, v varchar(3), c char(3), tz timetz, o oid)
    """)
    utc = datetime.timezone.utc
    row = await db.fetchrow(
        """INSERT INTO a (m, p, ps, d, ms, n, ts, da, t, iv, u, b, j, bo, i2, f4, f8, tx, ta, i4, ia, bt, v, c, tz, o)
           VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26) RETURNING *""",
        "ok", (1, "y", "sad"), [(1, None, None), (2, "z", "ok")], 5, ["sad", "ok"], decimal.Decimal("-1.2300"), datetime.datetime(2020, 1, 2, tzinfo=utc),
        datetime.date(1, 1, 1), datetime.time(12), datetime.timedelta(days=1, seconds=3), uuid.UUID(int=9), b"\0\1", '{"a": [1, 2]}', True, 7, 1.5, 1e100,
        "t\u20ac", ["a", None], 42, [[1, 2], [3, None]], asyncpg.BitString("10101"), "abc", "c", datetime.time(1, tzinfo=utc), 12)
    for name, value in row.items():
        print(name, repr(value))
    statement = await db.prepare("SELECT $1::int + $2::numeric AS x, $3 || 'a' AS y, $4::mood AS z, $5::pair[] AS w, now() AS n, '{1,2}'::int[] AS arr")
    print([(p.name, p.kind) for p in statement.get_parameters()], [(a.name, a.type.name, a.type.kind) for a in statement.get_attributes()])
    print(list((await statement.fetchrow(1, decimal.Decimal("2.5"), "b", "sad", []))[:4]), statement.get_statusmsg())

    print("errors")
    for query, args in (("SELECT 1/$1::int", (0,)), ("INSERT INTO a (id) VALUES (1)", ()), ("SELECT $1", (1,)), ("SELECT nope", ()), ("INSERT INTO a (d) VALUES ($1)", (-1,)),
                        ("INSERT INTO a (v) VALUES ($1)", ("long text",)), ("SELECT $1 + $2", (1, 2)), ("SELECT 'x'::mood", ())):
        try:
            print(await db.fetch(query, *args))
        except asyncpg.PostgresError as e:
            print(type(e).__name__, e.sqlstate, e.message, e.detail, e.constraint_name, e.table_name, e.position)
        except asyncpg.InterfaceError as e:
            print(type(e).__name__, str(e)[:80])

    print("many")
    await db.executemany("INSERT INTO a (i4, tx) VALUES ($1, $2)", [(i, str(i)) for i in range(1000)])
    print(await db.fetchval("SELECT count(*) FROM a WHERE i4 = ANY($1::int[])", list(range(0, 2000, 7))))
    try:
        await db.executemany("INSERT INTO a (id, i4) VALUES ($1, 1)", [(5000,), (5001,), (5000,)])
    except asyncpg.UniqueViolationError as e:
        print(e.constraint_name, await db.fetchval("SELECT count(*) FROM a WHERE id >= 5000"))

    print("cursors")
    async with db.transaction():
        cur = await db.cursor("SELECT g FROM generate_series(1, $1::int) g", 1000)
        print(await cur.fetch(3), await cur.forward(10), await cur.fetchrow())
        inner = [r["g"] async for r in db.cursor("SELECT g FROM generate_series(1, 120) g", prefetch=50)]
        print(len(inner), sum(inner), len(await cur.fetch(5000)))

    print("transactions")
    async with db.transaction(isolation="serializable", readonly=True, deferrable=True):
        print(await db.fetchval("SHOW transaction_isolation"))
    try:
        async with db.transaction():
            await db.execute("INSERT INTO a (i4) VALUES (-7)")
            try:
                async with db.transaction():
                    await db.execute("SELECT 1/0")
            except asyncpg.DivisionByZeroError:
                print("inner failed", await db.fetchval("SELECT count(*) FROM a WHERE i4 = -7"))
            raise KeyError
    except KeyError:
        print("after", await db.fetchval("SELECT count(*) FROM a WHERE i4 = -7"))

    print("copy")
    records = [(i, f"r{i}", None) for i in range(500)]
    print(await db.copy_records_to_table("a", records=records, columns=["i4", "tx", "n"]))
    out = io.BytesIO()
    print(await db.copy_from_query("SELECT i4, tx FROM a WHERE tx LIKE 'r%' ORDER BY i4 LIMIT $1", 3, output=out, format="csv"), out.getvalue())
    print(await db.copy_to_table("a", source=io.BytesIO(b"1;x\n2;\n"), columns=["i4", "tx"], delimiter=";", format="csv"))
    out = io.BytesIO()
    print(await db.copy_from_table("a", columns=["i4", "tx"], output=out, format="binary"), len(out.getvalue()))

    print("results after DDL")
    print(len(await db.fetchrow("SELECT * FROM a LIMIT 1")))
    other = await asyncpg.connect(url)
    await other.execute("ALTER TABLE a ADD COLUMN later int")
    print(len(await db.fetchrow("SELECT * FROM a LIMIT 1")))
    await other.close()

    print("types")
    await db.set_type_codec("jsonb", encoder=lambda v: v, decoder=lambda v: "json:" + v, schema="pg_catalog")
    print(await db.fetchval("SELECT $1::jsonb", "[1]"))
    await db.reset()
    async with asyncpg.create_pool(url, min_size=2, max_size=3) as pool:
        print(sorted(await asyncio.gather(*[pool.fetchval("SELECT $1::int", i) for i in range(10)])))
    await db.close()

asyncio.run(main())
