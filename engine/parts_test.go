package engine

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// fill puts rows whose keys begin with prefix and returns how many.
func fill(t *testing.T, tx *Tx, tr storage.TreeID, prefix string, rows int) int64 {
	t.Helper()
	for i := range rows {
		must(t, tx.Put(tr, fmt.Appendf(nil, "%s%06d", prefix, i), []byte(strings.Repeat(prefix, 1000))))
	}
	return int64(rows)
}

// TestSavepointsAndParts takes back what is in the log already, and loses power at every sync: a transaction is there as
// it was committed, or not at all, whether the replay keeps its parts in memory or not.
func TestSavepointsAndParts(t *testing.T) {
	for _, replayBytes := range []int{64 << 20, 1 << 20} {
		m := vfs.NewMem()
		small := func(o *Options) { o.replayBytes = replayBytes }
		e := openMem(t, m, small)
		db := e.System()
		s := db.NewSession(SessionOptions{})
		tr := newTree(t, s)
		put(t, s, tr, "old", "row")
		var clones []*vfs.Mem
		m.SetSyncHook(func(n int, l vfs.Label) {
			if l == "log.sync" && n%3 == 0 {
				clones = append(clones, m.CrashClone(vfs.CrashOptions{}))
			}
		})
		tx := s.Begin(TxOptions{})
		made, err := tx.NewTree()
		must(t, err)
		gone, err := tx.NewTree()
		must(t, err)
		want := 1 + fill(t, tx, tr, "a", 12<<10)
		fill(t, tx, gone, "x", 9<<10)
		mark := tx.Savepoint()
		fill(t, tx, tr, "b", 12<<10)
		fill(t, tx, made, "b", 9<<10)
		if db.log.Last() < 10 {
			t.Fatal("nothing was logged before the commit")
		}
		tx.RollbackTo(mark)
		must(t, tx.DropTree(gone))
		inMade := fill(t, tx, made, "c", 10<<10)
		must(t, tx.Delete(tr, []byte("a000000")))
		want--
		must(t, tx.Commit())
		must(t, s.WaitDurable())
		check := func(e *Engine, what string, committed bool) {
			t.Helper()
			tip := e.System().tip.Load()
			if !committed && tip.Count(tr) == 1 && !tip.TreeExists(made) {
				return
			}
			if tip.Count(tr) != want || tip.Count(made) != inMade || tip.TreeExists(gone) {
				t.Errorf("%s: %d rows, want %d; %d in the new table, want %d; dropped one there: %v",
					what, tip.Count(tr), want, tip.Count(made), inMade, tip.TreeExists(gone))
			}
		}
		check(e, "committed", true)
		m.SetSyncHook(nil)
		last := m.CrashClone(vfs.CrashOptions{})
		s.Close()
		must(t, e.Close())
		checkFolder(t, last)
		for i, c := range append(clones, last) {
			e := openMem(t, c, small)
			check(e, fmt.Sprintf("crash %d of %d", i, len(clones)), c == last)
			must(t, e.System().Checkpoint())
			must(t, e.Close())
		}
		if len(clones) < 2 {
			t.Errorf("only %d crashes", len(clones))
		}
	}
}

// TestPartsOfRollback gives a transaction up that is in the log already: the log can be freed, and nothing of it stays.
func TestPartsOfRollback(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	before := db.store.Stats()
	tx := s.Begin(TxOptions{})
	fill(t, tx, tr, "a", 30<<10)
	if n := len(db.parts.open); n != 1 {
		t.Fatalf("%d transactions have parts", n)
	}
	tx.Rollback()
	if n := len(db.parts.open); n != 0 {
		t.Errorf("%d transactions have parts after the rollback", n)
	}
	must(t, db.store.Maintain())
	if st := db.store.Stats(); st.Resident != before.Resident || st.Segments != before.Segments || st.Spilled != 0 {
		t.Errorf("after the rollback: %+v, before %+v", st, before)
	}
	must(t, db.Checkpoint())
	if n := db.log.Bytes(); n > 16<<20 {
		t.Errorf("the log still has %d bytes", n)
	}
	s.Close()
	must(t, e.Close())
	e = openMem(t, m)
	if n := e.System().tip.Load().Count(tr); n != 0 {
		t.Errorf("%d rows of a transaction that was rolled back", n)
	}
	must(t, e.Close())
}

