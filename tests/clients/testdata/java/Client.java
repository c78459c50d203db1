// pgjdbc: types both ways, generated keys, batches, fetch sizes, savepoints, COPY, metadata.
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class Client {
    static Connection db;

    static void show(String title, ResultSet r, String... columns) throws SQLException {
        System.out.println(title);
        ResultSetMetaData m = r.getMetaData();
        List<String> rows = new ArrayList<>();
        while (r.next()) {
            StringBuilder b = new StringBuilder("  ");
            if (columns.length > 0) {
                for (String c : columns) b.append(c).append('=').append(r.getString(c)).append(' ');
            } else {
                for (int i = 1; i <= m.getColumnCount(); i++) b.append(r.getString(i)).append(" | ");
            }
            rows.add(b.toString());
        }
        rows.forEach(System.out::println);
        r.close();
    }

    static void run(String sql) throws SQLException {
        try (Statement s = db.createStatement()) { s.execute(sql); }
    }

    static void failing(String sql) throws SQLException {
        try { run(sql); System.out.println("no error: " + sql); }
        catch (PSQLException e) {
            ServerErrorMessage m = e.getServerErrorMessage();
            System.out.println(e.getSQLState() + " " + m.getMessage() + " | " + m.getDetail() + " | " + m.getPosition() + " | " + m.getSchema() + " | "
                + m.getTable() + " | " + m.getColumn() + " | " + m.getConstraint());
        }
    }

    static void types(String mode) throws SQLException {
        String insert = "INSERT INTO v (i2, i4, i8, n, f4, f8, t, vc, c, b, d, tm, ts, tt, u, bo, ia, ta, j, m, iv, bt) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?::int[],?::text[],?::jsonb,?::mood,?,?::bit(4))";
        for (int round = 0; round < 7 && !mode.equals("simple"); round++) { // the driver prepares a statement after five executions
            try (PreparedStatement s = db.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
                s.setShort(1, (short) -7); s.setInt(2, 1 << 30); s.setLong(3, 1L << 40); s.setBigDecimal(4, new BigDecimal("-12.340"));
                s.setFloat(5, 1.25f); s.setDouble(6, Double.MIN_VALUE); s.setString(7, "h\u00e9'\\\u20ac"); s.setString(8, "abc"); s.setString(9, "x");
                s.setBytes(10, new byte[] {0, -1}); s.setObject(11, LocalDate.of(2024, 2, 29)); s.setObject(12, LocalTime.of(1, 2, 3));
                s.setObject(13, LocalDateTime.of(1999, 12, 31, 23, 59, 59, 999000)); s.setObject(14, OffsetDateTime.of(2020, 1, 1, 1, 1, 1, 0, ZoneOffset.ofHours(2)));
                s.setObject(15, new UUID(1, 2)); s.setBoolean(16, true); 
                s.setArray(17, db.createArrayOf("int4", new Integer[] {1, null, 3}));
                s.setArray(18, db.createArrayOf("text", new String[] {"a", "q\"", null}));
                s.setString(19, "{\"b\": [1, 2], \"a\": null}"); s.setString(20, "ok");
                PGobject iv = new PGobject(); iv.setType("interval"); iv.setValue("1 mon 2 days 03:00:00"); s.setObject(21, iv); s.setString(22, "1010");
                System.out.print(s.executeUpdate());
                ResultSet k = s.getGeneratedKeys(); k.next(); System.out.println(" key " + k.getLong("id"));
            }
        }
        for (int round = 0; round < 7; round++) {
            try (PreparedStatement s = db.prepareStatement("SELECT * FROM v WHERE id = ?")) {
                s.setLong(1, 1);
                ResultSet r = s.executeQuery(); r.next();
                StringBuilder b = new StringBuilder(mode + " " + round + ": ");
                ResultSetMetaData m = r.getMetaData();
                for (int i = 1; i <= m.getColumnCount(); i++) {
                    Object o = r.getObject(i);
                    if (o instanceof byte[]) o = Arrays.toString((byte[]) o);
                    if (o instanceof java.sql.Array) o = Arrays.toString((Object[]) ((java.sql.Array) o).getArray());
                    b.append(m.getColumnName(i)).append('=').append(o).append(round == 0 ? "<" + m.getColumnTypeName(i) + "," + m.getColumnType(i) + "," + m.getPrecision(i) + "," + m.getScale(i) + "," + m.isNullable(i) + "," + m.isAutoIncrement(i) + ">" : "").append(' ');
                }
                System.out.println(b);
                System.out.println(r.getObject("d", LocalDate.class) + " " + r.getObject("tt", OffsetDateTime.class).toInstant() + " " + r.getObject("u", UUID.class) + " " + r.getTimestamp("ts"));
            }
        }
    }

    static void transactions() throws Exception {
        db.setAutoCommit(false);
        System.out.println(db.getTransactionIsolation());
        Savepoint sp = db.setSavepoint("One");
        run("INSERT INTO p VALUES (1, 'a')");
        db.rollback(sp);
        Savepoint un = db.setSavepoint();
        failing("SELECT 1/0");
        failing("SELECT 1");
        db.rollback(un);
        db.releaseSavepoint(sp);
        try (PreparedStatement s = db.prepareStatement("INSERT INTO p VALUES (?, ?)")) {
            for (int i = 0; i < 300; i++) { s.setInt(1, i); s.setString(2, "n" + i); s.addBatch(); }
            System.out.println("batch " + Arrays.stream(s.executeBatch()).sum());
            s.setInt(1, 1000); s.setString(2, "x"); s.addBatch();
            s.setInt(1, 5); s.setString(2, "dup"); s.addBatch();
            try { s.executeBatch(); } catch (BatchUpdateException e) { System.out.println(e.getSQLState() + " " + Arrays.toString(e.getUpdateCounts())); }
        }
        db.rollback();
        try (PreparedStatement s = db.prepareStatement("INSERT INTO p VALUES (?, ?) RETURNING id, name")) {
            for (int i = 0; i < 300; i++) { s.setInt(1, i); s.setString(2, "n" + i); s.execute(); }
        }
        db.commit();
        try (Statement s = db.createStatement(); Statement t = db.createStatement()) { // two cursors of one transaction
            s.setFetchSize(7); t.setFetchSize(50);
            ResultSet a = s.executeQuery("SELECT id, name FROM p ORDER BY id"), b = t.executeQuery("SELECT id FROM p ORDER BY id DESC");
            long sum = 0; int n = 0;
            while (a.next()) { sum += a.getInt(1); n++; if (b.next()) sum -= b.getInt(1); }
            System.out.println("cursors " + n + " " + sum);
            s.setMaxRows(5);
            ResultSet c = s.executeQuery("SELECT id FROM p"); n = 0;
            while (c.next()) n++;
            System.out.println("max rows " + n);
        }
        try (Statement s = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet r = s.executeQuery("SELECT id, name FROM p ORDER BY id");
            r.absolute(10); r.updateString("name", "changed"); r.updateRow();
            r.moveToInsertRow(); r.updateInt(1, 5000); r.updateString(2, "new"); r.insertRow();
            r.last(); System.out.println("scrolled " + r.getRow());
        }
        show("updated", db.createStatement().executeQuery("SELECT * FROM p WHERE name IN ('changed', 'new') ORDER BY id"));
        db.commit();
        db.setReadOnly(true);
        failing("DELETE FROM p");
        db.rollback();
        db.setReadOnly(false);
        db.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        show("level", db.createStatement().executeQuery("SHOW transaction_isolation"));
        db.rollback();
        db.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        db.setAutoCommit(true);
        try (Statement s = db.createStatement()) {
            boolean more = s.execute("SELECT 1; UPDATE p SET name = 'z' WHERE id < 3; SELECT 2, 3");
            do { System.out.println(more ? "rows" : "count " + s.getUpdateCount()); } while ((more = s.getMoreResults()) || s.getUpdateCount() != -1);
            s.setQueryTimeout(1);
            try { s.execute("SELECT pg_sleep(10)"); } catch (SQLException e) { System.out.println("timeout " + e.getSQLState()); }
        }
        try (Statement s = db.createStatement()) {
            s.execute("DROP TABLE IF EXISTS nothing");
            System.out.println(s.getWarnings().getSQLState() + " " + s.getWarnings().getMessage());
        }
    }

    static void copy() throws Exception {
        var c = db.unwrap(PGConnection.class).getCopyAPI();
        System.out.println("copied " + c.copyIn("COPY p (id, name) FROM STDIN WITH (FORMAT csv)", new StringReader("9001,a\n9002,\"b,c\"\n")));
        StringWriter w = new StringWriter();
        System.out.println(c.copyOut("COPY (SELECT id, name FROM p WHERE id > 9000 ORDER BY id) TO STDOUT", w) + " " + w);
        try { c.copyIn("COPY p FROM STDIN", new StringReader("x\ty\n")); } catch (SQLException e) { System.out.println(e.getSQLState()); }
    }

    static void metadata() throws SQLException {
        DatabaseMetaData m = db.getMetaData();
        System.out.println(m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion() + " " + m.getMaxConnections() + " " + m.getMaxColumnsInIndex() + " " + m.getMaxColumnNameLength()
            + " " + m.getUserName() + " " + m.supportsTransactions() + " " + m.getDefaultTransactionIsolation());
        show("schemas", m.getSchemas());
        show("table types", m.getTableTypes());
        show("tables", m.getTables(null, "public", "%", null), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS");
        show("system tables", m.getTables(null, "pg_catalog", "pg_cl%", null), "TABLE_NAME", "TABLE_TYPE");
        for (String t : List.of("v", "p", "child", "vw"))
            show("columns " + t, m.getColumns(null, "public", t, "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "REMARKS", "COLUMN_DEF", "CHAR_OCTET_LENGTH", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN");
        show("primary keys", m.getPrimaryKeys(null, "public", "child"));
        show("indexes", m.getIndexInfo(null, "public", "child", false, false), "NON_UNIQUE", "INDEX_NAME", "TYPE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC", "FILTER_CONDITION");
        show("imported", m.getImportedKeys(null, "public", "child"));
        show("exported", m.getExportedKeys(null, "public", "p"));
        show("cross", m.getCrossReference(null, "public", "p", null, "public", "child"));
        show("best row", m.getBestRowIdentifier(null, "public", "p", DatabaseMetaData.bestRowSession, true));
        show("version columns", m.getVersionColumns(null, "public", "p"));
        show("privileges", m.getTablePrivileges(null, "public", "p"));
        show("column privileges", m.getColumnPrivileges(null, "public", "p", "name"));
        show("functions", m.getFunctions(null, "public", "%"), "FUNCTION_NAME", "FUNCTION_TYPE", "REMARKS");
        show("function columns", m.getFunctionColumns(null, "public", "%", "%"), "FUNCTION_NAME", "COLUMN_NAME", "COLUMN_TYPE", "TYPE_NAME");
        show("procedures", m.getProcedures(null, "public", "%"));
        show("user types", m.getUDTs(null, "public", "%", null));
        show("catalogs", m.getCatalogs().getMetaData().getColumnCount() > 0 ? m.getSchemas(null, "pub%") : null);
        ResultSet types = m.getTypeInfo();
        int n = 0;
        while (types.next()) if (List.of("int4", "text", "numeric", "mood", "bigserial", "timestamptz").contains(types.getString("TYPE_NAME"))) { n++; System.out.println("  " + types.getString(1) + " " + types.getInt(2) + " " + types.getInt(3)); }
        System.out.println(n + " " + m.getSQLKeywords().length() + " " + m.getNumericFunctions().length());
        show("client info", m.getClientInfoProperties(), "NAME");
    }

    public static void main(String[] args) throws Exception {
        String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE") + "?user=" + System.getenv("PGUSER");
        db = DriverManager.getConnection(url + "&ApplicationName=suite");
        run("CREATE TYPE mood AS ENUM ('sad', 'ok')");
        run("CREATE TABLE v (id bigserial PRIMARY KEY, i2 smallint, i4 int, i8 bigint, n numeric(12,3), f4 real, f8 float8, t text, vc varchar(5), c char(4), b bytea, d date, tm time, ts timestamp, tt timestamptz, u uuid, bo boolean, ia int[], ta text[], j jsonb, m mood, iv interval, bt bit(4))");
        run("CREATE TABLE p (id int PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'none'); COMMENT ON TABLE p IS 'parents'; COMMENT ON COLUMN p.name IS 'their names'");
        run("CREATE TABLE child (a int, b int GENERATED ALWAYS AS IDENTITY, pid int REFERENCES p ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE, x numeric(5,2) CHECK (x > 0), y int GENERATED ALWAYS AS (a * 2) STORED, PRIMARY KEY (b, a))");
        run("CREATE INDEX child_x ON child (x DESC, lower('k' || a::text)) WHERE x < 5; CREATE UNIQUE INDEX child_u ON child (pid); CREATE VIEW vw AS SELECT id, name FROM p; CREATE FUNCTION twice(k int) RETURNS int LANGUAGE sql AS 'SELECT k * 2'");
        types("default");
        db.close();
        db = DriverManager.getConnection(url + "&preferQueryMode=simple");
        types("simple");
        db.close();
        db = DriverManager.getConnection(url + "&prepareThreshold=-1&reWriteBatchedInserts=true");
        run("TRUNCATE v RESTART IDENTITY");
        types("binary");
        failing("INSERT INTO p VALUES (1, NULL)"); failing("INSERT INTO child (a, pid) VALUES (1, 7)"); failing("INSERT INTO child (a, x) VALUES (1, -1)");
        failing("SELECT nope FROM p"); failing("SELECT * FROM nope"); failing("INSERT INTO child (b) VALUES (1)"); failing("SELECT 'x'::int"); failing("SELEC");
        transactions();
        try (PreparedStatement s = db.prepareStatement("SELECT * FROM p WHERE id = ?")) {
            for (int i = 0; i < 12; i++) {
                if (i == 7) run("ALTER TABLE p ADD COLUMN later int");
                s.setInt(1, i);
                ResultSet r = s.executeQuery(); r.next();
                System.out.print(r.getMetaData().getColumnCount() + " ");
            }
            System.out.println(s.getParameterMetaData().getParameterTypeName(1));
        }
        try (CallableStatement s = db.prepareCall("{? = call twice(?)}")) {
            s.registerOutParameter(1, Types.INTEGER); s.setInt(2, 21); s.execute();
            System.out.println("called " + s.getInt(1));
        }
        copy();
        metadata();
        db.setSchema("pg_catalog"); System.out.println(db.getSchema() + " " + db.isValid(2) + " " + db.getCatalog().length());
        db.close();
    }
}
