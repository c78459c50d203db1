package ycsb

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"
)

// updateLog is one update of a row whose updates are checked.
type updateLog struct {
	record     int64
	field      int
	hash       uint64 // of the value
	start, end int64  // nanoseconds since the phase began; end is 0 when the update was not acknowledged
}

// One row in checkedRows, picked by a hash of its number, has its updates checked.
const checkedRows = 64

// worker drives one connection.
type worker struct {
	p      *phase
	number int
	conn   conn
	rand   *rand.Rand
	key    []byte
	value  []byte
	values [][]byte // for inserts; parts of one buffer
	buffer []byte
	// updates of checked rows, for verify.
	updates []updateLog
}

func newWorker(p *phase, number int, c conn) *worker {
	w := &worker{p: p, number: number, conn: c, rand: rand.New(rand.NewPCG(p.o.Seed, uint64(number)+1)),
		value: make([]byte, p.o.FieldLength), buffer: make([]byte, p.o.FieldLength*p.o.FieldCount)}
	for i := range p.o.FieldCount {
		w.values = append(w.values, w.buffer[i*p.o.FieldLength:(i+1)*p.o.FieldLength])
	}
	return w
}

// run does operations until the phase has none left.
func (w *worker) run(ctx context.Context) {
	var interval time.Duration
	due := w.p.start
	if w.p.target > 0 {
		perThread := w.p.target / float64(w.p.o.Threads)
		interval = time.Duration(float64(time.Second) / perThread)
		due = due.Add(interval * time.Duration(w.number) / time.Duration(w.p.o.Threads))
	}
	now := time.Now()
	for w.p.take(ctx, now) {
		start := now
		if interval > 0 {
			start = w.wait(ctx, due, now)
			due = due.Add(interval)
		}
		now = w.step(ctx, start)
	}
}

// wait returns when the operation due at a time may begin, and the time its latency counts from. A worker that is late
// because the server was slow counts from the due time. One that slept counts from when it woke: how late a
// timer fires is not the server's doing.
func (w *worker) wait(ctx context.Context, due, now time.Time) time.Time {
	if !now.Before(due) {
		return due
	}
	timer := time.NewTimer(due.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return time.Now()
}

// step does one operation, records it, and returns the time it ended.
func (w *worker) step(ctx context.Context, start time.Time) time.Time {
	op := w.p.w.choose(w.rand.Float64())
	var err error
	switch op {
	case OpRead:
		w.pickKey()
		_, err = w.conn.read(w.key)
	case OpUpdate:
		err = w.update(w.pickKey())
	case OpInsert:
		err = w.insert()
	case OpScan:
		w.pickKey()
		_, err = w.conn.scan(w.key, 1+w.rand.IntN(w.p.w.ScanMax))
	case OpReadModifyWrite:
		err = w.readModifyWrite(start)
	}
	now := time.Now()
	if err != nil {
		w.p.m.fail(op, err)
		if w.conn.broken(err) {
			w.reconnect(ctx)
			now = time.Now()
		}
		return now
	}
	w.p.m.done.Add(1)
	w.p.m.record(w.number, op, now.Sub(start))
	if w.p.series != nil {
		w.p.series.record(w.number, now.Sub(w.p.start), now.Sub(start))
	}
	return now
}

// pickKey chooses an existing record and leaves its key in w.key.
func (w *worker) pickKey() int64 {
	n := w.p.choose.next(w.rand)
	for w.p.rows.isMissing(n) {
		n = w.p.choose.next(w.rand)
	}
	w.key = appendKey(w.key[:0], n, w.p.w.Ordered)
	return n
}

// update writes one field of a record whose key is in w.key.
func (w *worker) update(record int64) error {
	field := w.rand.IntN(len(w.values))
	fillValue(w.value, w.rand)
	if mix64(uint64(record))%checkedRows != 0 {
		return w.conn.update(w.key, field, w.value)
	}
	u := updateLog{record: record, field: field, hash: xxhash.Sum64(w.value), start: int64(time.Since(w.p.start))}
	err := w.conn.update(w.key, field, w.value)
	if err == nil {
		u.end = int64(time.Since(w.p.start))
	}
	w.updates = append(w.updates, u)
	return err
}

// insert adds the next record. Its number counts as used whatever the answer, so that others do not wait for it.
func (w *worker) insert() error {
	n := w.p.rows.counter.next()
	w.key = appendKey(w.key[:0], n, w.p.w.Ordered)
	fillValue(w.buffer, w.rand)
	err := w.conn.insert(w.key, w.values)
	if err != nil {
		w.p.rows.fail(n)
	}
	w.p.rows.counter.acknowledge(n)
	return err
}

// readModifyWrite reads a record and updates it; both halves are measured on their own, too.
func (w *worker) readModifyWrite(start time.Time) error {
	n := w.pickKey()
	if _, err := w.conn.read(w.key); err != nil {
		return err
	}
	between := time.Now()
	w.p.m.record(w.number, OpRead, between.Sub(start))
	if err := w.update(n); err != nil {
		return err
	}
	w.p.m.record(w.number, OpUpdate, time.Since(between))
	return nil
}

// reconnect replaces a connection that broke, trying until the phase ends. Each failed attempt is an error of the phase.
func (w *worker) reconnect(ctx context.Context) {
	const pause = 100 * time.Millisecond
	w.conn.close()
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		c, err := w.p.drv.open(ctx)
		if err == nil {
			w.conn = c
			return
		}
		if !w.p.take(ctx, time.Now()) {
			w.conn = brokenConn{err}
			return
		}
		w.p.m.fail(OpRead, err)
	}
}

// brokenConn stands in for a connection that could not be replaced before the phase ended.
type brokenConn struct{ err error }

func (b brokenConn) read([]byte) (int, error)                     { return 0, b.err }
func (b brokenConn) readField(_, _ []byte, _ int) ([]byte, error) { return nil, b.err }
func (b brokenConn) scan([]byte, int) (int, error)                { return 0, b.err }
func (b brokenConn) update([]byte, int, []byte) error             { return b.err }
func (b brokenConn) insert([]byte, [][]byte) error                { return b.err }
func (b brokenConn) keys([]byte, int, func([]byte)) (int, error)  { return 0, b.err }
func (b brokenConn) broken(error) bool                            { return true }
func (b brokenConn) close()                                       {}
