package main

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// begin connects and begins a transaction that holds branch 1.
func begin(t *testing.T, address string) (*pgx.Conn, chan error) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), "postgres://postgres@"+address+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	locked := make(chan error, 1)
	go func() {
		_, err := c.Exec(t.Context(), "UPDATE pgbench_branches SET bbalance = bbalance + 3 WHERE bid = 1;")
		locked <- err
	}()
	return c, locked
}

func TestBranchIsHeldUntilCommit(t *testing.T) {
	log, err := openGroupLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	held := newLocks()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go newConn(c, log, held).serve()
		}
	}()
	first, locked := begin(t, listener.Addr().String())
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	_, second := begin(t, listener.Addr().String())
	select {
	case <-second:
		t.Fatal("two transactions hold branch 1")
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := first.Exec(t.Context(), "END"); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if log.asked != 1 || log.done != 1 {
		t.Errorf("%d commits asked, %d written; want 1 and 1", log.asked, log.done)
	}
}

// TestKeyIsTheLastParameter: the key of an update by parameters, whatever follows them in the message.
func TestKeyIsTheLastParameter(t *testing.T) {
	const update = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2;"
	bound := func(key string) int {
		c := newConn(nil, nil, nil)
		c.prepared["s"] = classify(update)
		p, err := (&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("-7"), []byte(key)}, ResultFormatCodes: []int16{0}}).Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		const typeAndLength = 5
		c.body = p[typeAndLength:]
		if err := c.bind(); err != nil {
			t.Fatal(err)
		}
		return c.key
	}
	if a, b := bound("3"), bound("10"); a != 3 || b != 10 {
		t.Errorf("keys %d and %d, want 3 and 10", a, b)
	}
}

func TestLastNumber(t *testing.T) {
	for text, want := range map[string]int{
		"UPDATE pgbench_tellers SET tbalance = tbalance + 7 WHERE tid = 12;": 12,
		"\x00\x02\x00\x00\x00\x017\x00\x00\x00\x0210":                        10,
		"END;": 0,
	} {
		if got := lastNumber(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
