package engine

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
)

// transfer moves money between two accounts: lock both, read the newest, write.
func transfer(s *Session, tr storage.TreeID, iso Isolation, from, to int) error {
	tx := s.Begin(TxOptions{Isolation: iso})
	defer tx.Rollback()
	view := tx.BeginStatement()
	var bal [2]int
	for i, acc := range []int{from, to} {
		key := rowKey(nil, acc)
		if _, _, err := tx.LockRow(tr, key, lock.NoKeyUpdate, lock.Wait); err != nil {
			return err
		}
		v, _, err := tx.Newest().Get(tr, key)
		if err != nil {
			return err
		}
		if iso == RepeatableRead {
			old, _, err := view.Get(tr, key)
			if err != nil {
				return err
			}
			if string(old) != string(v) {
				return fmt.Errorf("40001")
			}
		}
		fmt.Sscan(string(v), &bal[i])
	}
	if err := tx.Put(tr, rowKey(nil, from), fmt.Append(nil, bal[0]-1)); err != nil {
		return err
	}
	if err := tx.Put(tr, rowKey(nil, to), fmt.Append(nil, bal[1]+1)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.WaitDurable()
}

// TestLockNewest reads rows that changed, came and went since the statement's view, and rows of the transaction itself.
func TestLockNewest(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	db := e.System()
	s, other := db.NewSession(SessionOptions{PID: 1}), db.NewSession(SessionOptions{PID: 2})
	tr := newTree(t, s)
	for _, k := range []string{"changed", "same", "gone", "mine"} {
		put(t, s, tr, k, "old")
	}
	must(t, s.WaitDurable())
	tx := s.Begin(TxOptions{})
	view := tx.BeginStatement()
	put(t, other, tr, "changed", "new")
	put(t, other, tr, "late", "new")
	gone := other.Begin(TxOptions{})
	gone.BeginStatement()
	must(t, gone.Delete(tr, []byte("gone")))
	must(t, gone.Commit())
	expect := func(k, want string, locked bool) {
		t.Helper()
		v, found, err := tx.LockNewest(view, tr, []byte(k), lock.NoKeyUpdate)
		if err != nil || found != (want != "") || string(v) != want {
			t.Fatalf("%s: %q %v %v, want %q", k, v, found, err, want)
		}
		if free, _, err := other.Begin(TxOptions{}).LockRow(tr, []byte(k), lock.Update, lock.SkipLocked); err != nil || free == locked {
			t.Fatalf("%s: locked is %v, %v", k, !free, err)
		}
		other.tx.Rollback()
	}
	expect("same", "old", true)
	expect("changed", "new", true)
	expect("late", "", false)
	expect("none", "", false)
	expect("gone", "", true)
	must(t, tx.Put(tr, []byte("mine"), []byte("own")))
	expect("mine", "own", true)
	view = tx.BeginStatement()
	expect("mine", "own", true)
	expect("changed", "new", true)
	must(t, tx.Delete(tr, []byte("mine")))
	expect("mine", "", true)
	tx.Rollback()

	// What was ordered while the lock was waited for is read.
	must(t, other.Begin(TxOptions{}).Put(tr, []byte("same"), []byte("newer")))
	if _, _, err := other.tx.LockRow(tr, []byte("same"), lock.NoKeyUpdate, lock.Wait); err != nil {
		t.Fatal(err)
	}
	view = s.Begin(TxOptions{}).BeginStatement()
	done := make(chan string)
	go func() {
		v, _, err := s.tx.LockNewest(view, tr, []byte("same"), lock.NoKeyUpdate)
		done <- fmt.Sprintf("%s %v", v, err)
	}()
	for db.locks.Waits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	must(t, other.tx.Commit())
	if got := <-done; got != "newer <nil>" {
		t.Fatal(got)
	}
	if s.seen < other.seen {
		t.Fatal("the reader does not wait for what it has read")
	}
	s.Close()
	other.Close()
	must(t, e.Close())
}

func TestBankKeepsItsSum(t *testing.T) {
	const accounts, start = 20, 1000
	for _, iso := range []Isolation{ReadCommitted, RepeatableRead} {
		m := vfs.NewMem()
		e := openMem(t, m)
		db := e.System()
		s := db.NewSession(SessionOptions{})
		tr := newTree(t, s)
		for i := range accounts {
			put(t, s, tr, string(rowKey(nil, i)), fmt.Sprint(start))
		}
		var done, retries atomic.Int64
		var wg sync.WaitGroup
		for g := range 32 {
			wg.Go(func() {
				s := db.NewSession(SessionOptions{PID: int32(g)})
				defer s.Close()
				s.SetDeadlockTimeout(5 * time.Millisecond)
				r := rand.New(rand.NewSource(int64(g)))
				for range 100 {
					a, b := r.Intn(accounts), r.Intn(accounts)
					if a == b {
						continue
					}
					if err := transfer(s, tr, iso, a, b); err != nil {
						if c := code(err); c != "40P01" && c != "40001" {
							t.Error(err)
						}
						retries.Add(1)
						continue
					}
					done.Add(1)
					if r.Intn(10) == 0 {
						if sum := sumOf(t, s, tr, accounts); sum != accounts*start {
							t.Errorf("a reader saw the sum %d", sum)
						}
					}
				}
			})
		}
		wg.Wait()
		if done.Load() == 0 {
			t.Fatal("nothing got through")
		}
		s.Close()
		e2 := openMem(t, m.CrashClone(vfs.CrashOptions{}))
		s = e2.System().NewSession(SessionOptions{})
		if sum := sumOf(t, s, tr, accounts); sum != accounts*start {
			t.Fatalf("after a crash the sum is %d", sum)
		}
		s.Close()
		must(t, e2.Close())
		must(t, e.Close())
		t.Logf("level %d: %d transfers, %d retries", iso, done.Load(), retries.Load())
	}
}

func sumOf(t testing.TB, s *Session, tr storage.TreeID, accounts int) (sum int) {
	tx := s.Begin(TxOptions{})
	defer tx.Rollback()
	v := tx.BeginStatement()
	for i := range accounts {
		val, _, err := v.Get(tr, rowKey(nil, i))
		if err != nil {
			t.Error(err)
		}
		n := 0
		fmt.Sscan(string(val), &n)
		sum += n
	}
	return sum
}

// TestBigCommitsDoNotStopOthers merges transactions of many changes while small ones commit, and compares the result.
func TestBigCommitsDoNotStopOthers(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m, func(o *Options) { o.BigCommit = 500; o.PageSize = 1024 })
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	var stop atomic.Bool
	var small atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			s := db.NewSession(SessionOptions{})
			defer s.Close()
			for i := 0; !stop.Load(); i++ {
				tx := s.Begin(TxOptions{})
				if err := tx.Put(tr, fmt.Appendf(nil, "small%d-%06d", g, i), []byte("x")); err != nil {
					t.Error(err)
				}
				if i%3 == 2 {
					_ = tx.Delete(tr, fmt.Appendf(nil, "small%d-%06d", g, i-1))
					small.Add(-1)
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
				small.Add(1)
			}
		})
	}
	const big, rows = 5, 20000
	for b := range big {
		tx := s.Begin(TxOptions{})
		for i := range rows {
			must(t, tx.Put(tr, fmt.Appendf(nil, "big%d-%06d", b, i), fmt.Appendf(nil, "%0100d", i)))
		}
		must(t, tx.Commit())
	}
	stop.Store(true)
	wg.Wait()
	must(t, s.WaitDurable())
	want := int64(big*rows) + small.Load()
	if n := db.tip.Load().Count(tr); n != want {
		t.Fatalf("%d rows, want %d", n, want)
	}
	if small.Load() < big {
		t.Fatalf("only %d small commits beside %d big ones", small.Load(), big)
	}
	must(t, db.Checkpoint())
	sum := db.tip.Load().Checksum(tr)
	s.Close()
	must(t, e.Close())
	e = openMem(t, m, func(o *Options) { o.PageSize = 1024 })
	if n := e.System().tip.Load(); n.Count(tr) != want || n.Checksum(tr) != sum {
		t.Fatalf("after a restart: %d rows", n.Count(tr))
	}
	must(t, e.Close())
}

