package system

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// What a confused or hostile client sends gets an answer, or a closed connection, and the sessions beside it go on.
func TestHostileClients(t *testing.T) {
	server := peer.StartHerdFor(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	witness := Connect(t, server.URL)
	Exec(t, witness, "CREATE TABLE w (id int PRIMARY KEY); INSERT INTO w VALUES (1)")
	cases := []struct {
		name string
		send []byte
		want string // in what comes back, "" = the connection closes without an answer
	}{
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ""},
		{"start-up packet of 2 GiB", []byte{0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0}, ""},
		{"start-up packet of 4 bytes", []byte{0, 0, 0, 4}, ""},
		{"negative length", []byte{0xff, 0xff, 0xff, 0xff}, ""},
		{"protocol 2", startup(2<<16, "user", "postgres"), "unsupported frontend protocol"},
		{"no user", startup(3<<16, "database", "postgres"), "no PostgreSQL user name"},
		{"unterminated parameters", append(binary.BigEndian.AppendUint32(nil, 12), 0, 3, 0, 0, 'u', 's', 'e', 'r'), "invalid startup packet layout"},
		{"query of 2 GiB", append(startup(3<<16, "user", "postgres"), 'Q', 0x7f, 0xff, 0xff, 0xff), "invalid message length"},
		{"unknown message", append(startup(3<<16, "user", "postgres"), 'y', 0, 0, 0, 4), "invalid frontend message type"},
		{"truncated bind", append(startup(3<<16, "user", "postgres"), 'B', 0, 0, 0, 6, 0, 0), "insufficient data left in message"},
		{"bind announcing 65,535 parameters", append(startup(3<<16, "user", "postgres"), 'B', 0, 0, 0, 10, 0, 0, 0, 0, 0xff, 0xff), "insufficient data left in message"},
		{"function call", append(startup(3<<16, "user", "postgres"), 'F', 0, 0, 0, 4), "not supported"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			answer := exchange(t, u.Host, c.send)
			if c.want == "" && len(answer) > 0 {
				t.Errorf("answered %q", answer)
			}
			if !strings.Contains(string(answer), c.want) {
				t.Errorf("answered %q, expected %q in it", answer, c.want)
			}
			if got := Value(t, witness, "SELECT count(*) FROM w"); got != "1" {
				t.Errorf("the witness sees %s rows", got)
			}
		})
	}
}

// startup makes a start-up message.
func startup(version uint32, params ...string) []byte {
	body := binary.BigEndian.AppendUint32(nil, version)
	for _, p := range params {
		body = append(append(body, p...), 0)
	}
	body = append(body, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

// exchange sends bytes and returns what comes back until the server closes or is silent for a second.
func exchange(t *testing.T, addr string, send []byte) []byte {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(send); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	buf := make([]byte, 4096)
	for {
		c.SetReadDeadline(time.Now().Add(time.Second))
		n, err := c.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			if err != io.EOF && !strings.Contains(err.Error(), "reset") && out.Len() == 0 {
				t.Errorf("neither answered nor closed: %v", err)
			}
			return out.Bytes()
		}
	}
}

// Statements that would overflow a stack or a parser get an error and the session goes on.
func TestHostileStatements(t *testing.T) {
	server := peer.StartHerdFor(t)
	c := Connect(t, server.URL)
	deep := 2_000_000
	for name, s := range map[string]struct{ sql, state string }{
		"parentheses":    {"SELECT " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep), "54001"},
		"arrays":         {"SELECT " + strings.Repeat("ARRAY[", deep) + "1" + strings.Repeat("]", deep), "54001"},
		"unary minus":    {"SELECT " + strings.Repeat("- ", deep) + "1", "54001"},
		"NOT":            {"SELECT " + strings.Repeat("NOT ", deep) + "true", "54001"},
		"subqueries":     {"SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 5000) + "pg_class" + strings.Repeat(") x", 5000), "54001"},
		"CASE":           {"SELECT " + strings.Repeat("CASE WHEN true THEN ", deep) + "1" + strings.Repeat(" END", deep), "54001"},
		"casts":          {"SELECT 1" + strings.Repeat("::int", deep), "54001"},
		"invalid UTF-8":  {"SELECT '\xff'", "22021"},
		"syntax error":   {"SELEC 1", "42601"},
		"open quote":     {"SELECT 'abc", "42601"},
		"zero character": {"SELECT E'a\\000b'", "22021"},
	} {
		t.Run(name, func(t *testing.T) {
			expectState(t, c, s.sql, s.state)
			if got := Value(t, c, "SELECT 41 + 1"); got != "42" {
				t.Errorf("after it the session answers %s", got)
			}
		})
	}
	for name, sql := range map[string]string{
		"long sum":       "SELECT 1" + strings.Repeat(" + 1", 9999),
		"long condition": "SELECT 1 WHERE " + strings.Repeat("1 = 0 OR ", 50000) + "true",
		"long list":      "SELECT 7 IN (" + strings.Repeat("1, ", 100000) + "7)",
	} {
		t.Run(name, func(t *testing.T) { Value(t, c, sql) })
	}
}

// Many idle connections cost little and do not keep others out; beyond the limit the answer is 53300.
func TestManyConnections(t *testing.T) {
	const limit = 10000
	server := peer.StartHerdFor(t, fmt.Sprintf("server.max.connections=%d", limit))
	var open []*pgconn.PgConn
	defer func() {
		for _, c := range open {
			c.Close(context.Background())
		}
	}()
	for range limit {
		c, err := pgconn.Connect(context.Background(), server.URL)
		if err != nil {
			t.Fatalf("connection %d: %v", len(open)+1, err)
		}
		open = append(open, c)
	}
	if _, err := pgconn.Connect(context.Background(), server.URL); stateOf(err) != "53300" {
		t.Errorf("connection beyond the limit: %v", err)
	}
	for _, c := range []*pgconn.PgConn{open[0], open[limit/2], open[limit-1]} {
		if got := Value(t, c, "SELECT 1"); got != "1" {
			t.Errorf("got %s", got)
		}
	}
}
