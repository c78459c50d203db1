// TypeORM: synchronize twice (the second time nothing is to be done), migrations, repositories, query builder, schema changes.
import "reflect-metadata";
import { DataSource, EntitySchema, In, Like, MoreThan, QueryFailedError } from "typeorm";

const show = (title, value) => console.log(title, JSON.stringify(value));
const url = process.env.DATABASE_URL;
const category = new EntitySchema({ name: "Category", columns: { id: { type: Number, primary: true, generated: "increment" }, name: { type: "varchar", length: 30, unique: true } } });
const post = (more = {}) => new EntitySchema({
  name: "Post", tableName: "post", indices: [{ name: "by_title", columns: ["title"] }], uniques: [{ name: "one", columns: ["title", "rank"] }], checks: [{ name: "positive", expression: '"rank" > 0' }],
  columns: {
    id: { type: "uuid", primary: true, generated: "uuid" }, title: { type: "varchar", length: 50, comment: "shown first" }, rank: { type: "int", default: 1 }, price: { type: "numeric", precision: 10, scale: 2, nullable: true },
    kind: { type: "enum", enum: ["a", "b"], default: "a", enumName: "post_kind" }, tags: { type: "text", array: true, default: "{}" }, data: { type: "jsonb", nullable: true }, at: { type: "timestamptz", createDate: true },
    changed: { type: "timestamp", updateDate: true, precision: 3 }, version: { type: Number, version: true }, gone: { type: "timestamptz", deleteDate: true, nullable: true }, raw: { type: "bytea", nullable: true }, big: { type: "bigint", default: 0 }, ...more,
  },
  relations: { categories: { type: "many-to-many", target: "Category", joinTable: true, cascade: true }, main: { type: "many-to-one", target: "Category", nullable: true, onDelete: "SET NULL" } },
});
const open = async (entities, logs) => new DataSource({ type: "postgres", url, entities, synchronize: false, uuidExtension: "pgcrypto", installExtensions: false, logging: logs ? ["schema"] : false }).initialize();
const pending = async (ds) => (await ds.driver.createSchemaBuilder().log()).upQueries.map((q) => q.query.replace(/(PK|FK|UQ|IDX|REL)_[0-9a-f]+/g, "$1"));

let ds = await open([category, post()]);
show("version", ds.driver.version.split(" ")[0].length > 0);
show("first", await pending(ds));
await ds.synchronize();
show("second", await pending(ds));
const posts = ds.getRepository("Post"), categories = ds.getRepository("Category");
const [x, y] = await categories.save([{ name: "x" }, { name: "y" }]);
await posts.save([{ title: "one", price: "1.50", tags: ["p", "q"], data: { k: [1] }, categories: [x, y], main: x, raw: Buffer.from([1, 2]) }, { title: "two", rank: 2, kind: "b", big: "9007199254740993", categories: [y] }]);
const plain = (p) => ({ ...p, id: p.id.length, at: p.at instanceof Date, changed: p.changed instanceof Date });
show("found", (await posts.find({ relations: { categories: true, main: true }, order: { title: "ASC", categories: { name: "ASC" } } })).map(plain));
const one = await posts.findOneBy({ title: "one" });
one.price = "2.75";
show("saved", (await posts.save(one)).version);
show("counts", [await posts.countBy({ rank: MoreThan(1) }), await posts.countBy({ title: In(["one", "three"]) }), await posts.countBy({ title: Like("t%") })]);
show("builder", await posts.createQueryBuilder("p").leftJoin("p.categories", "c").select("p.title", "title").addSelect("COUNT(c.id)", "n").groupBy("p.title").having("COUNT(c.id) > :m", { m: 0 }).orderBy("p.title").getRawMany());
show("paged", (await posts.createQueryBuilder("p").leftJoinAndSelect("p.categories", "c").orderBy("p.title").skip(1).take(1).getMany()).map((p) => p.title));
show("upsert", (await categories.upsert([{ name: "x" }, { name: "z" }], ["name"])).identifiers.length);
show("updated", [(await posts.increment({ title: "one" }, "rank", 5)).affected, (await posts.update({ title: "two" }, { kind: "a" })).affected, (await posts.softDelete({ title: "two" })).affected, await posts.count(), (await posts.restore({ title: "two" })).affected]);
await categories.save({ name: "x" }).catch((e) => show("duplicate", [e instanceof QueryFailedError, e.driverError.code, e.driverError.detail]));
await ds.transaction("SERIALIZABLE", async (m) => {
  await m.getRepository("Category").save({ name: "in" });
  await m.transaction(async (n) => { await n.query("INSERT INTO category (name) VALUES ('x')"); }).catch((e) => show("inner", e.driverError.code));
});
show("names", (await categories.find({ order: { name: "ASC" } })).map((c) => c.name));
show("locked", (await ds.transaction((m) => m.getRepository("Post").findOne({ where: { title: "one" }, lock: { mode: "pessimistic_write", onLocked: "skip_locked" } }))).title);
const stream = await posts.createQueryBuilder("p").select("p.title", "t").orderBy("p.title").stream().catch((e) => null);
if (stream) for await (const r of stream) show("streamed", r.t);
await ds.destroy();

ds = await open([category, post({ added: { type: "int", nullable: true }, price: { type: "numeric", precision: 12, scale: 3, nullable: true }, kind: { type: "enum", enum: ["a", "b", "c"], default: "b", enumName: "post_kind" }, title: { type: "varchar", length: 50, comment: "changed" } })]);
show("changes", await pending(ds));
await ds.synchronize();
show("then", await pending(ds));
show("kept", (await ds.getRepository("Post").find({ order: { title: "ASC" } })).map((p) => [p.title, p.kind, p.added]));
const runner = ds.createQueryRunner();
const table = await runner.getTable("post");
show("table", [table.columns.map((c) => [c.name, c.type, c.length, c.isNullable, c.isPrimary, c.isUnique, c.isArray, c.enum, c.comment, c.precision, c.scale]).sort(), table.indices.map((i) => [i.name.startsWith("by_") ? i.name : "", i.columnNames, i.isUnique]), table.foreignKeys.map((k) => [k.columnNames, k.referencedTableName, k.onDelete]), table.checks.map((c) => c.expression)]);
show("schemas", [await runner.hasTable("post"), await runner.hasColumn("post", "added"), await runner.getCurrentSchema(), (await runner.getSchemas()).length]);
await runner.release();
await ds.dropDatabase();
show("left", await ds.query("SELECT count(*)::int AS n FROM information_schema.tables WHERE table_schema = 'public'"));
await ds.destroy();