// TestPartsWithoutCommitAreDropped loses power between the parts of a transaction.
func TestPartsWithoutCommitAreDropped(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	put(t, s, tr, "old", "row")
	var clones []*vfs.Mem
	m.SetSyncHook(func(_ int, l vfs.Label) {
		if l == "log.sync" {
			clones = append(clones, m.CrashClone(vfs.CrashOptions{}))
		}
	})
	tx := s.Begin(TxOptions{})
	for i := range 50 {
		must(t, tx.Put(tr, fmt.Appendf(nil, "row%02d", i), []byte(strings.Repeat("v", 200<<10))))
	}
	must(t, tx.Commit())
	must(t, s.WaitDurable())
	m.SetSyncHook(nil)
	clones = append(clones, m.CrashClone(vfs.CrashOptions{}))
	for i, c := range clones {
		e := openMem(t, c)
		want := int64(1)
		if i == len(clones)-1 {
			want = 51
		}
		if n := e.System().tip.Load().Count(tr); n != want {
			t.Fatalf("crash %d of %d: %d rows, want %d", i, len(clones), n, want)
		}
		s := e.System().NewSession(SessionOptions{})
		put(t, s, tr, "after", "crash")
		s.Close()
		must(t, e.System().Checkpoint())
		must(t, e.Close())
		e = openMem(t, c)
		if n := e.System().tip.Load().Count(tr); n != want+1 {
			t.Fatalf("crash %d, second start: %d rows, want %d", i, n, want+1)
		}
		must(t, e.Close())
	}
	s.Close()
	must(t, e.Close())
	if len(clones) < 3 {
		t.Fatalf("only %d syncs", len(clones))
	}
}

