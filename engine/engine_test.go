package engine

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"herd/engine/lock"
	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/storage"
)

const tree1 = storage.ReservedTrees

type sqlError = sqlerr.Error

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openMem(t testing.TB, fsys vfs.FS, change ...func(*Options)) *Engine {
	t.Helper()
	o := Options{FS: fsys, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) {}}
	for _, f := range change {
		f(&o)
	}
	e, err := Open(o)
	must(t, err)
	return e
}

// newTree makes a tree in the system database and returns its number.
func newTree(t testing.TB, s *Session) storage.TreeID {
	t.Helper()
	tx := s.Begin(TxOptions{})
	id, err := tx.NewTree()
	must(t, err)
	must(t, tx.Commit())
	must(t, s.WaitDurable())
	return id
}

func put(t testing.TB, s *Session, tree storage.TreeID, key, val string) {
	t.Helper()
	tx := s.Begin(TxOptions{})
	must(t, tx.Put(tree, []byte(key), []byte(val)))
	must(t, tx.Commit())
	must(t, s.WaitDurable())
}

// get reads a key in a statement of its own, "" when it is absent.
func get(t testing.TB, s *Session, tree storage.TreeID, key string) string {
	t.Helper()
	tx := s.Begin(TxOptions{})
	v, _, err := tx.BeginStatement().Get(tree, []byte(key))
	must(t, err)
	out := string(v)
	must(t, tx.Commit())
	return out
}

func code(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return fmt.Sprint(err)
}

func TestCommitSurvivesRestart(t *testing.T) {
	for _, clean := range []bool{true, false} {
		m := vfs.NewMem()
		e := openMem(t, m)
		s := e.System().NewSession(SessionOptions{})
		tr := newTree(t, s)
		for i := range 100 {
			put(t, s, tr, fmt.Sprintf("k%03d", i), fmt.Sprintf("v%d", i))
		}
		tx := s.Begin(TxOptions{})
		must(t, tx.Delete(tr, []byte("k050")))
		must(t, tx.Commit())
		must(t, s.WaitDurable())
		s.Close()
		if clean {
			must(t, e.Close())
		} else {
			m = m.CrashClone(vfs.CrashOptions{})
		}
		e2 := openMem(t, m)
		s = e2.System().NewSession(SessionOptions{})
		if got := get(t, s, tr, "k099"); got != "v99" {
			t.Fatalf("clean=%v: k099 = %q", clean, got)
		}
		if got := get(t, s, tr, "k050"); got != "" {
			t.Fatalf("clean=%v: deleted key is back: %q", clean, got)
		}
		if n := e2.System().tip.Load().Count(tr); n != 99 {
			t.Fatalf("clean=%v: %d rows", clean, n)
		}
		put(t, s, tr, "k050", "again")
		s.Close()
		must(t, e2.Close())
		if !clean {
			e.Abandon()
		}
	}
}

func TestStatementsSeeTheirSnapshotAndOwnChanges(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	defer e.Close()
	a, b := e.System().NewSession(SessionOptions{}), e.System().NewSession(SessionOptions{})
	defer a.Close()
	defer b.Close()
	tr := newTree(t, a)
	put(t, a, tr, "x", "1")
	see := func(v storage.View, want string) {
		t.Helper()
		got, _, err := v.Get(tr, []byte("x"))
		must(t, err)
		if string(got) != want {
			t.Fatalf("saw %q, want %q", got, want)
		}
	}
	rc := a.Begin(TxOptions{})
	see(rc.BeginStatement(), "1")
	put(t, b, tr, "x", "2")
	see(rc.BeginStatement(), "2")
	v := rc.BeginStatement()
	must(t, rc.Put(tr, []byte("x"), []byte("3")))
	see(v, "2") // a statement does not see its own writes
	see(rc.BeginStatement(), "3")
	see(rc.Newest(), "3")
	rc.Rollback()

	rr := a.Begin(TxOptions{Isolation: RepeatableRead})
	see(rr.BeginStatement(), "2")
	put(t, b, tr, "x", "4")
	see(rr.BeginStatement(), "2")
	see(rr.Newest(), "4")
	rr.Rollback()
}

func TestSavepoints(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	defer e.Close()
	a, b := e.System().NewSession(SessionOptions{}), e.System().NewSession(SessionOptions{})
	defer a.Close()
	defer b.Close()
	tr := newTree(t, a)
	tx := a.Begin(TxOptions{})
	must(t, tx.Put(tr, []byte("a"), []byte("1")))
	m1 := tx.Savepoint()
	for i := range 40 {
		must(t, tx.Put(tr, fmt.Appendf(nil, "b%d", i), []byte("2")))
	}
	_, _, err := tx.LockRow(tr, []byte("locked"), lock.Update, lock.Wait)
	must(t, err)
	other := b.Begin(TxOptions{})
	if ok, _, _ := other.LockRow(tr, []byte("locked"), lock.Update, lock.SkipLocked); ok {
		t.Fatal("a row lock was not held")
	}
	tx.RollbackTo(m1)
	if ok, _, _ := other.LockRow(tr, []byte("locked"), lock.Update, lock.SkipLocked); !ok {
		t.Fatal("ROLLBACK TO kept a lock")
	}
	other.Rollback()
	must(t, tx.Put(tr, []byte("c"), []byte("3")))
	must(t, tx.Commit())
	if n := e.System().tip.Load().Count(tr); n != 2 {
		t.Fatalf("%d rows, want a and c", n)
	}
}

