package mysql

import (
	"reflect"
	"testing"

	"herd/sql/ast"
	"herd/sql/postgres"
	"herd/sql/sqlerr"
)

// clearLocs sets every place in a tree to NoPos, so that trees of different texts compare.
func clearLocs(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearLocs(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearLocs(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ast.Loc]() && v.CanSet() {
			v.Set(reflect.ValueOf(ast.At(ast.NoPos)))
			return
		}
		for i := range v.NumField() {
			clearLocs(v.Field(i))
		}
	}
}

func tree(t *testing.T, list []postgres.Statement, err error, text string) []ast.Stmt {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out []ast.Stmt
	for i := range list {
		clearLocs(reflect.ValueOf(&list[i].Stmt))
		out = append(out, list[i].Stmt)
	}
	return out
}

// TestPairs: equal meaning gives an equal tree in the two front ends.
func TestPairs(t *testing.T) {
	for _, c := range []struct{ mysql, postgres string }{
		{"BEGIN", "BEGIN"},
		{"COMMIT", "COMMIT"},
		{"ROLLBACK TO SAVEPOINT `a`", "ROLLBACK TO SAVEPOINT a"},
		{"DROP TABLE IF EXISTS `A`, b.c", "DROP TABLE IF EXISTS a, b.c"},
		{"TRUNCATE t", "TRUNCATE t RESTART IDENTITY"},
		{"CREATE DATABASE IF NOT EXISTS `d` CHARACTER SET utf8mb4", "CREATE SCHEMA IF NOT EXISTS d"},
		{"DROP DATABASE d", "DROP SCHEMA d CASCADE"},
		{"RENAME TABLE a TO b, c TO d", "ALTER TABLE a RENAME TO b; ALTER TABLE c RENAME TO d"},
		{"ALTER TABLE t DROP COLUMN c, DROP FOREIGN KEY `F`", "ALTER TABLE t DROP COLUMN c, DROP CONSTRAINT f"},
		{"DROP INDEX `K` ON t", "DROP INDEX t_k"},
		{"CREATE INDEX k ON t (a, b DESC)", "CREATE INDEX t_k ON t (a, b DESC)"},
		{"INSERT INTO t (a, `B`) VALUES (1, 'x'), (-2, NULL), (1.50, DEFAULT)", "INSERT INTO t (a, b) VALUES (1, 'x'), (-2, NULL), (1.50, DEFAULT)"},
		{"INSERT IGNORE INTO t VALUES (1)", "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"},
		{"DELETE FROM t WHERE a = 1 AND b IS NULL", "DELETE FROM t WHERE a OPERATOR(mysql.=) 1 AND b IS NULL"},
		{"UPDATE t SET a = ?, b = ? WHERE c < ?", "UPDATE t SET a = $1, b = $2 WHERE c OPERATOR(mysql.<) $3"},
		{"UPSERT INTO t (k) VALUES (1)", ""},
		{"CREATE TABLESPACE 'Ts'", "CREATE DATABASE ts"},
		{"EXECUTE CREATETABLESPACE 'Ts', 'expectedreplicacount:2', 'wait:1000', 'replica:n1,n2'", "CREATE DATABASE ts replicas '2' nodes 'n1,n2'"},
		{"EXECUTE ALTERTABLESPACE 'ts','leader:n2','maxleaderinactivitytime:2000'", "ALTER DATABASE ts WITH (leader 'n2', leader_timeout '2000')"},
		{"EXECUTE RENAMETABLE 'ts', 'a', 'b'", "ALTER TABLE a RENAME TO b"},
		{"SET NAMES utf8mb4", ""},
		{"LOCK TABLES t WRITE", ""},
	} {
		my, err := Parse(c.mysql)
		got := tree(t, my, err, c.mysql)
		if c.postgres == "" {
			continue
		}
		pg, err := postgres.Parse(c.postgres)
		want := tree(t, pg, err, c.postgres)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nis not\n%s", c.mysql, c.postgres)
		}
	}
}

