package txlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/internal/vfs"
)

const dir = "/log"

func newMem(t testing.TB) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", dir))
	must(t, m.SyncDir("t", "/"))
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// payload makes contents that depend on seq and size.
func payload(seq Seq, size int) []byte {
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(seq) + byte(i*7)
	}
	if size >= 8 {
		binary.LittleEndian.PutUint64(p, uint64(seq))
	}
	return p
}

func add(t testing.TB, l *Local, seq Seq, size int) {
	t.Helper()
	r, err := l.Reserve(size, Normal)
	must(t, err)
	must(t, l.Append(r, Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Commit, Payload: payload(seq, size)}))
}

// reopen opens the log and returns the entries it replayed, checking their contents.
func reopen(t testing.TB, o Options, from Position) (*Local, []Seq, error) {
	t.Helper()
	var got []Seq
	l, err := OpenLocal(o, from, func(_ Position, e Entry) error {
		if !bytes.Equal(e.Payload, payload(e.Seq, len(e.Payload))) {
			return fmt.Errorf("entry %d has foreign bytes", e.Seq)
		}
		got = append(got, e.Seq)
		return nil
	})
	return l, got, err
}

func wantSeqs(t testing.TB, got []Seq, first, last Seq) {
	t.Helper()
	if len(got) != int(last-first)+1 && !(len(got) == 0 && last < first) {
		t.Fatalf("replayed %d entries %v, want %d..%d", len(got), ends(got), first, last)
	}
	for i, s := range got {
		if s != first+Seq(i) {
			t.Fatalf("entry %d is %d, want %d", i, s, first+Seq(i))
		}
	}
}

func ends(s []Seq) []Seq {
	if len(s) < 3 {
		return s
	}
	return []Seq{s[0], s[len(s)-1]}
}

