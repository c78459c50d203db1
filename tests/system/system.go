package system

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// ForEach runs a test on herd and on PostgreSQL, each new and empty.
func ForEach(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("PostgreSQL", func(t *testing.T) { test(t, peer.Postgres(t)) })
	t.Run("herd", func(t *testing.T) { test(t, peer.StartHerdFor(t).URL) })
}

// Connect opens a session that ends with the test.
func Connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// Exec runs statements and returns the rows of the last, as text; NULL is nil.
func Exec(t *testing.T, c *pgconn.PgConn, sql string) [][][]byte {
	t.Helper()
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	return results[len(results)-1].Rows
}

// Value runs statements and returns the first value of the last one's first row.
func Value(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	rows := Exec(t, c, sql)
	if len(rows) == 0 {
		t.Fatalf("%.200s: no rows", sql)
	}
	return string(rows[0][0])
}

// Program returns the path of one of PostgreSQL's client programs. The test is skipped when it is not installed.
func Program(t *testing.T, name string) string {
	t.Helper()
	if bin, err := peer.PostgresBin(); err == nil {
		if path, err := exec.LookPath(filepath.Join(bin, name)); err == nil {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("peer missing: %v", err)
	}
	return path
}