// TestNoUpdateIsLost is the rule "lock first, then read the newest": with a slow disk the row that a waiter finds is
// ordered but not durable.
func TestNoUpdateIsLost(t *testing.T) {
	d := vfs.NewDelay(vfs.NewMem(), vfs.Disk{})
	e := openMem(t, d)
	defer e.Close()
	s := e.System().NewSession(SessionOptions{})
	defer s.Close()
	tr := newTree(t, s)
	put(t, s, tr, "n", "0")
	d.SetSync(50 * time.Millisecond)
	const goroutines, rounds = 100, 5
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			s := e.System().NewSession(SessionOptions{})
			defer s.Close()
			for range rounds {
				tx := s.Begin(TxOptions{})
				tx.BeginStatement()
				if _, _, err := tx.LockRow(tr, []byte("n"), lock.NoKeyUpdate, lock.Wait); err != nil {
					t.Error(err)
					return
				}
				v, _, err := tx.Newest().Get(tr, []byte("n"))
				if err != nil {
					t.Error(err)
				}
				var n int
				fmt.Sscan(string(v), &n)
				if err := tx.Put(tr, []byte("n"), fmt.Appendf(nil, "%d", n+1)); err != nil {
					t.Error(err)
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
				if err := s.WaitDurable(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	d.SetSync(0)
	if got := get(t, s, tr, "n"); got != fmt.Sprint(goroutines*rounds) {
		t.Fatalf("counter is %s, want %d", got, goroutines*rounds)
	}
}

func TestPointReadDoesNotAllocate(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	defer e.Close()
	s := e.System().NewSession(SessionOptions{})
	defer s.Close()
	tr := newTree(t, s)
	put(t, s, tr, "k", "v")
	key := []byte("k")
	n := testing.AllocsPerRun(1000, func() {
		tx := s.Begin(TxOptions{Implicit: true})
		v := tx.BeginStatement()
		_ = tx.LockTable(7, lock.AccessShare, lock.Wait)
		_, _, _ = v.Get(tr, key)
		_ = tx.Commit()
		_ = s.WaitDurable()
	})
	if n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkPointRead(b *testing.B) {
	e := openMem(b, vfs.NewMem())
	defer e.Close()
	s := e.System().NewSession(SessionOptions{})
	defer s.Close()
	cpu := cpuNanos()
	for b.Loop() {
		tx := s.Begin(TxOptions{Implicit: true})
		tx.BeginStatement()
		_ = tx.Commit()
		_ = s.WaitDurable()
	}
	b.ReportMetric(float64(cpuNanos()-cpu)/float64(b.N), "cpu-ns/op")
}

// TestReadersDoNotWaitForOthersCommits: a reader gets the durable state and answers at once while a commit waits for
// the disk; a reader of the newest state answers after it.
func TestReadersDoNotWaitForOthersCommits(t *testing.T) {
	d := vfs.NewDelay(vfs.NewMem(), vfs.Disk{})
	e := openMem(t, d)
	defer e.Close()
	w, r := e.System().NewSession(SessionOptions{}), e.System().NewSession(SessionOptions{})
	defer w.Close()
	defer r.Close()
	tr := newTree(t, w)
	put(t, w, tr, "k", "old")
	d.SetSync(300 * time.Millisecond)
	tx := w.Begin(TxOptions{})
	must(t, tx.Put(tr, []byte("k"), []byte("new")))
	must(t, tx.Commit())
	look := func(f func(*Tx) storage.View) (string, time.Duration) {
		start := time.Now()
		tx := r.Begin(TxOptions{})
		v, _, err := f(tx).Get(tr, []byte("k"))
		must(t, err)
		got := string(v)
		must(t, tx.Commit())
		must(t, r.WaitDurable())
		return got, time.Since(start)
	}
	if got, took := look(func(tx *Tx) storage.View { tx.Look(); return tx.BeginStatement() }); got != "old" || took > 100*time.Millisecond {
		t.Fatalf("a reader saw %q after %v", got, took)
	}
	if got, took := look((*Tx).Newest); got != "new" || took < 100*time.Millisecond {
		t.Fatalf("who read the newest saw %q after %v", got, took)
	}
	if got, _ := look((*Tx).BeginStatement); got != "new" {
		t.Fatalf("then it saw %q", got)
	}
	d.SetSync(0)
	w.SetSynchronousCommit(false)
	tx = w.Begin(TxOptions{})
	must(t, tx.Put(tr, []byte("k"), []byte("async")))
	must(t, tx.Commit())
	must(t, w.WaitDurable())
	if got := get(t, w, tr, "k"); got != "async" {
		t.Fatalf("own asynchronous commit is not seen: %q", got)
	}
}
