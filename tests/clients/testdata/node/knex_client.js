// Knex: migrations with their lock table, schema builder, queries, transactions, introspection.
import knexFactory from "knex";

const knex = knexFactory({ client: "pg", connection: process.env.DATABASE_URL, pool: { min: 1, max: 4 } });
const show = (title, value) => console.log(title, JSON.stringify(value));
class Source {
  getMigrations() { return Promise.resolve(["one", "two"]); }
  getMigrationName(m) { return m; }
  getMigration(m) {
    return {
      one: {
        up: (k) => k.schema.createTable("users", (t) => {
          t.increments("id"); t.string("name", 40).notNullable().unique(); t.enu("role", ["admin", "user"], { useNative: true, enumName: "role" }).defaultTo("user");
          t.timestamps(true, true); t.jsonb("data"); t.decimal("money", 8, 2); t.uuid("key").defaultTo(k.raw("gen_random_uuid()")); t.boolean("ok").defaultTo(true);
        }).createTable("posts", (t) => {
          t.bigIncrements("id"); t.integer("user_id").references("users.id").onDelete("CASCADE").index(); t.text("title").comment("what it is called"); t.specificType("tags", "text[]");
          t.check("?? <> ''", ["title"]); t.index(["title", "user_id"], "by_title"); t.binary("raw"); t.date("day"); t.float("f"); t.time("at");
        }),
        down: (k) => k.schema.dropTable("posts").dropTable("users"),
      },
      two: {
        up: async (k) => {
          await k.schema.alterTable("users", (t) => { t.integer("age").defaultTo(0); t.renameColumn("money", "cash"); t.dropColumn("key"); t.string("name", 80).notNullable().alter(); t.setNullable("name"); t.dropNullable("name"); });
          await k.schema.createViewOrReplace("names", (v) => { v.columns(["n"]); v.as(k("users").select("name")); });
          await k.schema.createSchemaIfNotExists("extra");
          await k.schema.withSchema("extra").createTable("things", (t) => { t.integer("a"); t.integer("b"); t.primary(["a", "b"]); });
        },
        down: async (k) => { await k.schema.dropSchema("extra", true); await k.schema.dropView("names"); },
      },
    }[m];
  }
}
const migrationSource = new Source();
show("migrated", await knex.migrate.latest({ migrationSource }));
show("again", await knex.migrate.latest({ migrationSource }));
show("status", [await knex.migrate.status({ migrationSource }), await knex.migrate.currentVersion({ migrationSource })]);
show("ids", await knex("users").insert([{ name: "Ann", data: { a: 1 }, cash: 1.5 }, { name: "Bob", role: "admin" }]).returning(["id", "name", "role", "cash", "data"]));
show("conflict", await knex("users").insert({ name: "Ann", age: 7 }).onConflict("name").merge(["age"]).returning(["name", "age"]));
show("ignored", await knex("users").insert({ name: "Ann" }).onConflict("name").ignore().returning("id"));
await knex.batchInsert("posts", Array.from({ length: 50 }, (_, i) => ({ user_id: 1 + (i % 2), title: "t" + i, tags: ["x", "y" + i], day: "2020-01-01", f: i / 2 })), 20);
show("joined", await knex("users as u").leftJoin("posts as p", "p.user_id", "u.id").groupBy("u.name").select("u.name").count("p.id as n").sum("p.f as s").orderBy("u.name"));
show("where", await knex("posts").where("title", "like", "t1%").andWhere((q) => q.where("f", ">", 6).orWhereIn("id", [1, 2])).whereNotNull("tags").orderBy("id").limit(3).offset(1).pluck("title"));
show("json", await knex("users").whereJsonPath("data", "$.a", "=", 1).select("name"));
show("with", await knex.with("big", knex("posts").where("f", ">", 20)).from("big").count());
show("window", await knex("posts").select("title").rowNumber("n", (q) => q.partitionBy("user_id").orderBy("id")).where("id", "<", 5).orderBy("id"));
show("union", await knex("users").select("name as x").union([knex("posts").where("id", "<", 3).select("title as x")]).orderBy("x"));
show("paged", await knex("posts").first("title").orderBy("id", "desc"));
show("counts", [await knex("posts").where("id", ">", 40).update({ title: "new" }), await knex("posts").where("id", ">", 45).del(), await knex("posts").increment("f", 1)]);
await knex.transaction(async (t) => {
  await t("users").insert({ name: "Cid" });
  await t.transaction(async (n) => { await n("users").insert({ name: "Dee" }); throw new Error("no"); }).catch((e) => show("nested", e.message));
  show("locked", await t("users").where("name", "Cid").forUpdate().skipLocked().select("name"));
});
await knex.transaction(async (t) => { await t("users").insert({ name: "Eve" }); await t("users").insert({ name: "Ann" }); }).catch((e) => show("failed", [e.code, e.constraint]));
show("names", await knex("names").orderBy("n").pluck("n"));
show("info", [await knex.schema.hasTable("users"), await knex.schema.hasColumn("users", "age"), await knex.schema.hasTable("nope"), await knex("users").columnInfo()]);
show("raw", (await knex.raw("SELECT ?::int AS a, ?? FROM users WHERE name = :n OR name = ? ORDER BY id".replace(":n", "?"), [5, "name", "Ann", "Bob"])).rows);
show("rolled back", await knex.migrate.rollback({ migrationSource }, true));
show("tables", await knex("information_schema.tables").where("table_schema", "public").orderBy("table_name").pluck("table_name"));
await knex.destroy();
