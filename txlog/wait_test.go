package txlog

import (
	"errors"
	"sync"
	"testing"

	"herd/internal/vfs"
)

// TestWaitAllocatesNothing holds an entry, from its reservation until it is durable, to no allocation.
func TestWaitAllocatesNothing(t *testing.T) {
	l, _, err := reopen(t, Options{FS: vfs.OS, Dir: t.TempDir(), Mode: SyncNever}, 0)
	must(t, err)
	defer l.Close()
	p := payload(1, 100)
	seq := Seq(0)
	n := testing.AllocsPerRun(500, func() {
		seq++
		r, err := l.Reserve(len(p), Normal)
		must(t, err)
		must(t, l.Append(r, Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Commit, Payload: p}))
		must(t, l.Wait(seq, nil))
	})
	if n > 0 {
		t.Errorf("an entry costs %v allocations", n)
	}
}

// TestWaitersLeave has waiters of many entries come and go, some of them stopped.
func TestWaitersLeave(t *testing.T) {
	l, _, err := reopen(t, Options{FS: newMem(t), Dir: dir}, 0)
	must(t, err)
	var wg sync.WaitGroup
	for seq := Seq(1); seq <= 300; seq++ {
		add(t, l, seq, 50)
		stop := make(chan struct{})
		wg.Go(func() {
			if err := l.Wait(seq, stop); err != nil && !errors.Is(err, ErrInterrupted) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			must(t, l.Wait(seq, nil))
			if l.Durable() < seq {
				t.Errorf("waited for entry %d, durable is %d", seq, l.Durable())
			}
		})
		if seq%3 == 0 {
			close(stop)
		}
	}
	wg.Wait()
	if len(l.waiting.list) != 0 {
		t.Errorf("%d waiters are left", len(l.waiting.list))
	}
	must(t, l.Close())
}
