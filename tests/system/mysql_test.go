package system

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// mariaConn is a connection to a MariaDB for a test.
func mariaConn(t *testing.T, address string) driver.Conn {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = u.User.Username(), "tcp", u.Host, strings.Trim(u.Path, "/"), true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// mariaRows runs a statement and returns its rows as text.
func mariaRows(t *testing.T, conn driver.Conn, sql string) string {
	t.Helper()
	rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), sql, nil)
	if err != nil {
		return "error"
	}
	defer rows.Close()
	var b strings.Builder
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); err == io.EOF {
			return b.String()
		} else if err != nil {
			return "error"
		}
		for i, v := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			switch x := v.(type) {
			case nil:
				b.WriteString("NULL")
			case []byte:
				b.Write(x)
			default:
				fmt.Fprint(&b, x)
			}
		}
		b.WriteByte('\n')
	}
}

// herdRows does so on herd.
func herdRows(t *testing.T, conn *pgconn.PgConn, sql string) string {
	t.Helper()
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			for i, v := range row {
				if i > 0 {
					b.WriteByte('|')
				}
				if v == nil {
					b.WriteString("NULL")
				} else {
					b.Write(v)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func herdConn(t *testing.T, address string) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// What MySQL's dialect supports gives MariaDB's answer. Statements without rows prepare for those behind them.
const mysqlStatements = `
SELECT 5/2, 7/3, 1/0, 7 DIV 2, -7 DIV 2, 7 % 3, -7 % 3, 5 % 0, 1.5/2, 2147483647 + 1
SELECT 2 = 2, 1 > 2, NULL = 1, NOT 0, 1 AND 0, 1 OR NULL, 1 XOR 1, NULL <=> NULL, 1 <=> NULL
SELECT 'a' = 'A', 'a' = 'a ', 'a' < 'B', 'é' = 'E', 'ß' = 's', 'Ä' = 'a', '_' > 'Z', 'abc' LIKE 'A%', 'a_c' LIKE 'a\_c', 'x' NOT LIKE 'X'
SELECT IFNULL(NULL, 3), IF(0, 'y', 'n'), IF('1x', 'y', 'n'), NULLIF(1, 1), NULLIF('a', 'A'), COALESCE(NULL, 'z')
SELECT CONCAT('a', 1, 2.50), CONCAT('a', NULL), CONCAT_WS(',', 'a', NULL, 'b'), LENGTH('é'), CHAR_LENGTH('é'), UPPER('é'), REVERSE('abc')
SELECT SUBSTRING('hello', 2), SUBSTRING('hello', 2, 3), LEFT('hello', 2), RIGHT('hello', 2), LOCATE('L', 'hello'), INSTR('hello', 'O'), TRIM('  a '), REPLACE('aAa', 'a', 'b')
SELECT ROUND(2.5), ROUND(-2.5), ROUND(2.345, 2), ROUND(7), CEIL(1.2), FLOOR(-1.2), CEIL(3), ABS(-4), SIGN(-3), MOD(9, 4), TRUNCATE(2.789, 1)
SELECT 3 IN (1, 2, 3), 3 NOT IN (1, NULL), 'a' IN ('A', 'b'), 2 BETWEEN 1 AND 3, 'b' BETWEEN 'A' AND 'C', 1 IS TRUE, NULL IS NOT TRUE, ISNULL(NULL)
SELECT CASE 'a' WHEN 'A' THEN 1 ELSE 2 END, CASE WHEN 0 THEN 1 WHEN 2 THEN 3 END
SELECT YEAR('2024-02-29'), MONTH('2024-02-29 10:11:12'), DAY('2024-02-29'), HOUR('2024-02-29 10:11:12'), DATEDIFF('2024-03-01', '2024-02-28'), DATE('2024-02-29 10:11:12')
SELECT DATE_FORMAT('2024-02-09 08:05:03', '%Y-%m-%d %H:%i:%s'), DATE_FORMAT('2024-02-09 18:05:03', 'at %e.%c.%y, %W %M %T')
SELECT CAST('12' AS SIGNED), CAST(1.567 AS DECIMAL(5,2)), CAST(12 AS CHAR), CAST('2024-01-02' AS DATE), CAST('abc' AS CHAR(2)), CAST('2024-01-02 03:04:05' AS DATETIME)
SELECT DATE_ADD(CAST('2024-01-31 10:00:00' AS DATETIME), INTERVAL 1 MONTH), DATE_SUB(CAST('2024-01-31 10:00:00' AS DATETIME), INTERVAL 36 HOUR)
CREATE TABLE t (id int unsigned NOT NULL AUTO_INCREMENT, Name varchar(20), n int, price decimal(8,2), flag tinyint(1) DEFAULT 0, kind enum('lo','hi') DEFAULT 'lo', PRIMARY KEY (id), UNIQUE KEY name_u (name), KEY k (n, price))
INSERT INTO t (name, n, price) VALUES ('ann', 1, 1.25), ('Bob', 2, NULL), ('cid', NULL, 3)
SELECT * FROM t ORDER BY id
SELECT name FROM t ORDER BY Name DESC
SELECT n FROM t ORDER BY n
SELECT n FROM t ORDER BY n DESC LIMIT 1, 1
SELECT id FROM t WHERE NAME = 'ANN' OR name LIKE 'b%' ORDER BY 1
INSERT INTO t (id, name, n) VALUES (1, 'other', 7) ON DUPLICATE KEY UPDATE n = n + VALUES(n), price = 9
INSERT INTO t (name, n) VALUES ('ann', 5) ON DUPLICATE KEY UPDATE n = VALUES(n)
SELECT id, name, n, price FROM t ORDER BY id
INSERT IGNORE INTO t (id, name) VALUES (1, 'x'), (9, 'new')
REPLACE INTO t (id, name) VALUES (2, 'Bea')
SELECT id, name, n, price, flag FROM t ORDER BY id
UPDATE t SET n = 4, flag = 1 WHERE id IN (2, 3)
DELETE FROM t WHERE id = 9
SELECT COUNT(*), COUNT(n), SUM(n), AVG(n), AVG(price), MIN(n), MAX(price), SUM(flag) FROM t
SELECT flag, COUNT(*) AS Total FROM t GROUP BY flag HAVING total > 0 ORDER BY Total, flag
SELECT GROUP_CONCAT(name ORDER BY name SEPARATOR ';') FROM t
SELECT COUNT(DISTINCT n), SUM(n) OVER (ORDER BY id) FROM t WHERE n IS NOT NULL GROUP BY id ORDER BY id
SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.n = b.n AND a.id <> b.id ORDER BY a.id, b.id
SELECT id FROM t WHERE n = (SELECT MAX(n) FROM t) AND EXISTS (SELECT 1 FROM t x WHERE x.id = t.id) ORDER BY id
SELECT id FROM t WHERE flag UNION ALL SELECT 100 ORDER BY id
SELECT id, name = 'ANN' FROM t WHERE id NOT IN (SELECT id FROM t WHERE flag) ORDER BY id
SELECT name FROM t WHERE id < 4 UNION ALL SELECT 'b' ORDER BY NAME DESC LIMIT 2
SELECT DISTINCT n FROM t ORDER BY n
SELECT name, id FROM t ORDER BY 1 DESC, 2
SELECT id, n + 1 AS m FROM t WHERE n IS NOT NULL ORDER BY m * -1, id
SELECT x.Total FROM (SELECT n + 1 AS Total FROM t WHERE id = 1) AS x
WITH q AS (SELECT id FROM t WHERE id < 3) SELECT COUNT(*) FROM q
CREATE VIEW v AS SELECT id, name FROM t WHERE name = 'ANN' OR n / 2 > 1.5
SELECT * FROM v ORDER BY id
CREATE TABLE c (a varchar(5), CHECK (a <> 'X'))
INSERT INTO c VALUES ('x')
INSERT INTO c VALUES ('y')
INSERT INTO t SET name = 'set', kind = 'hi'
SELECT kind FROM t WHERE name = 'SET'
INSERT INTO t (kind) VALUES ('no such')
INSERT INTO t (flag) VALUES (300)
INSERT INTO t (id) VALUES (-1)
`

func TestMySQLAnswers(t *testing.T) {
	maria := mariaConn(t, peer.MariaDB(t))
	herd := herdConn(t, peer.StartHerdFor(t).URL)
	herdRows(t, herd, "SET herd.dialect = 'mysql'")
	mariaRows(t, maria, "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci")
	mariaRows(t, maria, "ALTER DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	for sql := range strings.Lines(strings.TrimSpace(mysqlStatements)) {
		sql = strings.TrimSpace(sql)
		want, got := mariaRows(t, maria, sql), herdRows(t, herd, sql)
		if want == "error" && strings.HasPrefix(got, "error") {
			continue
		}
		if got != want {
			t.Errorf("%s\nherd\n%s\nMariaDB\n%s", sql, got, want)
		}
	}
}

// An UPDATE that changes a row sets a column declared ON UPDATE CURRENT_TIMESTAMP, one that changes nothing does not.
func TestOnUpdateCurrentTimestamp(t *testing.T) {
	maria := mariaConn(t, peer.MariaDB(t))
	herd := herdConn(t, peer.StartHerdFor(t).URL)
	herdRows(t, herd, "SET herd.dialect = 'mysql'")
	for _, sql := range []string{
		"CREATE TABLE u (id int PRIMARY KEY, n int, at datetime DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP)",
		"INSERT INTO u (id, n) VALUES (1, 1), (2, 2), (3, NULL), (4, 4)",
		"UPDATE u SET n = 1 WHERE id = 1",
		"UPDATE u SET n = 5 WHERE id IN (2, 3)",
		"UPDATE u SET n = 6, at = '2002-02-02 00:00:00' WHERE id = 4",
		"SELECT id, n, at < '2001-02-01', at > '2020-01-01' FROM u ORDER BY id",
		"INSERT INTO u (id, n) VALUES (1, 9), (4, 9) ON DUPLICATE KEY UPDATE n = VALUES(n)",
		"SELECT id, n, at > '2020-01-01' FROM u ORDER BY id",
	} {
		if want, got := mariaRows(t, maria, sql), herdRows(t, herd, sql); got != want {
			t.Errorf("%s\nherd\n%s\nMariaDB\n%s", sql, got, want)
		}
	}
}

// A dump of a MariaDB, imported, gives what was dumped: rows, the next number of AUTO_INCREMENT, keys.
func TestImportMariaDBDump(t *testing.T) {
	mysqldump := Program(t, "mysqldump")
	address := peer.MariaDB(t)
	maria := mariaConn(t, address)
	for _, sql := range []string{
		"ALTER DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
		"CREATE TABLE parents (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL, kind enum('a','it''s'), tags set('x','y'), UNIQUE KEY (name)) COMMENT='the parents'",
		`CREATE TABLE children (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, parent bigint unsigned, note longtext, data varbinary(40), price decimal(9,3), r double, b bit(5),
			d date, at datetime(6), t time, y year, flag tinyint(1) DEFAULT 1 COMMENT 'a flag', upd timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
			KEY parent_k (parent), KEY note_k (note(10)), CONSTRAINT c_p FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE)`,
		"INSERT INTO parents (name, kind, tags) VALUES ('O''Hara; \\\\ \\n\\t', 'it''s', 'x,y'), ('é漢🐘', 'a', ''), ('', NULL, NULL)",
		"INSERT INTO children (parent, note, data, price, r, b, d, at, t, y) SELECT 1 + seq % 3, IF(seq % 7, CONCAT('n', seq, CHAR(10), '\\\\.'), NULL), UNHEX(SHA1(seq)), seq / 8, 1 / seq, seq % 32, '2020-02-29', '2024-01-02 03:04:05.123456', '23:59:59', 1999 FROM seq_1_to_5000",
		"DELETE FROM children WHERE id > 4990",
	} {
		if got := mariaRows(t, maria, sql); got != "" {
			t.Fatalf("%s: %s", sql, got)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := exec.Command(mysqldump, "--no-defaults", "-h", "127.0.0.1", "-P", u.Port(), "-u", "root", "test").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dump.sql")
	if err := os.WriteFile(file, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	h := peer.HerdFor(t)
	server, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for range 2 { // the second time over the first's tables
		if out, err := exec.Command(h.Binary, "import", file, "--url", server.URL).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	conn := herdConn(t, server.URL)
	for _, q := range [][2]string{
		{"SELECT id, name, kind, tags FROM parents ORDER BY id", ""},
		{"SELECT id, parent, note, LOWER(HEX(data)), price, LPAD(BIN(b), 5, '0'), d, at, t, y, flag, upd IS NULL FROM children ORDER BY id",
			"SELECT id, parent, note, encode(data, 'hex'), price, b, d, at, t, y, flag, (upd IS NULL)::int FROM children ORDER BY id"},
	} {
		if q[1] == "" {
			q[1] = q[0]
		}
		if want, got := mariaRows(t, maria, q[0]), herdRows(t, conn, q[1]); got != want {
			t.Errorf("%s\nherd\n%.2000s\nMariaDB\n%.2000s", q[0], got, want)
		}
	}
	for _, c := range [][2]string{
		{"INSERT INTO children (parent) VALUES (1) RETURNING id > 4990", "t\n"},
		{"SELECT count(*) FROM pg_indexes WHERE tablename = 'children'", "3\n"},
		{"DELETE FROM parents WHERE id = 1", ""},
		{"SELECT count(*) FROM children WHERE parent = 1", "0\n"},
		{"SELECT obj_description('parents'::regclass), col_description('children'::regclass, 12)", "the parents|a flag\n"},
		{"SELECT conname, confdeltype FROM pg_constraint WHERE contype = 'f' AND conrelid = 'children'::regclass", "c_p|c\n"},
	} {
		if got := herdRows(t, conn, c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// A plain dump of pg_dump, with COPY blocks and gzip'ed, is loaded; an error says its line.
func TestImportPostgresDump(t *testing.T) {
	const text = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET client_encoding = 'UTF8';\n" +
		"SELECT pg_catalog.set_config('search_path', '', false);\nCREATE TABLE public.t (\n    id integer NOT NULL,\n    s text\n);\n\n" +
		"COPY public.t (id, s) FROM stdin;\n1\ta;b\n2\t\\N\n3\tx\\ty'\n\\.\n\n\nALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_pkey PRIMARY KEY (id);\n\\unrestrict abc\n"
	h := peer.HerdFor(t)
	server, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(t.TempDir(), "dump.sql.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(h.Binary, "import", file, "--url", server.URL).CombinedOutput(); err != nil || !strings.Contains(string(out), "3 rows") {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := herdRows(t, herdConn(t, server.URL), "SELECT id, s FROM t ORDER BY id"), "1|a;b\n2|NULL\n3|x\ty'\n"; got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
	out, err := exec.Command(h.Binary, "import", file, "--url", server.URL).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "line 9: ") || !strings.Contains(string(out), "already exists") {
		t.Errorf("%v: %s", err, out)
	}
}