// TestCheckpointKeepsPartsOfCommitsOnTheirWay makes a checkpoint while a large transaction's Commit entry is ordered and
// not yet durable, and loses power after it is.
func TestCheckpointKeepsPartsOfCommitsOnTheirWay(t *testing.T) {
	m := vfs.NewMem()
	d := vfs.NewDelay(m, vfs.Disk{})
	e := openMem(t, d, func(o *Options) { o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20 })
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	put(t, s, tr, "old", "row")
	tx := s.Begin(TxOptions{})
	for i := range 50 {
		must(t, tx.Put(tr, fmt.Appendf(nil, "row%02d", i), []byte(strings.Repeat("v", 200<<10))))
	}
	d.SetSync(100 * time.Millisecond)
	must(t, tx.Commit())
	must(t, db.checkpointNow(0))
	d.SetSync(0)
	must(t, s.WaitDurable())
	m = m.CrashClone(vfs.CrashOptions{})
	s.Close()
	e.Abandon()
	e = openMem(t, m)
	if n := e.System().tip.Load().Count(tr); n != 51 {
		t.Fatalf("%d rows", n)
	}
	must(t, e.Close())
}

func TestDatabases(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	must(t, e.CreateDatabase("a", 20001))
	must(t, e.CreateDatabase("b", 20002))
	if code(e.CreateDatabase("a", 20003)) != "42P04" {
		t.Fatal("two databases with one name")
	}
	for _, name := range []string{"a", "b"} {
		db, err := e.Database(name)
		must(t, err)
		s := db.NewSession(SessionOptions{})
		put(t, s, newTree(t, s), "name", name)
		if name == "b" {
			if code(e.DropDatabase("b")) != "55006" {
				t.Fatal("a database in use was dropped")
			}
		}
		s.Close()
	}
	must(t, e.RenameDatabase("a", "c"))
	must(t, e.DropDatabase("b"))
	if code(e.DropDatabase("b")) != "3D000" {
		t.Fatal("dropped twice")
	}
	m = m.CrashClone(vfs.CrashOptions{})
	e.Abandon()
	e = openMem(t, m)
	if got := e.Databases(); len(got) != 1 || got[0] != (DatabaseInfo{"c", 20001}) {
		t.Fatalf("databases %v", got)
	}
	db, err := e.Database("c")
	must(t, err)
	s := db.NewSession(SessionOptions{})
	if v := get(t, s, tree1, "name"); v != "a" {
		t.Fatalf("row %q", v)
	}
	s.Close()
	must(t, e.Close())
	names, err := m.ReadDir("t", "/data/db")
	must(t, err)
	if len(names) != 2 {
		t.Fatalf("folders %v", names)
	}
}

