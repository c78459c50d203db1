// postgres.js: types described by the server, pipelined queries, transactions with savepoints, cursors, COPY, arrays of own types.
import postgres from "postgres";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";

const notices = [];
const sql = postgres(process.env.DATABASE_URL, { max: 3, onnotice: (n) => notices.push([n.severity, n.code, n.message]) });
const show = (title, value) => console.log(title, JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v)));
await sql`CREATE TYPE mood AS ENUM ('sad', 'ok')`;
await sql`CREATE TABLE v (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n numeric, t text, ts timestamptz, jb jsonb, ia int[], m mood, ma mood[], b bytea, bo boolean, i8 bigint, f float8, u uuid, d date)`;
const row = { n: "1.25", t: "x'y", ts: new Date(Date.UTC(2021, 0, 1)), jb: sql.json({ a: [1, 2] }), ia: [1, 2], m: "ok", b: Buffer.from("ab"), bo: true, i8: 5, f: 1.5, u: "00000000-0000-0000-0000-000000000002", d: "2020-01-01" };
show("insert", await sql`INSERT INTO v ${sql(row)} RETURNING *`);
show("many", await sql`INSERT INTO v ${sql([{ t: "a", n: 1 }, { t: "b", n: 2 }, { t: "c", n: null }], "t", "n")} RETURNING id, t, n`);
show("in", await sql`SELECT t FROM v WHERE t IN ${sql(["a", "c"])} ORDER BY t`);
show("any", await sql`SELECT t FROM v WHERE id = ANY(${[2, 3]}) ORDER BY id`);
show("update", await sql`UPDATE v SET ${sql({ t: "z", bo: false }, "t", "bo")} WHERE id = 2 RETURNING t, bo`);
show("fragment", await sql`SELECT ${sql("t")}, count(*) ${sql`FROM v GROUP BY t`} ORDER BY ${sql("t")}`);
show("columns", (await sql`SELECT id, n, m, ma FROM v LIMIT 1`).columns.map((c) => [c.name, c.type < 16384 ? c.type : "own"]));
const d = await sql`SELECT ${1}::int + ${2.5}::numeric AS x, ${"a"}::text AS y, ${null}::date AS z`.describe();
show("described", [d.types, d.columns.map((c) => [c.name, c.type])]);
show("pipelined", await Promise.all(Array.from({ length: 30 }, (_, i) => sql`SELECT ${i}::int AS i`.then((r) => r[0].i))));
show("simple", await sql.unsafe("SELECT 1 AS a; SELECT 2 AS b"));
for (const q of [() => sql`SELECT 1/${0}::int`, () => sql`INSERT INTO v (id) VALUES (1)`, () => sql`SELECT nope`, () => sql`SELECT ${"x"}::int`, () => sql`SELECT ${"bad"}::mood`, () => sql`SELECT * FROM nope`, () => sql`SELECT ${1} + ${"a"}`]) {
  await q().then((r) => show("ok", r)).catch((e) => show("error", [e.name, e.code, e.message, e.detail, e.position, e.table_name, e.constraint_name]));
}
await sql.begin("isolation level repeatable read", async (tx) => {
  show("level", await tx`SHOW transaction_isolation`);
  await tx`INSERT INTO v (t) VALUES ('tx')`;
  await tx.savepoint("sp", async (s) => {
    await s`INSERT INTO v (t) VALUES ('sp')`;
    await s`SELECT 1/0`;
  }).catch((e) => show("savepoint", e.code));
  show("inside", await tx`SELECT t FROM v WHERE t IN ('tx', 'sp')`);
});
await sql.begin((tx) => [tx`INSERT INTO v (t) VALUES ('both')`, tx`SELECT 1/0`]).catch((e) => show("rolled back", e.code));
show("after", await sql`SELECT t FROM v WHERE t IN ('tx', 'sp', 'both')`);
let sizes = [];
await sql`SELECT * FROM generate_series(1, 25) g`.cursor(10, (rows) => { sizes.push(rows.length); });
show("cursor", sizes);
for await (const rows of sql`SELECT g FROM generate_series(1, 5) g`.cursor(2)) sizes.push(rows.map((r) => r.g));
show("cursor", sizes);
await pipeline(Readable.from(["7\tseven\n", "8\teight\n"]), await sql`COPY v (n, t) FROM STDIN`.writable());
let text = "";
for await (const chunk of await sql`COPY (SELECT n, t FROM v WHERE n > 6 ORDER BY n) TO STDOUT`.readable()) text += chunk;
show("copy", text);
show("enum arrays", await sql`UPDATE v SET ma = ${sql.array(["ok", "sad"])} WHERE id = 1 RETURNING ma`.catch((e) => [e.code, e.message]));
show("raw", (await sql`SELECT id, t FROM v WHERE id = 1`.raw()).map((r) => r.map((b) => b && b.toString())));
show("values", await sql`SELECT id, t FROM v WHERE id < 3 ORDER BY id`.values());
show("big", await sql`SELECT 9223372036854775807 AS x, 1e100::numeric AS y, 'NaN'::float8 AS z, 'infinity'::timestamptz::text AS w`);
await sql`DROP TABLE IF EXISTS nothing`;
show("notices", notices);
const reserved = await sql.reserve();
show("reserved", await reserved`SELECT current_database() IS NOT NULL AS ok`);
reserved.release();
await sql.end();
