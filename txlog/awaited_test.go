package txlog

import (
	"errors"
	"math/rand"
	"sync"
	"testing"
	"time"

	"herd/internal/vfs"
)

// addAwaited appends an entry whose owner calls Wait.
func addAwaited(t testing.TB, l *Local, seq Seq, size int) {
	t.Helper()
	r, err := l.Reserve(size, Normal)
	must(t, err)
	must(t, l.AppendAll([]Reservation{r}, []Entry{{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Commit, Payload: payload(seq, size), Awaited: true}}))
}

// TestWhoWaitsWrites: what is awaited is written when somebody waits for it; closing writes what nobody waited for.
func TestWhoWaitsWrites(t *testing.T) {
	m := newMem(t)
	l, _, err := reopen(t, Options{FS: m, Dir: dir}, 0)
	must(t, err)
	const rounds = 50
	seq, kept := Seq(0), 0
	for range rounds { // the writer takes what it finds when it is awake: some of the entries
		seq++
		addAwaited(t, l, seq, 100)
		time.Sleep(time.Millisecond)
		if l.Durable() < seq {
			kept++
		}
		must(t, l.Wait(seq, nil))
		if d := l.Durable(); d < seq {
			t.Errorf("waited for entry %d, durable is %d", seq, d)
		}
	}
	if kept == 0 {
		t.Errorf("each of %d awaited entries was written before anybody waited", rounds)
	}
	addAwaited(t, l, seq+1, 100)
	add(t, l, seq+2, 100) // the writer is told, and takes the one before with it
	for end := time.Now().Add(10 * time.Second); l.Durable() < seq+2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("entry %d is not written, durable is %d", seq+2, l.Durable())
		}
	}
	addAwaited(t, l, seq+3, 100)
	stop := make(chan struct{})
	must(t, l.Wait(seq+3, stop)) // the writer's: this wait could be left
	addAwaited(t, l, seq+4, 100)
	must(t, l.Close())
	l, got, err := reopen(t, Options{FS: m.CrashClone(vfs.CrashOptions{}), Dir: dir}, 0)
	must(t, err)
	wantSeqs(t, got, 1, seq+4)
	must(t, l.Close())
}

// TestAwaitedAmongOthers has many goroutines append both kinds, over many segments, and wait or not.
func TestAwaitedAmongOthers(t *testing.T) {
	const goroutines, rounds = 8, 200
	m := newMem(t)
	o := Options{FS: vfs.NewDelay(m, vfs.Disk{Sync: 50 * time.Microsecond}), Dir: dir, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	var mu sync.Mutex
	var seq Seq
	var all sync.WaitGroup
	for g := range goroutines {
		r := rand.New(rand.NewSource(int64(g)))
		all.Go(func() {
			for range rounds {
				size, awaited := 8+r.Intn(16000), r.Intn(3) > 0
				mu.Lock()
				seq++
				mine := seq
				if awaited {
					addAwaited(t, l, mine, size)
				} else {
					add(t, l, mine, size)
				}
				mu.Unlock()
				if awaited || r.Intn(2) == 0 {
					must(t, l.Wait(mine, nil))
					if d := l.Durable(); d < mine {
						t.Errorf("waited for entry %d, durable is %d", mine, d)
					}
				}
			}
		})
	}
	all.Wait()
	must(t, l.Close())
	l, got, err := reopen(t, Options{FS: m.CrashClone(vfs.CrashOptions{}), Dir: dir, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20}, 0)
	must(t, err)
	wantSeqs(t, got, 1, goroutines*rounds)
	must(t, l.Close())
}

// TestNobodyWaits: entries that are said to be awaited and are not do not stop the log when they fill its memory.
func TestNobodyWaits(t *testing.T) {
	l, _, err := reopen(t, Options{FS: newMem(t), Dir: dir}, 0)
	must(t, err)
	const entries, size = 40, 1 << 20
	for seq := Seq(1); seq <= entries; seq++ {
		addAwaited(t, l, seq, size)
	}
	must(t, l.Wait(entries, nil))
	must(t, l.Close())
}

// TestFailureOfWhoWrites: all who wait learn of it, and the log ends.
func TestFailureOfWhoWrites(t *testing.T) {
	boom := errors.New("boom")
	f := vfs.NewFault(newMem(t))
	fatal := make(chan error, 1)
	l, _, err := reopen(t, Options{FS: f, Dir: dir, Fatal: func(err error) { fatal <- err }}, 0)
	must(t, err)
	f.Add(vfs.Rule{Label: labelSync, Nth: 1, Err: boom})
	last := Seq(0)
	for range 5 { // the writer, when it is awake, may be the one whose write fails
		r, err := l.Reserve(100, Normal)
		if err == nil {
			err = l.Append(r, Entry{Epoch: 1, Seq: last + 1, Prev: last, Kind: Commit, Payload: payload(last+1, 100), Awaited: true})
		}
		if errors.Is(err, ErrFailed) {
			break
		}
		must(t, err)
		last++
	}
	var all sync.WaitGroup
	for seq := Seq(1); seq <= last; seq++ {
		all.Go(func() {
			if err := l.Wait(seq, nil); !errors.Is(err, ErrFailed) || !errors.Is(err, boom) {
				t.Errorf("wait for entry %d: %v", seq, err)
			}
		})
	}
	all.Wait()
	if err := <-fatal; !errors.Is(err, boom) {
		t.Errorf("fatal: %v", err)
	}
	if err := l.Close(); !errors.Is(err, ErrFailed) {
		t.Errorf("close: %v", err)
	}
}