func TestSequences(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	s := e.System().NewSession(SessionOptions{})
	sp := SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1 << 40, Start: 1}
	next := func(s *Session, oid uint32, sp SequenceSpec) int64 {
		t.Helper()
		v, err := s.NextValue(oid, sp)
		must(t, err)
		return v
	}
	before := e.System().Stats().LogEntries
	for i := int64(1); i <= 100; i++ {
		if v := next(s, 1, sp); v != i {
			t.Fatalf("value %d, want %d", v, i)
		}
	}
	must(t, s.WaitDurable())
	if n := e.System().Stats().LogEntries - before; n > 5 {
		t.Fatalf("100 values took %d log entries", n)
	}
	must(t, e.System().Checkpoint())
	small := SequenceSpec{Name: "s", Increment: -2, Min: -3, Max: 1, Start: 1, Cycle: true}
	for _, want := range []int64{1, -1, -3, 1, -1} {
		if v := next(s, 2, small); v != want {
			t.Fatalf("cycling: %d, want %d", v, want)
		}
	}
	small.Cycle = false
	if v := next(s, 2, small); v != -3 {
		t.Fatalf("value %d", v)
	}
	if _, err := s.NextValue(2, small); code(err) != "2200H" {
		t.Fatalf("at the end: %v", err)
	}
	must(t, s.SetSequence(3, 50, false))
	if v := next(s, 3, sp); v != 50 {
		t.Fatalf("after setval(50, false): %d", v)
	}
	must(t, s.SetSequence(3, 50, true))
	must(t, s.WaitDurable())
	m2 := m.CrashClone(vfs.CrashOptions{})
	s.Close()
	must(t, e.Close())
	for i, fs := range []*vfs.Mem{m, m2} {
		e := openMem(t, fs)
		s := e.System().NewSession(SessionOptions{})
		if v := next(s, 1, sp); v <= 100 || v > 133 {
			t.Fatalf("restart %d: %d after 100", i, v)
		}
		if v := next(s, 3, sp); v != 51 {
			t.Fatalf("restart %d: %d after setval(50)", i, v)
		}
		must(t, s.DropSequence(3))
		must(t, s.WaitDurable())
		s.Close()
		must(t, e.Close())
		e = openMem(t, fs)
		if _, ok := e.System().SequenceState(3); ok {
			t.Fatal("a dropped sequence is back")
		}
		must(t, e.Close())
	}
}

// TestNumbersAreNotUsedTwice takes transaction numbers, row ids, objects and trees, loses power, and goes on.
func TestNumbersAreNotUsedTwice(t *testing.T) {
	m := vfs.NewMem()
	var lastTx, lastRow uint64
	var lastOID uint32
	var lastTree storage.TreeID
	for i := range 4 {
		e := openMem(t, m)
		s := e.System().NewSession(SessionOptions{})
		for range 3 {
			tx := s.Begin(TxOptions{})
			id, err := tx.NewTree()
			must(t, err)
			row := tx.NextRowID(id)
			oid, err := e.System().NewOID()
			must(t, err)
			if tx.ID() <= lastTx || row <= lastRow || oid <= lastOID || id <= lastTree {
				t.Fatalf("restart %d: numbers %d %d %d %d after %d %d %d %d", i, tx.ID(), row, oid, id, lastTx, lastRow, lastOID, lastTree)
			}
			lastTx, lastRow, lastOID, lastTree = tx.ID(), row, oid, id
			must(t, tx.Put(id, rowKey(nil, int(row)), []byte("x")))
			must(t, tx.Commit())
		}
		must(t, s.WaitDurable())
		if i == 1 {
			must(t, e.System().Checkpoint())
		}
		m = m.CrashClone(vfs.CrashOptions{})
		s.Close()
		e.Abandon()
	}
}

