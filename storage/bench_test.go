package storage

import (
	"encoding/binary"
	"math/rand"
	"runtime"
	"syscall"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
)

const benchTree TreeID = 1024

func benchKey(dst []byte, i uint64) []byte { return binary.BigEndian.AppendUint64(dst[:0], i) }

// loaded returns a store with one tree of n rows of size bytes.
func loaded(tb testing.TB, n, size int, shuffled bool) (*Store, *Snapshot, *ReaderSlot) {
	tb.Helper()
	st, _, err := openStore(vfs.NewMem(), 0, 0, mem.NewRoot(0))
	if err != nil {
		tb.Fatal(err)
	}
	s, err := st.Apply(st.Base(), 1, ChangeSet{{Tree: benchTree, Op: OpCreateTree}})
	if err != nil {
		tb.Fatal(err)
	}
	slot := st.NewSlot()
	order := rand.New(rand.NewSource(1)).Perm(n)
	val := make([]byte, size)
	rand.New(rand.NewSource(2)).Read(val)
	const batch = 1000
	for i := 0; i < n; i += batch {
		var sets []ChangeSet
		for j := i; j < min(i+batch, n); j++ {
			k := j
			if shuffled {
				k = order[j]
			}
			sets = append(sets, ChangeSet{{Tree: benchTree, Op: OpPut, Key: benchKey(nil, uint64(k)), Val: val}})
		}
		if s, err = st.Apply(s, Seq(i+2), sets...); err != nil {
			tb.Fatal(err)
		}
		if !slot.Pin(s) {
			tb.Fatal("pin")
		}
	}
	st.release()
	return st, s, slot
}

// cpuNs returns the processor time of the process: on a machine shared with others it says more than the clock.
func cpuNs() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(time.Duration(u.Utime.Nano() + u.Stime.Nano()))
}

func BenchmarkGet(b *testing.B) {
	st, s, _ := loaded(b, 1_000_000, 1024, false)
	defer st.Close()
	r := rand.New(rand.NewSource(3))
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = benchKey(nil, uint64(r.Intn(1_000_000)))
	}
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	begin := cpuNs()
	defer func() { b.ReportMetric((cpuNs()-begin)/float64(b.N), "cpu-ns/op") }()
	for i := range b.N {
		if _, ok, _ := s.Get(benchTree, keys[i&(1<<16-1)]); !ok {
			b.Fatal("missing")
		}
	}
}

func BenchmarkPin(b *testing.B) {
	st, s, _ := loaded(b, 1000, 100, false)
	defer st.Close()
	slot := st.NewSlot()
	for b.Loop() {
		slot.Pin(s)
		slot.Unpin()
	}
}

func benchApply(b *testing.B, rows, size, batch int) {
	st, s, slot := loaded(b, rows, size, true)
	defer st.Close()
	r := rand.New(rand.NewSource(3))
	val := make([]byte, size)
	sets := make([]ChangeSet, batch)
	for i := range sets {
		sets[i] = ChangeSet{{Tree: benchTree, Op: OpPut, Key: make([]byte, 8), Val: val}}
	}
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	seq := s.Seq()
	begin := cpuNs()
	defer func() { b.ReportMetric((cpuNs()-begin)/float64(b.N*batch), "cpu-ns/change") }()
	for b.Loop() {
		for i := range sets {
			benchKey(sets[i][0].Key, uint64(r.Intn(rows)))
		}
		seq += Seq(batch)
		var err error
		if s, err = st.Apply(s, seq, sets...); err != nil {
			b.Fatal(err)
		}
		slot.Pin(s)
	}
}

func BenchmarkApplyOne(b *testing.B)    { benchApply(b, 1_000_000, 1024, 1) }
func BenchmarkApplyThirty(b *testing.B) { benchApply(b, 1_000_000, 1024, 32) }

// BenchmarkApplyNarrow updates rows of 100 bytes.
func BenchmarkApplyNarrow(b *testing.B) { benchApply(b, 1_000_000, 100, 1) }

func BenchmarkScan(b *testing.B) {
	st, s, _ := loaded(b, 1_000_000, 100, false)
	defer st.Close()
	var c Cursor
	vals := make([][]byte, 1024)
	b.ResetTimer()
	rows := 0
	for range b.N {
		c.Init(View{Snap: s}, benchTree, nil, nil, false)
		for {
			n := c.NextRows(vals, nil)
			if n == 0 {
				break
			}
			rows += n
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkResident reports the bytes in memory per byte of raw row (key and value), from the books and from the heap.
func BenchmarkResident(b *testing.B) {
	for _, shuffled := range []bool{false, true} {
		name := "ordered"
		if shuffled {
			name = "random"
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				const n = 200_000
				st, s, _ := loaded(b, n, 1024, shuffled)
				runtime.GC()
				runtime.GC()
				runtime.ReadMemStats(&after)
				raw := float64(n * (1024 + 8))
				b.ReportMetric(float64(st.Stats().Resident)/raw, "booked/raw")
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/raw, "heap/raw")
				runtime.KeepAlive(s)
				st.Close()
			}
		})
	}
}

// BenchmarkGetSmall is Get without cache misses: what the instructions cost.
func BenchmarkGetSmall(b *testing.B) {
	st, s, _ := loaded(b, 2000, 100, false)
	defer st.Close()
	key := make([]byte, 8)
	b.ReportAllocs()
	b.ResetTimer()
	begin := cpuNs()
	defer func() { b.ReportMetric((cpuNs()-begin)/float64(b.N), "cpu-ns/op") }()
	for i := range b.N {
		if _, ok, _ := s.Get(benchTree, benchKey(key, uint64(i)*7919%2000)); !ok {
			b.Fatal("missing")
		}
	}
}

// BenchmarkApplySmall is Apply without cache misses.
func BenchmarkApplySmall(b *testing.B) { benchApply(b, 2000, 1024, 1) }
