package engine

import (
	"fmt"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/storage"
)

// A reader that keeps its snapshot while every row is replaced many times does not stop checkpoints: each contains the
// newest commits and frees the log behind it, while the reader goes on seeing what it saw.
func TestCheckpointsBesideLongReader(t *testing.T) {
	fsys := vfs.NewMem()
	e := openMem(t, fsys)
	db := e.System()
	reader, writer := db.NewSession(SessionOptions{PID: 1}), db.NewSession(SessionOptions{PID: 2})
	newTree(t, writer)
	const rows, last = 300, 60
	round := func(n int) {
		for from := 0; from < rows; from += 30 {
			tx := writer.Begin(TxOptions{})
			for i := from; i < from+30; i++ {
				must(t, tx.Put(tree1, fmt.Appendf(nil, "%08d", i), fmt.Appendf(make([]byte, 1000), "%d", n)))
			}
			must(t, tx.Commit())
		}
		must(t, writer.WaitDurable())
	}
	round(0)
	look := reader.Begin(TxOptions{Isolation: RepeatableRead})
	view := look.BeginStatement()
	for n := 1; n <= last; n++ {
		round(n)
		if n%5 == 0 {
			before := db.Stats().Checkpoints
			must(t, db.Checkpoint())
			s := db.Stats()
			if s.Checkpoints != before+1 || db.ckpt.seq.Load() < uint64(db.log.Durable()) {
				t.Errorf("round %d: %d checkpoints, up to entry %d of %d", n, s.Checkpoints-before, db.ckpt.seq.Load(), db.log.Durable())
			}
			if s.Store.Pins == 0 || s.Store.PinAge == 0 {
				t.Errorf("round %d: the reader does not show: %+v", n, s.Store)
			}
		}
		must(t, db.maintain())
	}
	for i := range rows {
		val, ok, err := view.Get(tree1, fmt.Appendf(nil, "%08d", i))
		if err != nil || !ok || string(val[1000:]) != "0" {
			t.Fatalf("the reader sees row %d as %q, %v, %v", i, val, ok, err)
		}
	}
	if s := db.Stats(); s.LogLength > s.LogBytes/2 {
		t.Errorf("%d of %d bytes of log are kept", s.LogLength, s.LogBytes)
	}
	look.Rollback()
	must(t, db.maintain())
	if s := db.Stats().Store; s.Retired != 0 {
		t.Errorf("%d bytes of replaced blocks outlive the reader", s.Retired)
	}
	reader.Close()
	writer.Close()
	must(t, e.Abandon()) // what the last checkpoint and the log have
	e = openMem(t, fsys)
	defer e.Abandon()
	must(t, e.System().ReadTip(func(v storage.View) error {
		val, ok, err := v.Get(tree1, []byte("00000007"))
		if err != nil || !ok || string(val[1000:]) != fmt.Sprint(last) {
			t.Errorf("after a restart: %q, %v, %v", val, ok, err)
		}
		return nil
	}))
}

// Checkpoints are due from begin to begin, and end before the next one is due.
func TestCheckpointsKeepTheirPeriod(t *testing.T) {
	const period = 20 * time.Second
	e := openMem(t, vfs.NewMem(), func(o *Options) { o.CheckpointPeriod, o.CheckpointDuration = period, time.Minute })
	defer e.Abandon()
	db := e.System()
	s := db.NewSession(SessionOptions{PID: 1})
	defer s.Close()
	newTree(t, s)
	must(t, s.WaitDurable())
	if _, due := db.checkpointDue(false); due {
		t.Error("a checkpoint is due at once")
	}
	db.ckpt.begun.Store(int64(db.eng.uptime() - period - time.Second)) // the last one took all the time since
	spread, due := db.checkpointDue(false)
	if !due || spread >= period {
		t.Errorf("due: %v, spread over %s of %s", due, spread, period)
	}
}
