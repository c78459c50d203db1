package lock

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"herd/sql/sqlerr"
)

// Who waits for a transaction waits until it ends, is found by deadlock detection, and is not held up by a new one.
func TestAwait(t *testing.T) {
	m := NewManager()
	a, b := m.NewOwner(1, NewInterrupt(), nil), m.NewOwner(2, NewInterrupt(), nil)
	defer a.Close()
	defer b.Close()
	must := func(granted bool, err error) {
		t.Helper()
		if !granted || err != nil {
			t.Fatal(granted, err)
		}
	}
	must(a.Table(10, RowExclusive, Wait))
	must(b.Table(10, ShareUpdateExclusive, Wait))
	list := b.Holders(10, TableShare)
	if len(list) != 1 || list[0].PID() != 1 {
		t.Fatalf("holders %v", list)
	}
	if got := b.Holders(10, RowExclusive); len(got) != 0 {
		t.Errorf("%d conflict with a writer", len(got))
	}
	done := make(chan error, 1)
	go func() { done <- b.Await(list[0]) }()
	for len(m.Blockers(2)) == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := m.Blockers(2); !slices.Equal(got, []int32{1}) {
		t.Errorf("blocked by %v", got)
	}
	a.ReleaseAll()
	must(a.Table(10, RowExclusive, Wait)) // the next transaction is nobody's business
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := b.Await(list[0]); err != nil {
		t.Errorf("a transaction that has ended: %v", err)
	}
	// a wants what b keeps, b waits for a.
	b.DeadlockDelay, a.DeadlockDelay = 1e6, 1e6
	scan := NewScanner()
	defer scan.Close()
	scan.Add(a.intr)
	scan.Add(b.intr)
	b.KeepTable(10, ShareUpdateExclusive)
	b.ReleaseAll()
	go func() {
		err := b.Await(a.Transaction())
		b.DropKept() // the one that is chosen gives up what the other wants
		done <- err
	}()
	for len(m.Blockers(2)) == 0 {
		time.Sleep(time.Millisecond)
	}
	_, err := a.Table(10, TableShare, Wait)
	a.ReleaseAll()
	other := <-done
	var e *sqlerr.Error
	if !errors.As(errors.Join(err, other), &e) || e.Code != sqlerr.DeadlockDetected {
		t.Errorf("no deadlock: %v, %v", err, other)
	}
	must(a.Table(10, AccessExclusive, NoWait))
	if list := m.List(); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

// No wake-up is lost when transactions end while others begin to wait for them.
func TestAwaitRace(t *testing.T) {
	m := NewManager()
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		o := m.NewOwner(int32(10+i), NewInterrupt(), nil)
		group.Go(func() {
			defer o.Close()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := o.Table(7, RowExclusive, Wait); err != nil {
					t.Error(err)
				}
				o.ReleaseAll()
			}
		})
	}
	w := m.NewOwner(1, NewInterrupt(), nil)
	defer w.Close()
	for range 2000 {
		for _, x := range w.Holders(7, TableShare) {
			if err := w.Await(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	group.Wait()
}
