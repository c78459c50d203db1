package engine

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/storage"
)

// putRows puts n rows of a kilobyte that does not compress.
func putRows(t *testing.T, s *Session, from, n int) {
	t.Helper()
	r := rand.New(rand.NewSource(int64(from)))
	val := make([]byte, 1000)
	tx := s.Begin(TxOptions{})
	for i := from; i < from+n; i++ {
		r.Read(val)
		must(t, tx.Put(tree1, fmt.Appendf(nil, "%08d", i), val))
	}
	must(t, tx.Commit())
	must(t, s.WaitDurable())
}

// A background checkpoint spreads its writes evenly over its duration, and one that somebody waits for does not.
func TestCheckpointKeepsToItsDuration(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	defer e.Abandon()
	db := e.System()
	s := db.NewSession(SessionOptions{PID: 1})
	defer s.Close()
	newTree(t, s)
	putRows(t, s, 0, 4000)
	const spread = 800 * time.Millisecond
	start, late := time.Now(), make(chan float64, 1)
	go func() {
		time.Sleep(spread / 2)
		late <- float64(db.ckpt.done.Load()) / float64(db.ckpt.total.Load())
	}()
	must(t, db.checkpointNow(spread))
	if took := time.Since(start); took < spread/2 { // what is to be written is known roughly: blocks may be replaced meanwhile
		t.Errorf("it took %s of %s", took, spread)
	}
	if share := <-late; share > 0.8 {
		t.Errorf("%.0f %% were written after half of the time", 100*share)
	}
	putRows(t, s, 4000, 4000)
	slow := make(chan error, 1)
	go func() { slow <- db.checkpointNow(10 * time.Minute) }()
	for db.ckpt.total.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	start = time.Now()
	must(t, db.Checkpoint())
	if took := time.Since(start); took > time.Minute {
		t.Errorf("a checkpoint that somebody waits for took %s", took)
	}
	if err := <-slow; !errors.Is(err, storage.ErrStopped) {
		t.Errorf("the one that took its time ended with %v", err)
	}
}

// The threshold of live bytes decides which data files are rewritten.
func TestFillThreshold(t *testing.T) {
	for _, x := range []struct {
		percent int
		cleaned bool
	}{{-1, false}, {20, false}, {90, true}} {
		e := openMem(t, vfs.NewMem(), func(o *Options) { o.CleanPercent = x.percent })
		db := e.System()
		s := db.NewSession(SessionOptions{PID: 1})
		newTree(t, s)
		putRows(t, s, 0, 8000)
		must(t, db.Checkpoint())
		// Every other stretch of 50 rows is replaced: half of what is on disk is dead.
		for from := 0; from < 8000; from += 100 {
			putRows(t, s, from, 50)
		}
		must(t, db.Checkpoint())
		for range 4 {
			must(t, db.maintain())
			putRows(t, s, 8000, 1) // so that there is something to write
			must(t, db.Checkpoint())
		}
		must(t, db.maintain())
		st := db.store.Stats()
		share := float64(st.LiveBytes) / float64(st.DiskBytes)
		if cleaned := share > 0.85; cleaned != x.cleaned {
			t.Errorf("threshold %d: %.0f %% of %d bytes on disk are live", x.percent, 100*share, st.DiskBytes)
		}
		s.Close()
		must(t, e.Abandon())
	}
}
