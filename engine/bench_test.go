package engine

import (
	"encoding/binary"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"herd/engine/lock"
	"herd/storage"
)

// loadRows fills a tree with n rows of size bytes in transactions of 1,000.
func loadRows(t testing.TB, s *Session, tr storage.TreeID, n, size int) {
	t.Helper()
	val := make([]byte, size)
	for i := 0; i < n; {
		tx := s.Begin(TxOptions{})
		for range 1000 {
			if i == n {
				break
			}
			must(t, tx.Put(tr, rowKey(nil, i), val))
			i++
		}
		must(t, tx.Commit())
	}
	must(t, s.WaitDurable())
}

func rowKey(b []byte, i int) []byte { return binary.BigEndian.AppendUint64(b[:0], uint64(i)) }

// cpuNanos is the processor time of the process so far.
func cpuNanos() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkUpdate is one-row updates of 1 KiB rows on the real disk, one transaction each, waiting for the disk.
func BenchmarkUpdate(b *testing.B) {
	for _, sessions := range []int{1, 8, 32, 200} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			e, err := Open(Options{Dir: b.TempDir(), CheckpointPeriod: -1, CheckpointLogBytes: 1 << 40, CheckpointDirtyBytes: 1 << 40})
			if err != nil {
				b.Fatal(err)
			}
			db := e.System()
			s := db.NewSession(SessionOptions{})
			tr := newTree(b, s)
			const rows = 20000
			loadRows(b, s, tr, rows, 1024)
			s.Close()
			must(b, db.Checkpoint())
			var wg sync.WaitGroup
			b.ReportAllocs()
			cpu := cpuNanos()
			b.ResetTimer()
			for w := range sessions {
				n := b.N / sessions
				if w < b.N%sessions {
					n++
				}
				wg.Go(func() {
					s := db.NewSession(SessionOptions{})
					defer s.Close()
					val := make([]byte, 1024)
					key := make([]byte, 8)
					x := uint32(w)*2654435761 + 1
					for range n {
						x = x*1664525 + 1013904223
						key = rowKey(key, int(x>>8)%rows)
						tx := s.Begin(TxOptions{Implicit: true})
						tx.BeginStatement()
						if _, _, err := tx.LockRow(tr, key, lock.NoKeyUpdate, lock.Wait); err != nil {
							b.Error(err)
							return
						}
						if _, _, err := tx.Newest().Get(tr, key); err != nil {
							b.Error(err)
						}
						binary.LittleEndian.PutUint64(val, tx.ID())
						if err := tx.Put(tr, key, val); err != nil {
							b.Error(err)
						}
						if err := tx.Commit(); err != nil {
							b.Error(err)
						}
						if err := s.WaitDurable(); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			st := db.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(st.Commits)/float64(max(st.Batches, 1)), "commits/batch")
			b.ReportMetric(float64(st.SyncNanos)/float64(max(st.Syncs, 1))/1e3, "us/sync")
			b.ReportMetric(float64(cpuNanos()-cpu)/float64(b.N)/1e3, "cpu-us/op")
			b.ReportMetric(float64(st.LogEntries)/float64(max(st.LogGroups, 1)), "entries/group")
			must(b, e.Abandon())
		})
	}
}