func TestEntriesComeBackAcrossSegments(t *testing.T) {
	m := newMem(t)
	o := Options{FS: m, Dir: dir, SegmentBytesMax: 4 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	r := rand.New(rand.NewSource(1))
	const n = 300
	var mid Position
	for i := Seq(1); i <= n; i++ {
		add(t, l, i, r.Intn(100<<10))
		if i%10 == 0 {
			must(t, l.Wait(i, nil))
		}
		if i == 150 {
			must(t, l.Barrier())
			mid = l.EndOf(150)
		}
	}
	must(t, l.Close())
	l, got, err := reopen(t, o, 0)
	must(t, err)
	wantSeqs(t, got, 1, n)
	add(t, l, n+1, 10)
	must(t, l.Close())
	l, got, err = reopen(t, o, mid)
	must(t, err)
	wantSeqs(t, got, 151, n+1)
	must(t, l.Close())
}

func TestTruncateRecyclesSegments(t *testing.T) {
	m := newMem(t)
	o := Options{FS: m, Dir: dir, SegmentBytesMax: 4 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	var pos Position
	seq := Seq(0)
	for range 20 {
		for range 40 {
			seq++
			add(t, l, seq, 50<<10)
		}
		must(t, l.Barrier())
		pos = l.EndOf(seq)
		must(t, l.Truncate(pos))
	}
	names, err := m.ReadDir("t", dir)
	must(t, err)
	if len(names) > 5 {
		t.Fatalf("%d segments are left: %v", len(names), names)
	}
	seq++
	add(t, l, seq, 100)
	must(t, l.Close())
	l, got, err := reopen(t, o, pos)
	must(t, err)
	wantSeqs(t, got, seq, seq)
	must(t, l.Close())
	if _, _, err := reopen(t, o, 64); err == nil {
		t.Fatal("a position that was truncated away could be replayed from")
	}
}

// TestCrashAtEverySync crashes at every sync point, with part of the unsynced bytes surviving, and demands that all
// acknowledged entries come back, in order and without holes.
func TestCrashAtEverySync(t *testing.T) {
	m := newMem(t)
	var acked atomic.Uint64
	type shot struct {
		fs    *vfs.Mem
		acked Seq
		n     int
	}
	var mu sync.Mutex
	var shots []shot
	rnd := rand.New(rand.NewSource(7))
	m.SetSyncHook(func(n int, _ vfs.Label) {
		mu.Lock()
		defer mu.Unlock()
		a := Seq(acked.Load())
		shots = append(shots, shot{m.CrashClone(vfs.CrashOptions{Rand: rnd, KeepPercent: 10 * (n % 11)}), a, n})
	})
	o := Options{FS: m, Dir: dir, SegmentBytesMax: 3 << 20, SegmentBytes: 3 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	r := rand.New(rand.NewSource(2))
	seq := Seq(0)
	for range 60 {
		for range r.Intn(5) + 1 {
			seq++
			add(t, l, seq, r.Intn(60<<10))
		}
		must(t, l.Wait(seq, nil))
		acked.Store(uint64(seq))
		mu.Lock() // segments are made ahead by a goroutine
		truncate := len(shots)%13 == 5
		mu.Unlock()
		if truncate {
			must(t, l.Truncate(0))
		}
	}
	must(t, l.Close())
	for _, s := range shots {
		o := Options{FS: s.fs, Dir: dir, SegmentBytesMax: 3 << 20, SegmentBytes: 3 << 20}
		l, got, err := reopen(t, o, 0)
		if err != nil {
			t.Fatalf("crash at sync %d: %v", s.n, err)
		}
		if Seq(len(got)) < s.acked {
			t.Fatalf("crash at sync %d: %d entries came back, %d were acknowledged", s.n, len(got), s.acked)
		}
		wantSeqs(t, got, 1, Seq(len(got)))
		// The log must go on from there, and nothing of the lost tail may come back.
		next := Seq(len(got)) + 1
		add(t, l, next, 100)
		must(t, l.Close())
		l, got, err = reopen(t, o, 0)
		must(t, err)
		wantSeqs(t, got, 1, next)
		must(t, l.Close())
	}
	t.Logf("%d crashes", len(shots))
}

func TestCorruptionIsNotATornTail(t *testing.T) {
	build := func() (*vfs.Mem, Options, []int64) {
		m := newMem(t)
		o := Options{FS: m, Dir: dir}
		l, _, err := reopen(t, o, 0)
		must(t, err)
		var offs []int64
		for i := Seq(1); i <= 10; i++ {
			offs = append(offs, int64(l.End()))
			add(t, l, i, 1000)
			must(t, l.Wait(i, nil))
		}
		must(t, l.Close())
		return m, o, offs
	}
	flip := func(m *vfs.Mem, off int64) {
		f, err := m.Open("t", segmentName(dir, 1))
		must(t, err)
		var b [1]byte
		_, err = f.ReadAt("t", b[:], off)
		must(t, err)
		b[0] ^= 0x40
		_, err = f.WriteAt("t", b[:], off)
		must(t, err)
	}
	m, o, offs := build()
	flip(m, offs[4]+300)
	_, _, err := reopen(t, o, 0)
	var ce *CorruptError
	if !errors.As(err, &ce) {
		t.Fatalf("a flipped bit in the middle: %v", err)
	}
	if ce.Offset != offs[4] || filepath.Base(ce.File) != filepath.Base(segmentName(dir, 1)) {
		t.Fatalf("reported %s at %d, want offset %d", ce.File, ce.Offset, offs[4])
	}
	m, o, offs = build()
	flip(m, offs[9]+300)
	l, got, err := reopen(t, o, 0)
	must(t, err)
	wantSeqs(t, got, 1, 9)
	must(t, l.Close())
}

func TestFullDiskRefusesOnlyReservations(t *testing.T) {
	m := newMem(t)
	m.SetSpace(9 << 20)
	o := Options{FS: m, Dir: dir, SegmentBytes: 4 << 20, SegmentBytesMax: 4 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	var seq Seq
	for {
		r, err := l.Reserve(100<<10, Normal)
		if err != nil {
			if !errors.Is(err, ErrNoSpace) {
				t.Fatalf("got %v, want ErrNoSpace", err)
			}
			break
		}
		seq++
		must(t, l.Append(r, Entry{Seq: seq, Prev: seq - 1, Kind: Commit, Payload: payload(seq, 100<<10)}))
	}
	if seq < 10 {
		t.Fatalf("only %d entries fit", seq)
	}
	r, err := l.Reserve(100<<10, Shrinking)
	if err != nil {
		t.Fatalf("DELETE finds no reserve: %v", err)
	}
	l.Cancel(r)
	m.SetSpace(100 << 20)
	add(t, l, seq+1, 100<<10)
	must(t, l.Close())
	l, got, err := reopen(t, o, 0)
	must(t, err)
	wantSeqs(t, got, 1, seq+1)
	must(t, l.Close())
}

func TestSyncErrorIsFatalAndNotRetried(t *testing.T) {
	boom := errors.New("boom")
	f := vfs.NewFault(newMem(t))
	var fatal atomic.Int32
	o := Options{FS: f, Dir: dir, Fatal: func(error) { fatal.Add(1) }}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	add(t, l, 1, 10)
	must(t, l.Wait(1, nil))
	f.Add(vfs.Rule{Label: labelSync, Nth: 1, Err: boom})
	add(t, l, 2, 10)
	if err := l.Wait(2, nil); !errors.Is(err, ErrFailed) || !errors.Is(err, boom) {
		t.Fatalf("wait: %v", err)
	}
	if _, err := l.Reserve(10, Normal); !errors.Is(err, ErrFailed) {
		t.Fatalf("reserve after failure: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); fatal.Load() == 0 && time.Now().Before(end); { // those who wait are told first
		time.Sleep(time.Millisecond)
	}
	if fatal.Load() != 1 {
		t.Fatalf("Fatal was called %d times", fatal.Load())
	}
	if err := l.Close(); !errors.Is(err, ErrFailed) {
		t.Fatalf("close: %v", err)
	}
}

func TestSyncModes(t *testing.T) {
	for _, mode := range []SyncMode{SyncEvery, SyncNever} {
		m := newMem(t)
		o := Options{FS: m, Dir: dir, Mode: mode, Interval: time.Hour}
		l, _, err := reopen(t, o, 0)
		must(t, err)
		time.Sleep(20 * time.Millisecond) // the segment ahead
		before := m.Syncs()
		for i := Seq(1); i <= 20; i++ {
			add(t, l, i, 100)
			must(t, l.Wait(i, nil))
		}
		if n := m.Syncs() - before; n > 6 {
			t.Fatalf("mode %d: %d syncs", mode, n)
		}
		must(t, l.Close())
		l, got, err := reopen(t, Options{FS: m.CrashClone(vfs.CrashOptions{}), Dir: dir}, 0)
		must(t, err)
		wantSeqs(t, got, 1, 20) // Close syncs
		must(t, l.Close())
	}
}

func TestGroupCommitSharesSyncs(t *testing.T) {
	d := vfs.NewDelay(newMem(t), vfs.Disk{Sync: 2 * time.Millisecond})
	l, _, err := reopen(t, Options{FS: d, Dir: dir}, 0)
	must(t, err)
	var mu sync.Mutex
	var seq Seq
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				r, err := l.Reserve(100, Normal)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seq++
				mine := seq
				err = l.Append(r, Entry{Seq: mine, Prev: mine - 1, Kind: Commit, Payload: payload(mine, 100)})
				mu.Unlock()
				if err == nil {
					err = l.Wait(mine, nil)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if g := l.Stats().Groups.Load(); g > 100 {
		t.Fatalf("1000 entries of 50 writers went out in %d groups", g)
	}
	must(t, l.Close())
}

func TestWaitCanBeInterrupted(t *testing.T) {
	d := vfs.NewDelay(newMem(t), vfs.Disk{})
	l, _, err := reopen(t, Options{FS: d, Dir: dir}, 0)
	must(t, err)
	d.SetSync(200 * time.Millisecond)
	add(t, l, 1, 10)
	stop := make(chan struct{})
	close(stop)
	if err := l.Wait(1, stop); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	must(t, l.Close())
}

func TestInspect(t *testing.T) {
	m := newMem(t)
	l, _, err := reopen(t, Options{FS: m, Dir: dir}, 0)
	must(t, err)
	for i := Seq(1); i <= 5; i++ {
		add(t, l, i, 10)
		must(t, l.Wait(i, nil))
	}
	must(t, l.Close())
	n := 0
	sum, err := Inspect(m, dir, 0, func(GroupInfo) { n++ }, nil)
	must(t, err)
	if n != 5 || sum.Entries != 5 || sum.Last != 5 {
		t.Fatalf("%d groups, %+v", n, sum)
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, waiters := range []int{1, 32, 200} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			d := b.TempDir()
			if p := os.Getenv("HERD_BENCH_DIR"); p != "" {
				d = p
			}
			l, err := OpenLocal(Options{FS: vfs.OS, Dir: d}, 0, func(Position, Entry) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
			p := payload(1, 1024)
			var mu sync.Mutex
			var seq Seq
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range waiters {
				n := b.N / waiters
				if w < b.N%waiters {
					n++
				}
				wg.Go(func() {
					for range n {
						r, err := l.Reserve(len(p), Normal)
						if err != nil {
							b.Error(err)
							return
						}
						mu.Lock()
						seq++
						mine := seq
						_ = l.Append(r, Entry{Seq: mine, Prev: mine - 1, Kind: Commit, Payload: p})
						mu.Unlock()
						_ = l.Wait(mine, nil)
						if mine%20000 == 0 {
							_ = l.Truncate(l.EndOf(mine))
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(l.Stats().Groups.Load())/b.Elapsed().Seconds(), "groups/s")
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestBuffersShrink writes much and expects the log to use its buffers again meanwhile, and to give them back afterwards.
func TestBuffersShrink(t *testing.T) {
	m := vfs.NewMem()
	if err := m.MkdirAll("test", "/log"); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLocal(Options{FS: m, Dir: "/log"}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	payload := make([]byte, 900<<10)
	seq := Seq(0)
	write := func(n int) {
		for range n {
			seq++
			r, err := l.Reserve(len(payload), Normal)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Append(r, Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Part, Payload: payload}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Barrier(); err != nil {
			t.Fatal(err)
		}
	}
	write(20)
	held := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return cap(l.buf) + cap(l.spare)
	}
	if held() < len(payload) {
		t.Errorf("%d bytes of buffers while parts are written", held())
	}
	if err := l.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if held() > 2*spareMax {
		t.Errorf("%d bytes of buffers afterwards", held())
	}
}
