package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// Rows for each unit of pgbench's scale.
const (
	tellersPerBranch  = 10
	accountsPerBranch = 100_000
)

// ledger remembers the acknowledged transactions of all rounds by their mark in the history.
type ledger struct {
	mu    sync.Mutex // guards acked
	acked map[string]struct{}
	tried atomic.Int64 // transactions begun
	// trouble is the first error that is not the end of the connection.
	trouble atomic.Pointer[error]
}

func newLedger() *ledger { return &ledger{acked: map[string]struct{}{}} }

func (l *ledger) acknowledge(mark string) {
	l.mu.Lock()
	l.acked[mark] = struct{}{}
	l.mu.Unlock()
}

// tpcb is one client's connection.
type tpcb struct {
	conn   *pgconn.PgConn
	scale  int
	random *rand.Rand
}

// transaction runs TPC-B with a mark in the history row's filler; when it returns nil the commit was acknowledged.
func (c *tpcb) transaction(ctx context.Context, mark string) error {
	aid := strconv.Itoa(1 + c.random.IntN(accountsPerBranch*c.scale))
	tid := strconv.Itoa(1 + c.random.IntN(tellersPerBranch*c.scale))
	bid := strconv.Itoa(1 + c.random.IntN(c.scale))
	delta := strconv.Itoa(c.random.IntN(10001) - 5000)
	for _, s := range []struct {
		sql  string
		args []string
	}{
		{"BEGIN", nil},
		{"UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", []string{delta, aid}},
		{"SELECT abalance FROM pgbench_accounts WHERE aid = $1", []string{aid}},
		{"UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", []string{delta, tid}},
		{"UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", []string{delta, bid}},
		{"INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, $5)", []string{tid, bid, aid, delta, mark}},
		{"COMMIT", nil},
	} {
		params := make([][]byte, len(s.args))
		for i, a := range s.args {
			params[i] = []byte(a)
		}
		if r := c.conn.ExecParams(ctx, s.sql, params, nil, nil, nil).Read(); r.Err != nil {
			return fmt.Errorf("%s: %w", s.sql, r.Err)
		}
	}
	return nil
}

// runClient commits transactions until the connection ends.
func runClient(ctx context.Context, url string, scale, round, number int, l *ledger) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("client %d of round %d: %w", number, round, err)
			l.trouble.CompareAndSwap(nil, &err)
		}
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	c := &tpcb{conn: conn, scale: scale, random: rand.New(rand.NewPCG(uint64(round), uint64(number)))}
	for i := 0; ; i++ {
		mark := fmt.Sprintf("r%d c%d t%d", round, number, i)
		l.tried.Add(1)
		err := c.transaction(ctx, mark)
		if err == nil {
			l.acknowledge(mark)
			continue
		}
		if !conn.IsClosed() {
			l.trouble.CompareAndSwap(nil, &err)
		}
		return
	}
}