func TestFullDisk(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m, func(o *Options) { o.LogSegmentBytes, o.LogSegmentBytesMax = 4<<20, 4<<20 })
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	time.Sleep(50 * time.Millisecond)
	m.SetSpace(5 << 20)
	val := []byte(strings.Repeat("v", 100<<10))
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		tx := s.Begin(TxOptions{})
		must(t, tx.Put(tr, rowKey(nil, n), val))
		err = tx.Commit()
	}
	if code(err) != "53100" {
		t.Fatalf("after %d rows: %v", n, err)
	}
	if got := get(t, s, tr, string(rowKey(nil, 0))); len(got) != len(val) {
		t.Fatal("reads must go on")
	}
	tx := s.Begin(TxOptions{})
	must(t, tx.Delete(tr, rowKey(nil, 0)))
	if err := tx.Commit(); err != nil {
		t.Fatalf("DELETE on a full disk: %v", err)
	}
	m.SetSpace(100 << 20)
	put(t, s, tr, "resumed", "by itself")
	s.Close()
	must(t, e.Close())
}

// TestTransactionLargerThanMemory changes several times the memory limit in one transaction, rolls back, and commits.
func TestTransactionLargerThanMemory(t *testing.T) {
	root := mem.NewRoot(8 << 20)
	e := openMem(t, vfs.NewMem(), func(o *Options) { o.Memory = root })
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 400
	write := func(tx *Tx) {
		for i := range rows {
			val := make([]byte, 100<<10)
			val[i] = byte(i)
			must(t, tx.Put(tr, rowKey(nil, i), val))
		}
	}
	tx := s.Begin(TxOptions{})
	write(tx)
	tx.Rollback()
	if n := e.System().store.Stats().Spilled; n != 0 {
		t.Fatalf("%d bytes of scratch files are left after ROLLBACK", n)
	}
	tx = s.Begin(TxOptions{})
	write(tx)
	must(t, tx.Commit())
	for i := range rows {
		if got := get(t, s, tr, string(rowKey(nil, i))); len(got) != 100<<10 || got[i] != byte(i) {
			t.Fatalf("row %d is wrong", i)
		}
	}
	tx = s.Begin(TxOptions{})
	for i := range rows {
		must(t, tx.Delete(tr, rowKey(nil, i)))
	}
	must(t, tx.Commit())
	put(t, s, tr, "small", "ok")
	s.Close()
	must(t, e.Close())
	if root.Used() > 1<<20 {
		t.Fatalf("%d bytes are still booked", root.Used())
	}
}

// TestDataLargerThanMemory loads several times the memory limit and reads it back.
func TestDataLargerThanMemory(t *testing.T) {
	root := mem.NewRoot(16 << 20)
	e := openMem(t, vfs.NewMem(), func(o *Options) {
		o.Memory = root
		o.CheckpointPeriod = time.Hour
		o.CheckpointDirtyBytes = 2 << 20
	})
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 40000
	for i := 0; i < rows; {
		tx := s.Begin(TxOptions{})
		for range 200 {
			must(t, tx.Put(tr, rowKey(nil, i), fmt.Appendf(nil, "%01000d", i)))
			i++
		}
		must(t, tx.Commit())
	}
	must(t, s.WaitDurable())
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		i := r.Intn(rows)
		if got := get(t, s, tr, string(rowKey(nil, i))); got != fmt.Sprintf("%01000d", i) {
			t.Fatalf("row %d is wrong", i)
		}
	}
	st := db.Stats()
	if st.Store.Resident > 20<<20 || st.Store.Loads == 0 {
		t.Fatalf("resident %d, loads %d", st.Store.Resident, st.Store.Loads)
	}
	s.Close()
	must(t, e.Close())
}