// TestLongLoad loads more than memory holds in one transaction, in order and behind rows that are there; the rows are
// written to the data files once.
func TestLongLoad(t *testing.T) {
	m := vfs.NewMem()
	little := func(o *Options) { o.Memory = mem.NewRoot(16 << 20) }
	e := openMem(t, m, little)
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	var want int64
	for _, prefix := range []string{"a", "b"} {
		tx := s.Begin(TxOptions{})
		want += fill(t, tx, tr, prefix, 24<<10)
		must(t, tx.Commit())
		must(t, s.WaitDurable())
	}
	must(t, db.Checkpoint())
	must(t, db.store.Maintain())
	if n := db.tip.Load().Count(tr); n != want {
		t.Fatalf("%d rows, want %d", n, want)
	}
	if st := db.store.Stats(); st.DiskBytes > want*1000*12/10 || st.Spilled != 0 {
		t.Errorf("%d bytes of rows take %d bytes of data files", want*1000, st.DiskBytes)
	}
	sum := db.tip.Load().Checksum(tr)
	s.Close()
	must(t, e.Close())
	checkFolder(t, m)
	e = openMem(t, m, little)
	if tip := e.System().tip.Load(); tip.Count(tr) != want || tip.Checksum(tr) != sum {
		t.Errorf("%d rows after the restart, want %d", tip.Count(tr), want)
	}
	must(t, e.Close())
}

// TestCrashesOfLongLoads loses power at the syncs of loads that are committed, rolled back and checkpointed: what was
// acknowledged is there, and the folder is in order, although leaves were written before their commit.
func TestCrashesOfLongLoads(t *testing.T) {
	m := vfs.NewMem()
	little := func(o *Options) { o.Memory = mem.NewRoot(24 << 20) }
	e := openMem(t, m, little)
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 10 << 10
	var acked atomic.Int64
	var mu sync.Mutex
	syncs, crashes := 0, 0
	hook := func(_ int, l vfs.Label) {
		mu.Lock()
		defer mu.Unlock()
		if syncs++; syncs%5 != 0 && l != "storage.sync" && l != "storage.manifest" {
			return
		}
		crashes++
		least := acked.Load()
		c := m.CrashClone(vfs.CrashOptions{Rand: rand.New(rand.NewSource(int64(syncs))), KeepPercent: syncs % 5 * 25})
		if crashes%4 == 0 {
			checkFolder(t, c)
		}
		again := openMem(t, c, little)
		defer again.Close()
		if n := again.System().tip.Load().Count(tr); n%rows != 0 || n < least || n > least+rows {
			t.Errorf("crash at sync %d (%s): %d rows, %d are acknowledged", syncs, l, n, least)
		}
	}
	m.SetSyncHook(hook)
	for i, end := range []string{"commit", "rollback", "commit", "commit"} {
		tx := s.Begin(TxOptions{})
		fill(t, tx, tr, string(rune('a'+i)), rows)
		if end == "rollback" {
			tx.Rollback()
		} else {
			must(t, tx.Commit())
			must(t, s.WaitDurable())
			acked.Add(rows)
		}
		if i != 2 {
			must(t, db.Checkpoint())
			must(t, db.store.Maintain())
		}
	}
	m.SetSyncHook(nil)
	s.Close()
	must(t, e.Close())
	checkFolder(t, m)
	if crashes < 10 {
		t.Errorf("only %d crashes", crashes)
	}
}

