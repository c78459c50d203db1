package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyErrorCases are data of COPY t (id int, x text) FROM STDIN, most of them wrong, by the format's options.
var copyErrorCases = map[string][]string{
	"": {
		"1\ta\n2\tb\r\n", "1\ta\r\n2\tb\n", "1\ta\r\n2\tb\r3\tc\r\n", "1\ta\r2\tb\r\n", "1\ta\r2\tb\n",
		"1\ta\\.b\n", "1\ta\\.\n2\tb\n", "\\.\n2\tb\n", "1\ta\n\\.", "1\ta\n\\.\n2\tb\n", "1\ta\r\n\\.\r\n2", "1\ta\r\n\\.\n", "1\ta\r\n\\.\rx",
		"1\ta\n\\.\r\n", "1\ta\n\\.x\n", "1\ta\r\\.\r", "1\ta\r\\.\n", "1\ta\\", "1\ta\\\nb\n2\tc\n", "1\ta\\\\.\n2\tb\n",
		"1\ta\x00b\n", "1\t\xff\n", "1\ta\n2\tb\xe4b\n3\tc\n", "1\ta\n2\tb\n\xf8\xf8\xf8\xf8", "1\t\\x00\n", "1\t\\xff\n", "1\ta\n2\tb\\303\n",
		"x\ta\n", "1\n", "1\ta\tb\n", "1\ta\n\n", "1\ta\n1\tb\n", "2147483648\ta\n",
	},
	" (FORMAT csv)": {
		"1,a\r\n2,b\n", "1,a\n2,b\r\n", "1,a\r2,b\n", "1,a\r2,b\r\n", "1,\"a\nb\"\nx,c\n", "1,a\n2,\"b\nc\nd\"\nx,e\n", "1,a\r\n2,\"b\nc\r\nd\"\r\nx,e\r\n",
		"1,\"a", "1,a\n2,\"b\nc", "\\.\n2,b\n", "1,a\n\\.\n2,b\n", "1,a\n\\.\r\n", "1,a\r\n\\.\n", "1,a\\.\n2,b\n", "1,\"\\.\"\n", "1,\"a\n\\.\nb\"\n",
		"1,a\n2,\xff\n", "1,a\x00\n", "1,a,b\n", "1\n", "x,\"a\nb\"\n", "1,a\n\"2\",\"b\"c\n\"3\",\"\"\"\"\n",
	},
	" (FORMAT csv, HEADER)":      {"id,x\n1,a\nx,b\n", "id,\"x\ny\"\nx,b\n", "", "id,x"},
	" (FORMAT csv, ESCAPE '\\')": {"1,\"a\\\"b\\\\\"\n2,c\\\nx,d\n"},
}

// TestCopyErrors compares what wrong data is answered with, context included.
func TestCopyErrors(t *testing.T) {
	want := map[string]string{}
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, "CREATE TABLE t (id int PRIMARY KEY, x text)")
		check := func(what string, data io.Reader, options string) {
			t.Helper()
			got := copyOutcome(c, data, "t FROM STDIN"+options)
			rows := Value(t, c, "SELECT coalesce(string_agg(id || '=' || coalesce(x, 'NULL'), ',' ORDER BY id), '') FROM t")
			Exec(t, c, "TRUNCATE t")
			got += " rows " + fmt.Sprintf("%q", rows)
			if w, ok := want[what]; ok && got != w {
				t.Errorf("%s:\n got %s\nwant %s", what, got, w)
			} else if !ok {
				want[what] = got
			}
		}
		for options, list := range copyErrorCases {
			for _, data := range list {
				check(fmt.Sprintf("%q%s", data, options), strings.NewReader(data), options)
			}
		}
		Exec(t, c, "CREATE DOMAIN small AS int CHECK (VALUE < 30); CREATE DOMAIN given AS text NOT NULL; CREATE TABLE d (a small, b given)")
		for _, data := range []string{"1\tx\n30\ty\n", "1\tx\n2\t\\N\n", "z\tx\n", "\\N\tx\n"} {
			// PostgreSQL finds these in the input of a column's value, herd when the row is written: the context differs.
			got, _, _ := strings.Cut(copyOutcome(c, strings.NewReader(data), "d FROM STDIN"), " where ")
			if w, ok := want[data]; ok && got != w {
				t.Errorf("domains, %q:\n got %s\nwant %s", data, got, w)
			}
			want[data] = got
		}
		if got := Value(t, c, "SELECT count(*) || ' ' || coalesce(sum(a), 0) FROM d"); got != "1 0" {
			t.Errorf("domains: %s", got)
		}
		if _, err := c.CopyFrom(context.Background(), strings.NewReader("7\tx\n-8\ty\n"), "COPY d FROM STDIN"); err != nil {
			t.Error(err)
		}
		if got := Value(t, c, "SELECT string_agg(a || b, ',' ORDER BY a) FROM d"); got != "-8y,7x" {
			t.Errorf("domains: %s", got)
		}
		check("a client that gives up", io.MultiReader(strings.NewReader("1\ta\n2\t"), failingReader{}), "")
	})
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("no more") }

// copyOutcome copies and says how it ended.
func copyOutcome(c *pgconn.PgConn, data io.Reader, copy string) string {
	tag, err := c.CopyFrom(context.Background(), data, "COPY "+copy)
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s %q detail %q hint %q where %q", e.Code, e.Message, e.Detail, e.Hint, e.Where)
	}
	return fmt.Sprintf("%s %v", tag, err)
}
