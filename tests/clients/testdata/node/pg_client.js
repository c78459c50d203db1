// node-postgres: simple and prepared queries, types, cursors, COPY, errors, a pool with queued queries, cancel.
import pg from "pg";
import Cursor from "pg-cursor";
import copyStreams from "pg-copy-streams";
import { pipeline } from "node:stream/promises";
import { Readable, Writable } from "node:stream";

const { Client, Pool } = pg;
const show = (title, value) => console.log(title, JSON.stringify(value));
const db = new Client({ connectionString: process.env.DATABASE_URL });
const notices = [];
db.on("notice", (n) => notices.push([n.severity, n.code, n.message]));
await db.connect();
await db.query(`CREATE TYPE mood AS ENUM ('sad', 'ok');
  CREATE TABLE v (id serial PRIMARY KEY, i2 smallint, i4 int, i8 bigint, n numeric(10,2), f4 real, f8 float8, t text, c char(3), b bytea, d date, ts timestamp,
    tt timestamptz, iv interval, u uuid, j json, jb jsonb, bo boolean, ia int[], ta text[], m mood, ma mood[], o oid)`);
const at = new Date(Date.UTC(2020, 1, 29, 1, 2, 3, 456));
const args = [-1, 2, "9007199254740993", "1.50", 1.5, 1e300, "h\u00e9'\"\\", "a", Buffer.from([0, 255]), "2020-02-29", "2020-02-29 01:02:03", at, "1 day 02:00:00",
  "00000000-0000-0000-0000-000000000001", { a: [1, null] }, { b: { c: true } }, false, [1, null, 3], ["x", 'y"', null], "ok", ["sad", "ok"], 42];
const insert = `INSERT INTO v (i2,i4,i8,n,f4,f8,t,c,b,d,ts,tt,iv,u,j,jb,bo,ia,ta,m,ma,o) VALUES (${args.map((_, i) => "$" + (i + 1)).join(",")}) RETURNING *`;
const r = await db.query(insert, args);
show("insert", [r.command, r.rowCount, r.rows[0], r.fields.map((f) => [f.name, f.dataTypeID < 16384 ? f.dataTypeID : "own", f.dataTypeSize, f.dataTypeModifier, f.format])]);
for (let i = 0; i < 3; i++) {
  const p = await db.query({ name: "by-id", text: "SELECT id, t, tt, $2::int + 1 AS x FROM v WHERE id = $1", values: [1, i] });
  show("prepared", p.rows);
}
show("array mode", (await db.query({ text: "SELECT 1 AS a, 2 AS a, NULL AS b", rowMode: "array" })).rows);
show("several", (await db.query("SELECT 1 AS a; UPDATE v SET i2 = 5; SELECT 2 AS b, 3 AS c")).map((x) => [x.command, x.rowCount, x.rows]));
show("binary", (await db.query({ text: "SELECT i2, i4, f4, f8, bo, t, b FROM v", binary: true })).rows);

for (const [sql, values] of [["INSERT INTO v (id) VALUES (1)"], ["SELECT nope FROM v"], ["SELECT 1/$1::int", [0]], ["SELECT $1::int", ["x"]], ["SELECT"], [""], ["SELEC 1"],
  ["INSERT INTO v (c) VALUES ($1)", ["long"]], ["SELECT $1", []], ["SELECT $1::mood", ["bad"]], ["CREATE TABLE v ()"], ["SELECT 1; SELECT 1/0; SELECT 2"]]) {
  try {
    const x = await db.query(sql, values);
    show(sql, x.rows);
  } catch (e) {
    show(sql, [e.name, e.severity, e.code, e.message, e.detail, e.position, e.schema, e.table, e.column, e.constraint]);
  }
}
await db.query("BEGIN");
await db.query("INSERT INTO v (i4) VALUES (100)");
await db.query("SELECT 1/0").catch((e) => show("in a block", e.code));
await db.query("SELECT 1").catch((e) => show("after it", e.code));
show("commit", (await db.query("COMMIT")).command);
show("rows", (await db.query("SELECT count(*) FROM v WHERE i4 = 100")).rows);

const cursor = db.query(new Cursor("SELECT g FROM generate_series(1, $1::int) g", [250]));
let sum = 0, reads = 0;
for (let rows; (rows = await cursor.read(100)).length; reads++) sum += rows.reduce((a, x) => a + x.g, 0);
show("cursor", [reads, sum]);
await cursor.close();

const chunks = [];
await pipeline(Readable.from(["1\tone\n", "2\t\\N\n", "3\tthr"]).pipe(new (await import("node:stream")).PassThrough()), db.query(copyStreams.from("COPY v (i4, t) FROM STDIN")));
await pipeline(db.query(copyStreams.to("COPY (SELECT i4, t FROM v WHERE id > 2 ORDER BY id) TO STDOUT WITH CSV")), new Writable({ write(c, _, done) { chunks.push(c); done(); } }));
show("copy", Buffer.concat(chunks).toString());
await db.query("DROP TABLE IF EXISTS nothing");
show("notices", notices);

process.noDeprecation = true; // queries that wait for each other are what is tested
const queued = await Promise.all([1, 2, 3, 4, 5].map((i) => db.query("SELECT $1::int AS i", [i])));
show("queued", queued.map((q) => q.rows[0].i));
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 3 });
const all = await Promise.all(Array.from({ length: 20 }, (_, i) => pool.query("SELECT $1::int * 2 AS i", [i])));
show("pool", all.map((q) => q.rows[0].i));
const victim = await pool.connect();
const pid = (await victim.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
const sleeping = victim.query("SELECT pg_sleep(20)").catch((e) => e.code);
await new Promise((done) => setTimeout(done, 200));
await pool.query("SELECT pg_cancel_backend($1)", [pid]);
show("cancelled", await sleeping);
victim.release();
await pool.end();
const slow = new Client({ connectionString: process.env.DATABASE_URL, statement_timeout: 100, application_name: "suite" });
await slow.connect();
show("timeout", await slow.query("SELECT pg_sleep(5)").catch((e) => e.code));
show("name", (await slow.query("SELECT current_setting('application_name') AS n")).rows);
await slow.end();
await db.end();
