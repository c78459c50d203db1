package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// Rows of one key and one text that together have about a KiB.
const (
	bulkTextBytes = 1000
	bulkRowBytes  = 1024
)

// bulkRow measures COPY in, the memory afterwards, and the time to start again; all three come from one load.
func (b *bench) bulkRow(name string) ([]result, error) {
	if b.bulk == nil {
		if err := b.measureBulk(); err != nil {
			return nil, err
		}
	}
	for _, r := range b.bulk {
		if r.name == name {
			return []result{r}, nil
		}
	}
	return nil, fmt.Errorf("no figure for %s", name)
}

func (b *bench) measureBulk() error {
	// Servers that hold other tables would add those to the memory.
	if err := b.fleet.endAll(); err != nil {
		return err
	}
	b.ready = map[string]bool{}
	rows := b.s.bulkRows
	cp := result{name: "copy", work: fmt.Sprintf("COPY in of %d rows of 1 KiB", rows), unit: "rows/s", goal: 1}
	for _, name := range []string{"herd", "postgres"} {
		value, err := b.copyIn(name, rows)
		cp.figures = append(cp.figures, figure{name, value, err})
	}
	raw := float64(rows * bulkRowBytes)
	memory := result{name: "memory", work: fmt.Sprintf("resident memory with %d rows of 1 KiB, checkpointed, against raw bytes", rows), unit: "bytes",
		goal: 1.6, limit: raw, smaller: true}
	resident, err := b.residentAfterCheckpoint()
	memory.figures = []figure{{"herd", resident, err}}
	start := result{name: "restart", work: "start after a clean stop with that data", unit: "s", goal: 1, limit: 1, smaller: true}
	seconds, err := b.restartTime(rows)
	start.figures = []figure{{"herd", seconds, err}}
	b.bulk = []result{cp, memory, start}
	return nil
}

func (b *bench) connect(name string) (*pgconn.PgConn, *server, error) {
	s, err := b.fleet.get(b.ctx, name)
	if err != nil {
		return nil, nil, err
	}
	c, err := pgconn.Connect(b.ctx, s.url)
	return c, s, err
}

func (b *bench) copyIn(name string, rows int64) (float64, error) {
	c, _, err := b.connect(name)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	for _, sql := range []string{"DROP TABLE IF EXISTS bulk", "CREATE TABLE bulk (id bigint PRIMARY KEY, payload text NOT NULL)"} {
		if _, err := c.Exec(b.ctx, sql).ReadAll(); err != nil {
			return 0, fmt.Errorf("%s: %w", sql, err)
		}
	}
	start := time.Now()
	tag, err := c.CopyFrom(b.ctx, newBulkReader(rows), "COPY bulk FROM STDIN")
	if err != nil {
		return 0, fmt.Errorf("COPY into %s: %w", name, err)
	}
	if tag.RowsAffected() != rows {
		return 0, fmt.Errorf("COPY into %s stored %d of %d rows", name, tag.RowsAffected(), rows)
	}
	return float64(rows) / time.Since(start).Seconds(), nil
}

// bulkReader makes COPY text of random letters.
type bulkReader struct {
	rows, next int64
	pool       []byte // random text that rows are cut from
	pending    bytes.Buffer
}

func newBulkReader(rows int64) *bulkReader {
	r := &bulkReader{rows: rows, pool: make([]byte, 1<<20)}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range r.pool {
		r.pool[i] = 'a' + byte(random.IntN(26))
	}
	return r
}

// Read implements io.Reader.
func (r *bulkReader) Read(p []byte) (int, error) {
	const ahead = 64 << 10
	for r.pending.Len() < ahead && r.next < r.rows {
		r.pending.Write(strconv.AppendInt(nil, r.next, 10))
		r.pending.WriteByte('\t')
		at := int(r.next*7919) % (len(r.pool) - bulkTextBytes)
		r.pending.Write(r.pool[at : at+bulkTextBytes])
		r.pending.WriteByte('\n')
		r.next++
	}
	if r.pending.Len() == 0 {
		return 0, io.EOF
	}
	return r.pending.Read(p)
}

func (b *bench) residentAfterCheckpoint() (float64, error) {
	c, s, err := b.connect("herd")
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	if _, err := c.Exec(b.ctx, "CHECKPOINT").ReadAll(); err != nil {
		return 0, err
	}
	// The collector gives memory back to the system in the seconds after; the figure is what stays.
	const settle = 15 * time.Second
	select {
	case <-time.After(settle):
	case <-b.ctx.Done():
	}
	n, err := peer.Resident(s.pid)
	return float64(n), err
}

// restartTime stops and starts herd and checks that the rows are there.
func (b *bench) restartTime(rows int64) (float64, error) {
	s, err := b.fleet.get(b.ctx, "herd")
	if err != nil {
		return 0, err
	}
	took, err := s.restart(b.ctx)
	if err != nil {
		return 0, err
	}
	c, err := pgconn.Connect(b.ctx, s.url)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(b.ctx))
	results, err := c.Exec(b.ctx, "SELECT count(*) FROM bulk").ReadAll()
	if err != nil {
		return 0, err
	}
	if got := string(results[0].Rows[0][0]); got != strconv.FormatInt(rows, 10) {
		return 0, fmt.Errorf("after the restart the table has %s of %d rows", got, rows)
	}
	return took.Seconds(), nil
}