// TestHugeTransactionOfSmallRows puts several times the memory limit of small locked rows into one transaction, rolls
// part of it back, reads it, commits, and loses power.
func TestHugeTransactionOfSmallRows(t *testing.T) {
	root := mem.NewRoot(16 << 20)
	m := vfs.NewMem()
	e := openMem(t, m, func(o *Options) {
		o.Memory = root
		o.CheckpointPeriod, o.CheckpointDirtyBytes = time.Hour, 2<<20
	})
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 300000
	peak := int64(0)
	tx := s.Begin(TxOptions{})
	for i := range rows {
		key := rowKey(nil, i)
		if _, _, err := tx.LockRow(tr, key, lock.Update, lock.Wait); err != nil {
			t.Fatal(err)
		}
		must(t, tx.Put(tr, key, fmt.Appendf(nil, "%0200d", i)))
		if i%1000 == 0 {
			peak = max(peak, root.Used())
		}
	}
	mark := tx.Savepoint()
	for i := range rows / 10 {
		must(t, tx.Delete(tr, rowKey(nil, i)))
	}
	tx.RollbackTo(mark)
	view := tx.BeginStatement()
	for i := 0; i < rows; i += 997 {
		v, _, err := view.Get(tr, rowKey(nil, i))
		must(t, err)
		if string(v) != fmt.Sprintf("%0200d", i) {
			t.Fatalf("row %d is %q", i, v)
		}
	}
	must(t, tx.Commit())
	must(t, s.WaitDurable())
	if n := db.tip.Load().Count(tr); n != rows {
		t.Fatalf("%d rows", n)
	}
	t.Logf("peak %d bytes", peak)
	if peak > 20<<20 {
		t.Fatalf("%d bytes were booked", peak)
	}
	sum := db.tip.Load().Checksum(tr)
	m = m.CrashClone(vfs.CrashOptions{})
	s.Close()
	must(t, e.Close())
	if root.Used() > 1<<20 {
		t.Fatalf("%d bytes are still booked", root.Used())
	}
	checkFolder(t, m)
	e = openMem(t, m, func(o *Options) { o.Memory = mem.NewRoot(16 << 20) })
	if n := e.System().tip.Load(); n.Count(tr) != rows || n.Checksum(tr) != sum {
		t.Fatalf("after a crash: %d rows", n.Count(tr))
	}
	must(t, e.Close())
}

// TestReplayOfHugeTransactions replays more parts than memory holds, with checkpoints in the middle of the replay, and
// loses power at every sync of that replay, too.
func TestReplayOfHugeTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	m := vfs.NewMem()
	little := func(o *Options) {
		o.Memory = mem.NewRoot(8 << 20)
		o.replayBytes = 1 << 20
		o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20
		o.PageSize = 2048
	}
	e := openMem(t, m, func(o *Options) { o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20 })
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 30000
	for round := range 3 {
		tx := s.Begin(TxOptions{})
		for i := range rows {
			must(t, tx.Put(tr, rowKey(nil, i), fmt.Appendf(nil, "%d-%0300d", round, i)))
		}
		if round == 1 { // written ahead and given up
			_, err := tx.encodeAll()
			must(t, err)
			tx.Rollback()
			continue
		}
		must(t, tx.Commit())
		put(t, s, tr, fmt.Sprint("between", round), "row")
	}
	must(t, s.WaitDurable())
	sum := db.tip.Load().Checksum(tr)
	m = m.CrashClone(vfs.CrashOptions{})
	s.Close()
	must(t, e.Close())
	same := func(fsys *vfs.Mem, what string) int64 {
		e := openMem(t, fsys, little)
		defer e.Abandon()
		if n := e.System().tip.Load(); n.Count(tr) != rows+2 || n.Checksum(tr) != sum {
			t.Errorf("%s: %d rows", what, n.Count(tr))
		}
		return e.System().stats.spills.Load()
	}
	again := m.CrashClone(vfs.CrashOptions{})
	var clones []*vfs.Mem
	n := 0
	m.SetSyncHook(func(_ int, l vfs.Label) {
		if n++; n%6 == 0 || l == "storage.manifest" {
			clones = append(clones, m.CrashClone(vfs.CrashOptions{}))
		}
	})
	if spills := same(m, "replay"); spills == 0 {
		t.Error("there was no checkpoint in the middle of the replay")
	}
	m.SetSyncHook(nil)
	for i, c := range clones {
		same(c, fmt.Sprintf("crash %d of the replay", i))
	}
	same(again, "replay of the same again")
	checkFolder(t, again)
	t.Logf("%d crashes", len(clones))
}