// TestCancelAtFirstPart cancels a load while its first part is written: the log can be freed, and when the transaction goes
// on behind a savepoint, a restart finds what it has committed.
func TestCancelAtFirstPart(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		m := vfs.NewMem()
		e := openMem(t, m)
		db := e.System()
		s := db.NewSession(SessionOptions{})
		tr := newTree(t, s)
		tx := s.Begin(TxOptions{})
		mark := tx.Savepoint()
		s.Interrupt().Cancel()
		var err error
		for i := 0; err == nil; i++ {
			err = tx.Put(tr, fmt.Appendf(nil, "x%06d", i), make([]byte, 1000))
		}
		if code(err) != "57014" {
			t.Fatal(err)
		}
		want := int64(0)
		if goesOn {
			tx.RollbackTo(mark)
			want = fill(t, tx, tr, "a", 12<<10)
			must(t, tx.Commit())
			must(t, s.WaitDurable())
		} else {
			tx.Rollback()
			if n := len(db.parts.open); n != 0 {
				t.Errorf("%d transactions have parts after the rollback", n)
			}
		}
		crashed := m.CrashClone(vfs.CrashOptions{})
		s.Close()
		must(t, e.Close())
		checkFolder(t, crashed)
		e = openMem(t, crashed)
		if n := e.System().tip.Load().Count(tr); n != want {
			t.Errorf("%d rows after a crash, want %d", n, want)
		}
		must(t, e.Close())
	}
}

// fullLog is a log that refuses room while full is set.
type fullLog struct {
	txlog.Log
	full atomic.Bool
}

func (l *fullLog) Reserve(bytes int, c txlog.Class) (txlog.Reservation, error) {
	if l.full.Load() {
		return txlog.Reservation{}, txlog.ErrNoSpace
	}
	return l.Log.Reserve(bytes, c)
}

// TestPartsOfFullLog gives parts up when the log has no room to say so: it can be freed nevertheless, and a transaction that
// goes on behind a savepoint says it later or does not commit.
func TestPartsOfFullLog(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	db := e.System()
	l := &fullLog{Log: db.log}
	must(t, db.exclusive(func() error { db.log = l; return nil }))
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	tx := s.Begin(TxOptions{})
	mark := tx.Savepoint()
	fill(t, tx, tr, "x", 12<<10)
	l.full.Store(true)
	tx.RollbackTo(mark)
	fill(t, tx, tr, "y", 10)
	if err := tx.Commit(); code(err) != "53100" {
		t.Errorf("a commit into a full log: %v", err)
	}
	l.full.Store(false)
	tx = s.Begin(TxOptions{})
	mark = tx.Savepoint()
	fill(t, tx, tr, "x", 12<<10)
	l.full.Store(true)
	tx.RollbackTo(mark)
	l.full.Store(false)
	want := fill(t, tx, tr, "a", 12<<10)
	must(t, tx.Commit())
	must(t, s.WaitDurable())
	crashed := m.CrashClone(vfs.CrashOptions{})

	tx = s.Begin(TxOptions{})
	fill(t, tx, tr, "z", 12<<10)
	l.full.Store(true)
	tx.Rollback()
	l.full.Store(false)
	if db.parts.waiting() {
		t.Error("the log keeps parts of a transaction that is gone")
	}
	s.Close()
	must(t, e.Close())
	checkFolder(t, crashed)
	e = openMem(t, crashed)
	if n := e.System().tip.Load().Count(tr); n != want {
		t.Errorf("%d rows after a crash, want %d", n, want)
	}
	must(t, e.Close())
}

// TestTableGoesBeforeBigCommit drops the tree that a big commit's rows are for: that commit fails, and big commits go on.
func TestTableGoesBeforeBigCommit(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	db := e.System()
	s, other := db.NewSession(SessionOptions{}), db.NewSession(SessionOptions{})
	tr, stays := newTree(t, s), newTree(t, s)
	put(t, s, tr, "a", "a commit before, which had a number")
	tx := s.Begin(TxOptions{})
	fill(t, tx, tr, "b", 12<<10)
	drop := other.Begin(TxOptions{})
	must(t, drop.DropTree(tr))
	must(t, drop.Commit())
	if err := tx.Commit(); code(err) != "40001" {
		t.Errorf("the commit: %v", err)
	}
	if db.catchUp != nil {
		t.Error("commits are still gathered for a fork that is gone")
	}
	tx = s.Begin(TxOptions{})
	want := fill(t, tx, stays, "c", 12<<10)
	if err := tx.Commit(); err != nil {
		t.Errorf("the next big commit: %v", err)
	} else if n := db.tip.Load().Count(stays); n != want {
		t.Errorf("%d rows, want %d", n, want)
	}
	s.Close()
	other.Close()
	must(t, e.Close())
}
