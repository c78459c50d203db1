package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"

	"herd/conf"
)

// rawClient speaks the protocol from ready-made bytes and allocates nothing itself.
type rawClient struct {
	t   *testing.T
	nc  net.Conn
	buf []byte
}

// serveForRaw opens a server of this process and one connection to it.
func serveForRaw(t *testing.T) *rawClient {
	t.Helper()
	c, err := conf.Load(conf.Sources{Sets: []conf.Setting{
		{Key: "server.base.dir", Value: t.TempDir()}, {Key: "server.port", Value: "0"}, {Key: "server.ssl", Value: "false"},
		{Key: "http.enabled", Value: "false"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := openInstance(context.Background(), c, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- in.listener.Serve() }()
	t.Cleanup(func() {
		if err := in.close(nil); err != nil {
			t.Error(err)
		}
		<-served
	})
	nc, err := net.Dial("tcp", in.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	r := &rawClient{t: t, nc: nc, buf: make([]byte, 64<<10)}
	body := append(binary.BigEndian.AppendUint32(nil, 196608), "user\x00postgres\x00database\x00postgres\x00\x00"...)
	r.ask(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...))
	return r
}

func message(typ byte, parts ...string) []byte {
	n := 4
	for _, p := range parts {
		n += len(p)
	}
	out := binary.BigEndian.AppendUint32([]byte{typ}, uint32(n))
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// ask sends bytes and reads up to ReadyForQuery, which is the last message of what comes.
func (r *rawClient) ask(b []byte) []byte {
	if _, err := r.nc.Write(b); err != nil {
		r.t.Fatal(err)
	}
	n := 0
	for {
		k, err := r.nc.Read(r.buf[n:])
		if err != nil {
			r.t.Fatal(err)
		}
		n += k
		if n >= 6 && string(r.buf[n-6:n-1]) == "Z\x00\x00\x00\x05" {
			return r.buf[:n]
		}
	}
}

func (r *rawClient) query(sql string) {
	r.t.Helper()
	if got := r.ask(message('Q', sql, "\x00")); got[0] == 'E' {
		r.t.Fatalf("%s: %q", sql, got)
	}
}

// prepare makes a statement and returns the cycle that runs it as drivers do: Bind, Describe, Execute, Sync.
func (r *rawClient) prepare(name, sql, param string) []byte {
	r.t.Helper()
	if got := r.ask(append(message('P', name, "\x00", sql, "\x00", "\x00\x00"), message('S')...)); got[0] != '1' {
		r.t.Fatalf("%s: %q", sql, got)
	}
	size := string(binary.BigEndian.AppendUint32(nil, uint32(len(param))))
	cycle := message('B', "\x00", name, "\x00", "\x00\x00", "\x00\x01", size, param, "\x00\x00")
	cycle = append(cycle, message('D', "P\x00")...)
	cycle = append(cycle, message('E', "\x00", "\x00\x00\x00\x00")...)
	return append(cycle, message('S')...)
}

// TestStatementAllocations holds the whole server, from the socket to the store and back, to what the hot paths may allocate.
// The table's tree has one level of inner nodes; an update allocates twice more for each further one.
func TestStatementAllocations(t *testing.T) {
	r := serveForRaw(t)
	r.query("CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL, filler text NOT NULL)")
	r.query("INSERT INTO a SELECT n, n, repeat('x', 80) FROM generate_series(1, 3000) AS s(n)")
	for _, c := range []struct {
		name, sql, want string
		limit           float64
	}{
		{"point select", "SELECT v, filler FROM a WHERE id = $1", "SELECT 1\x00", 0},
		{"one-row update", "UPDATE a SET v = v + 1 WHERE id = $1", "UPDATE 1\x00", 5},
	} {
		cycle := r.prepare(c.name, c.sql, "1711")
		if got := r.ask(cycle); !bytes.Contains(got, []byte(c.want)) {
			t.Fatalf("%s: %q", c.name, got)
		}
		if n := testing.AllocsPerRun(2000, func() { r.ask(cycle) }); n > c.limit {
			t.Errorf("%s: %v allocations, at most %v", c.name, n, c.limit)
		} else {
			t.Logf("%s: %v allocations", c.name, n)
		}
	}
	simple := message('Q', "SELECT v, filler FROM a WHERE id = 1711\x00")
	for range 3 { // the second time its shape is kept
		r.ask(simple)
	}
	if n := testing.AllocsPerRun(2000, func() { r.ask(simple) }); n > 0 {
		t.Errorf("point select, simple protocol: %v allocations", n)
	}
}