// TestLimit: LIMIT a, b skips a rows.
func TestLimit(t *testing.T) {
	list, err := Parse("SELECT 1 AS x LIMIT 5, 10")
	if err != nil {
		t.Fatal(err)
	}
	q := list[0].Stmt.(*ast.Select)
	if q.Offset.(*ast.Const).Int != 5 || q.Limit.(*ast.Const).Int != 10 {
		t.Errorf("offset %v, limit %v", q.Offset, q.Limit)
	}
}

// TestRefused: what is not supported says so, at its place.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text     string
		code     sqlerr.Code
		position int
	}{
		{"SELECT a, WEEK(b) FROM t", sqlerr.FeatureNotSupported, 11},
		{"SELECT a | 1 FROM t", sqlerr.FeatureNotSupported, 8},
		{"SELECT @@no_such", sqlerr.FeatureNotSupported, 8},
		{"SELECT é, GREATEST(1, 2)", sqlerr.FeatureNotSupported, 11},
		{"UPDATE t SET a = 1, b = a", sqlerr.FeatureNotSupported, 25},
		{"DELETE FROM t LIMIT 1", sqlerr.FeatureNotSupported, 1},
		{"CREATE TABLE t (a point)", sqlerr.SyntaxError, 19},
		{"CREATE TABLE t (a int, FULLTEXT KEY k (a))", sqlerr.FeatureNotSupported, 1},
		{"CREATE TABLE t (a varchar(9), UNIQUE KEY k (a(3)))", sqlerr.FeatureNotSupported, 1},
		{"EXECUTE BEGINTRANSACTION 'ts'", sqlerr.FeatureNotSupported, 1},
		{"GRANT ALL ON *.* TO u", sqlerr.FeatureNotSupported, 1},
		{"SELECT 1; SELEC 2", sqlerr.SyntaxError, 11},
		{"SELECT BINARY a FROM t", sqlerr.FeatureNotSupported, 8},
		{"SET autocommit = 0", sqlerr.FeatureNotSupported, 1},
	} {
		_, err := Parse(c.text)
		if err == nil {
			t.Errorf("%s: no error", c.text)
			continue
		}
		if e := sqlerr.From(err); e.Code != c.code || e.Position != c.position {
			t.Errorf("%s: %v at %d (%s), want %v at %d", c.text, e.Code, e.Position, e.Message, c.code, c.position)
		}
	}
}

// TestSplit: statements end at semicolons outside of strings and comments.
func TestSplit(t *testing.T) {
	list, err := Parse("SELECT ';' AS a; -- x;\n/* ; */ SELECT 'it\\'s;' AS b; # ;\n/*!40101 SELECT 3 AS c */;")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 {
		t.Errorf("%d statements", len(list))
	}
}

func TestNesting(t *testing.T) {
	deep := make([]byte, 0, 5000)
	deep = append(deep, "SELECT "...)
	for range 2000 {
		deep = append(deep, '(')
	}
	if _, err := Parse(string(deep)); sqlerr.From(err).Code != sqlerr.StatementTooComplex {
		t.Errorf("error %v", err)
	}
}

func TestSplitCreate(t *testing.T) {
	got, err := SplitCreate("CREATE TABLE `A` (`Id` int AUTO_INCREMENT, b blob, c bit(3), PRIMARY KEY (`Id`), KEY k (b(10)), CONSTRAINT f FOREIGN KEY (b) REFERENCES z (x))")
	if err != nil {
		t.Fatal(err)
	}
	if got.Table != "a" || got.AutoIncrement != "id" || !reflect.DeepEqual(got.Columns, []string{"id", "b", "c"}) ||
		!reflect.DeepEqual(got.Binary, []bool{false, true, false}) || !reflect.DeepEqual(got.Bits, []int{0, 0, 3}) {
		t.Errorf("%+v", got)
	}
	if len(got.Indexes) != 1 || len(got.ForeignKeys) != 1 {
		t.Errorf("indexes %q, foreign keys %q", got.Indexes, got.ForeignKeys)
	}
	for _, sql := range append(append([]string{got.Text}, got.Indexes...), got.ForeignKeys...) {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