func TestIdleTimeoutWakes(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	defer e.Close()
	woke := make(chan string, 1)
	s := e.System().NewSession(SessionOptions{Wake: func(r *sqlError) { woke <- string(r.Code) }})
	defer s.Close()
	s.Interrupt().SetIdle(10*time.Millisecond, true)
	select {
	case c := <-woke:
		if c != "25P03" {
			t.Fatalf("woke with %s", c)
		}
	case <-time.After(2 * time.Second):
		t.Fatal("nothing happened")
	}
}

// TestSequencesAloneLetTheLogGo: entries without changes are behind a checkpoint, too.
func TestSequencesAloneLetTheLogGo(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m, func(o *Options) { o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20 })
	s := e.System().NewSession(SessionOptions{})
	put(t, s, newTree(t, s), "k", "v")
	for i := range 90000 {
		must(t, s.SetSequence(1, int64(i), true))
	}
	must(t, s.WaitDurable())
	before := e.System().log.Bytes()
	must(t, e.System().Checkpoint())
	if after := e.System().log.Bytes(); after >= before {
		t.Fatalf("log of %d bytes has %d after a checkpoint", before, after)
	}
	m = m.CrashClone(vfs.CrashOptions{})
	s.Close()
	e.Abandon()
	e = openMem(t, m)
	if st, _ := e.System().SequenceState(1); st.Last != 89999 {
		t.Fatalf("sequence at %d", st.Last)
	}
	must(t, e.Close())
}

// TestOldReaderDoesNotFillMemory keeps a REPEATABLE READ transaction open while everything is rewritten several times.
func TestOldReaderDoesNotFillMemory(t *testing.T) {
	root := mem.NewRoot(12 << 20)
	e := openMem(t, vfs.NewMem(), func(o *Options) {
		o.Memory = root
		o.CheckpointPeriod, o.CheckpointDirtyBytes = time.Hour, 1<<20
	})
	db := e.System()
	s, old := db.NewSession(SessionOptions{}), db.NewSession(SessionOptions{})
	tr := newTree(t, s)
	const rows = 5000
	write := func(round int) {
		for i := 0; i < rows; {
			tx := s.Begin(TxOptions{})
			for range 100 {
				must(t, tx.Put(tr, rowKey(nil, i), fmt.Appendf(nil, "%01000d", round)))
				i++
			}
			must(t, tx.Commit())
		}
		must(t, s.WaitDurable())
	}
	write(1)
	tx := old.Begin(TxOptions{Isolation: RepeatableRead})
	view := tx.BeginStatement()
	for round := 2; round < 12; round++ {
		write(round)
	}
	for i := range rows {
		v, _, err := view.Get(tr, rowKey(nil, i))
		must(t, err)
		if string(v) != fmt.Sprintf("%01000d", 1) {
			t.Fatalf("the old snapshot shows %q in row %d", v[990:], i)
		}
	}
	if st := db.Stats().Store; st.Resident > 20<<20 {
		t.Fatalf("%d bytes are resident, %d retired", st.Resident, st.Retired)
	}
	tx.Rollback()
	old.Close()
	s.Close()
	must(t, e.Close())
}
