package engine

import (
	"fmt"
	"math/rand"
	"os"
	"testing"

	"herd/storage"
	"herd/txlog"
)

// replayWork is what fills a log that is replayed.
type replayWork struct {
	name string
	rows int // in the tree before; the log has them too
	size int // bytes of a value
	each int // changes a transaction
	fill func(s *Session, trees [2]storage.TreeID, w *replayWork, log int64) error
}

// fillUpdates overwrites rows at random until the log has so many bytes.
func fillUpdates(s *Session, trees [2]storage.TreeID, w *replayWork, log int64) error {
	r := rand.New(rand.NewSource(1))
	key, val := make([]byte, 8), make([]byte, w.size)
	for s.db.log.Bytes() < log {
		tx := s.Begin(TxOptions{})
		for range w.each {
			r.Read(val[:16])
			key = rowKey(key, r.Intn(w.rows))
			if err := tx.Put(trees[0], key, val); err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return s.WaitDurable()
}

// fillInserts adds rows in order, and an entry of an index at random for each.
func fillInserts(s *Session, trees [2]storage.TreeID, w *replayWork, log int64) error {
	r := rand.New(rand.NewSource(1))
	key, val, entry := make([]byte, 8), make([]byte, w.size), make([]byte, 16)
	for n := w.rows; s.db.log.Bytes() < log; {
		tx := s.Begin(TxOptions{})
		for range w.each {
			n++
			r.Read(val[:16])
			r.Read(entry)
			key = rowKey(key, n)
			if err := tx.Put(trees[0], key, val); err != nil {
				return err
			}
			if err := tx.Put(trees[1], entry, nil); err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return s.WaitDurable()
}

// BenchmarkReplay opens a database whose log of 256 MiB has to be replayed; MB/s are bytes of log. HERD_REPLAY_MEMORY is a limit in MiB.
func BenchmarkReplay(b *testing.B) {
	const log = 256 << 20
	for _, w := range []replayWork{
		{"load/1KiB", 0, 1024, 5000, fillInserts},
		{"insert/1KiB", 0, 1024, 1, fillInserts},
		{"insert/100B", 0, 100, 1, fillInserts},
		{"update/1KiB", 200_000, 1024, 1, fillUpdates},
		{"update/100B", 1_000_000, 100, 1, fillUpdates},
	} {
		b.Run(w.name, func(b *testing.B) {
			var limit int64
			fmt.Sscan(os.Getenv("HERD_REPLAY_MEMORY"), &limit)
			o := Options{Dir: b.TempDir(), LogSync: txlog.SyncNever, CheckpointPeriod: -1, CheckpointLogBytes: 1 << 40, CheckpointDirtyBytes: 1 << 40}
			e, err := Open(o)
			must(b, err)
			s := e.System().NewSession(SessionOptions{})
			trees := [2]storage.TreeID{newTree(b, s), newTree(b, s)}
			loadRows(b, s, trees[0], w.rows, w.size)
			must(b, e.System().Checkpoint())
			before := e.System().log.Bytes()
			must(b, w.fill(s, trees, &w, before+log))
			b.SetBytes(e.System().log.Bytes() - before)
			s.Close()
			must(b, e.Abandon())
			o.MemLimit = limit << 20
			b.ReportAllocs()
			cpu := cpuNanos()
			for b.Loop() {
				if e, err = Open(o); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				must(b, e.Abandon())
				b.StartTimer()
			}
			b.ReportMetric(float64(cpuNanos()-cpu)/float64(b.N)/1e9, "cpu-s/op")
		})
	}
}
