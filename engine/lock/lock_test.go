package lock

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/sql/sqlerr"
)

func owners(t testing.TB, n int) (*Manager, []*Owner) {
	m, sc := NewManager(), NewScanner()
	t.Cleanup(sc.Close)
	var out []*Owner
	for i := range n {
		intr := NewInterrupt()
		sc.Add(intr)
		o := m.NewOwner(int32(i+1), intr, nil)
		o.DeadlockDelay = int64(20 * time.Millisecond)
		out = append(out, o)
	}
	return m, out
}

func code(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return fmt.Sprint(err)
}

// TestConflicts is the matrix of PostgreSQL's documentation for rows and tables.
func TestConflicts(t *testing.T) {
	rows := []string{"0001", "0011", "0111", "1111"}
	for i, line := range rows {
		for j := range rows {
			if got := Conflict(KeyShare+Mode(i), KeyShare+Mode(j)); got != (line[j] == '1') {
				t.Errorf("row modes %d and %d: %v", i, j, got)
			}
		}
	}
	tables := []string{"00000001", "00000011", "00001111", "00011111", "00110111", "00111111", "01111111", "11111111"}
	for i, line := range tables {
		for j := range tables {
			if got := Conflict(AccessShare+Mode(i), AccessShare+Mode(j)); got != (line[j] == '1') {
				t.Errorf("%v and %v: %v", AccessShare+Mode(i), AccessShare+Mode(j), got)
			}
		}
	}
	m, o := owners(t, 2)
	for a := KeyShare; a <= Update; a++ {
		for b := KeyShare; b <= Update; b++ {
			if ok, _, _ := o[0].Row(1, []byte("k"), a, NoWait); !ok {
				t.Fatal("an uncontended lock was refused")
			}
			ok, _, err := o[1].Row(1, []byte("k"), b, SkipLocked)
			if ok == Conflict(a, b) || err != nil {
				t.Errorf("%v held, %v asked: granted=%v %v", a, b, ok, err)
			}
			o[0].ReleaseAll()
			o[1].ReleaseAll()
		}
	}
	empty(t, m)
}

// empty demands that nothing is left in the manager.
func empty(t testing.TB, m *Manager) {
	t.Helper()
	for i := range m.shards {
		if s := &m.shards[i]; s.n != 0 || len(s.wide) != 0 {
			t.Fatalf("shard %d keeps %d entries, %d wide locks", i, s.n, len(s.wide))
		}
	}
	if len(m.heavy) != 0 {
		t.Fatalf("%d heavy locks are left", len(m.heavy))
	}
	for i := range m.strong {
		if n := m.strong[i].Load(); n != 0 {
			t.Fatalf("counter %d is %d", i, n)
		}
	}
	if l := m.List(); len(l) != 0 {
		t.Fatalf("listed: %v", l)
	}
}

func TestNoWaitAndTimeout(t *testing.T) {
	m, o := owners(t, 2)
	o[0].Row(1, []byte("k"), Update, Wait)
	if _, _, err := o[1].Row(1, []byte("k"), Share, NoWait); code(err) != "55P03" {
		t.Fatalf("NOWAIT: %v", err)
	}
	o[1].Timeout = int64(30 * time.Millisecond)
	start := time.Now()
	if _, _, err := o[1].Row(1, []byte("k"), Share, Wait); code(err) != "55P03" || time.Since(start) < 30*time.Millisecond {
		t.Fatalf("lock_timeout: %v after %v", err, time.Since(start))
	}
	o[1].Timeout = 0
	go func() {
		time.Sleep(10 * time.Millisecond)
		o[1].intr.Cancel()
	}()
	if _, _, err := o[1].Row(1, []byte("k"), Share, Wait); code(err) != "57014" {
		t.Fatalf("cancel: %v", err)
	}
	o[1].intr.SetStatementDeadline(10 * time.Millisecond)
	if _, _, err := o[1].Row(1, []byte("k"), Share, Wait); code(err) != "57014" {
		t.Fatalf("statement_timeout: %v", err)
	}
	o[0].ReleaseAll()
	o[1].ReleaseAll()
	empty(t, m)
}

func TestWaitersAreServedInOrder(t *testing.T) {
	m, o := owners(t, 6)
	o[0].Row(1, []byte("k"), Update, Wait)
	var mu sync.Mutex
	var order []int32
	var wg sync.WaitGroup
	for i := 1; i < 6; i++ {
		wg.Go(func() {
			if _, waited, err := o[i].Row(1, []byte("k"), NoKeyUpdate, Wait); err != nil || !waited {
				t.Errorf("owner %d: waited=%v %v", i, waited, err)
			}
			mu.Lock()
			order = append(order, o[i].pid)
			mu.Unlock()
			o[i].ReleaseAll()
		})
		for m.Waits.Load() < int64(i) {
			time.Sleep(time.Millisecond)
		}
	}
	o[0].ReleaseAll()
	wg.Wait()
	for i, pid := range order {
		if pid != int32(i+2) {
			t.Fatalf("order %v", order)
		}
	}
	empty(t, m)
}

func TestDeadlockEndsOne(t *testing.T) {
	m, o := owners(t, 3)
	for i := range 3 {
		o[i].Row(1, []byte{byte(i)}, Update, Wait)
	}
	var failed atomic.Int32
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			_, _, err := o[i].Row(1, []byte{byte((i + 1) % 3)}, Update, Wait)
			if code(err) == "40P01" {
				failed.Add(1)
			} else if err != nil {
				t.Error(err)
			}
			o[i].ReleaseAll()
		})
	}
	wg.Wait()
	if failed.Load() != 1 {
		t.Fatalf("%d transactions failed", failed.Load())
	}
	empty(t, m)
}

// wants has o ask for a table and returns its answer's channel once it waits.
func wants(m *Manager, o *Owner, rel uint32, mode Mode) <-chan error {
	before, done := m.Waits.Load(), make(chan error, 1)
	go func() {
		_, err := o.Table(rel, mode, Wait)
		done <- err
	}()
	for m.Waits.Load() == before {
		time.Sleep(time.Millisecond)
	}
	return done
}

// A deadlock that only the order of two queues makes is undone by letting one pass: as in PostgreSQL not the one that looked for
// it, d2, but the one at the far end of the cycle.
func TestSoftDeadlockEndsNobody(t *testing.T) {
	m, o := owners(t, 4)
	for _, x := range o {
		x.DeadlockDelay = int64(time.Hour)
	}
	o[3].DeadlockDelay = int64(20 * time.Millisecond)
	d1, d2, e1, e2 := o[2], o[3], o[0], o[1]
	d1.Table(1, AccessShare, Wait)
	d2.Table(2, AccessShare, Wait)
	w1, w2 := wants(m, e1, 1, AccessExclusive), wants(m, e2, 2, AccessExclusive)
	r1 := wants(m, d1, 2, AccessShare)
	r2 := wants(m, d2, 1, AccessShare)
	if err := <-r1; err != nil {
		t.Fatalf("the one that is let go ahead: %v", err)
	}
	d1.ReleaseAll()
	for i, r := range []<-chan error{w1, r2, w2} {
		if err := <-r; err != nil {
			t.Fatalf("waiter %d: %v", i, err)
		}
		[]*Owner{e1, d2, e2}[i].ReleaseAll()
	}
	if n := m.Deadlocks.Load(); n != 0 {
		t.Fatalf("%d deadlocks", n)
	}
	empty(t, m)
}

// Two that hold a table and want it alone: the second is told at once.
func TestUpgradeDeadlockIsSeenAtOnce(t *testing.T) {
	m, o := owners(t, 2)
	for _, x := range o {
		x.DeadlockDelay = int64(time.Hour)
		x.Table(1, AccessShare, Wait)
	}
	w := wants(m, o[0], 1, AccessExclusive)
	if _, err := o[1].Table(1, AccessExclusive, Wait); code(err) != "40P01" {
		t.Fatal(err)
	}
	o[1].ReleaseAll()
	if err := <-w; err != nil {
		t.Fatal(err)
	}
	o[0].ReleaseAll()
	empty(t, m)
}

// Who shares a row with its holders does not wait for one that wants it alone.
func TestRowSharersPass(t *testing.T) {
	m, o := owners(t, 3)
	k := []byte("k")
	o[0].Row(1, k, Share, Wait)
	done := make(chan error, 1)
	go func() {
		_, _, err := o[1].Row(1, k, Update, Wait)
		done <- err
	}()
	for m.Waits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if ok, _, err := o[2].Row(1, k, Share, NoWait); !ok || err != nil {
		t.Fatal(ok, err)
	}
	o[0].ReleaseAll()
	select {
	case err := <-done:
		t.Fatalf("granted beside a sharer: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	o[2].ReleaseAll()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o[1].ReleaseAll()
	empty(t, m)
}

func TestDeadlockBetweenRowAndTable(t *testing.T) {
	m, o := owners(t, 2)
	o[0].Table(7, RowExclusive, Wait)
	o[0].Row(1, []byte("a"), Update, Wait)
	o[1].Row(1, []byte("b"), Update, Wait)
	var wg sync.WaitGroup
	var failed atomic.Int32
	wg.Go(func() {
		if _, err := o[1].Table(7, AccessExclusive, Wait); err != nil {
			failed.Add(1)
		}
		o[1].ReleaseAll()
	})
	for m.Waits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, _, err := o[0].Row(1, []byte("b"), Update, Wait); err != nil {
		failed.Add(1)
	}
	o[0].ReleaseAll()
	wg.Wait()
	if failed.Load() != 1 {
		t.Fatalf("%d failed", failed.Load())
	}
	empty(t, m)
}

func TestSavepointGivesBackWhatCameAfter(t *testing.T) {
	m, o := owners(t, 2)
	o[0].Row(1, []byte("a"), KeyShare, Wait)
	k := o[0].Mark()
	o[0].Row(1, []byte("a"), Update, Wait)
	o[0].Row(1, []byte("b"), Update, Wait)
	o[0].Table(9, AccessExclusive, Wait)
	o[0].Advisory(AdvisoryKey{Lo: 5}, false, true, Wait)
	o[0].RollbackTo(k)
	if got := o[0].RowMode(1, []byte("a")); got != KeyShare {
		t.Fatalf("row a is held in mode %v", got)
	}
	if ok, _, _ := o[1].Row(1, []byte("a"), Share, NoWait); !ok {
		t.Fatal("row a is held too strongly")
	}
	if ok, _, _ := o[1].Row(1, []byte("b"), Update, NoWait); !ok {
		t.Fatal("row b is still locked")
	}
	if ok, err := o[1].Table(9, AccessShare, NoWait); !ok {
		t.Fatal(err)
	}
	if ok, _ := o[1].Advisory(AdvisoryKey{Lo: 5}, false, true, SkipLocked); !ok {
		t.Fatal("the advisory lock is still held")
	}
	o[0].ReleaseAll()
	o[1].ReleaseAll()
	empty(t, m)
}

func TestAdvisoryLocksCount(t *testing.T) {
	m, o := owners(t, 2)
	k := AdvisoryKey{Hi: 1, Lo: 2}
	for range 2 {
		o[0].Advisory(k, false, false, Wait)
	}
	o[0].Advisory(k, false, true, Wait)
	o[0].ReleaseAll()
	o[0].AdvisoryUnlock(k, false)
	if ok, _ := o[1].Advisory(k, true, false, SkipLocked); ok {
		t.Fatal("one of two session locks was forgotten")
	}
	if ok, _ := o[1].Advisory(AdvisoryKey{Hi: 1, Lo: 2, TwoInts: true}, false, false, SkipLocked); !ok {
		t.Fatal("two ints are another space")
	}
	if !o[0].AdvisoryUnlock(k, false) || o[0].AdvisoryUnlock(k, false) {
		t.Fatal("wrong count")
	}
	o[1].AdvisoryUnlockAll()
	empty(t, m)
}

// TestManyOwners has owners lock rows and tables at random and checks mutual exclusion.
func TestManyOwners(t *testing.T) {
	const n = 16
	m, o := owners(t, n)
	var row [8]atomic.Int32
	var table [4]atomic.Int32 // < 0 exclusive
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(i)))
			for range 2000 {
				tab := r.Intn(len(table))
				mode := RowExclusive
				if r.Intn(20) == 0 {
					mode = AccessExclusive
				}
				if _, err := o[i].Table(uint32(tab+1), mode, Wait); err != nil {
					t.Error(err)
				}
				if mode == AccessExclusive {
					if !table[tab].CompareAndSwap(0, -1) {
						t.Error("AccessExclusive beside another lock")
					}
				} else if table[tab].Add(1) <= 0 {
					t.Error("RowExclusive beside AccessExclusive")
				}
				k := r.Intn(len(row))
				if ok, _, err := o[i].Row(1, []byte{byte(k)}, NoKeyUpdate, Policy(r.Intn(2)*2)); err != nil {
					t.Error(err)
				} else if ok {
					if row[k].Add(1) != 1 {
						t.Error("two owners of a row")
					}
					row[k].Add(-1)
				}
				if mode == AccessExclusive {
					table[tab].Store(0)
				} else {
					table[tab].Add(-1)
				}
				o[i].ReleaseAll()
			}
		})
	}
	wg.Wait()
	empty(t, m)
}

// TestManyRowsBecomeOneLock: beyond the account, or beyond WholeAt rows, a tree is locked as a whole.
func TestManyRowsBecomeOneLock(t *testing.T) {
	m, o := owners(t, 3)
	acct := mem.NewRoot(1 << 20).Child("locks")
	big := m.NewOwner(9, NewInterrupt(), acct)
	o[0].Row(1, []byte("theirs"), KeyShare, Wait)
	k := big.Mark()
	for i := range 200000 {
		if ok, _, err := big.Row(1, fmt.Appendf(nil, "%d", i), Update, Wait); !ok || err != nil {
			t.Fatalf("row %d: %v %v", i, ok, err)
		}
	}
	if acct.Used() > 1<<20 || !big.hasWhole(1) {
		t.Fatalf("%d bytes are booked", acct.Used())
	}
	for _, key := range []string{"0", "199999", "never touched"} {
		if ok, _, _ := o[1].Row(1, []byte(key), KeyShare, SkipLocked); ok {
			t.Fatalf("row %q is free", key)
		}
		if _, _, err := o[1].Row(1, []byte(key), KeyShare, NoWait); code(err) != "55P03" {
			t.Fatalf("row %q: %v", key, err)
		}
	}
	if ok, _, _ := o[1].Row(2, []byte("0"), Update, SkipLocked); !ok {
		t.Fatal("another tree is locked, too")
	}
	if ok, _, _ := big.Row(1, []byte("theirs"), Update, SkipLocked); ok {
		t.Fatal("a row that was locked before was taken")
	}
	if ok, _, _ := big.Row(1, []byte("theirs"), KeyShare, SkipLocked); !ok {
		t.Fatal("a compatible lock was refused")
	}
	got := make(chan bool)
	go func() {
		ok, waited, err := o[2].Row(1, []byte("5"), Update, Wait)
		if err != nil {
			t.Error(err)
		}
		got <- ok && waited
	}()
	for m.Waits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	big.RollbackTo(k)
	if !<-got {
		t.Fatal("the waiter did not get its row")
	}
	for _, x := range append(o, big) {
		x.ReleaseAll()
	}
	if acct.Used() != 0 {
		t.Fatalf("%d bytes are still booked", acct.Used())
	}
	if n := m.wholeTrees.Load(); n != 0 {
		t.Fatalf("%d whole trees", n)
	}
	empty(t, m)
}

// TestWholeTreesExclude has owners lock rows at random with a low limit and checks mutual exclusion.
func TestWholeTreesExclude(t *testing.T) {
	m, o := owners(t, 8)
	m.WholeAt = 5
	var held [12]atomic.Int32
	var wg sync.WaitGroup
	for i := range o {
		o[i].DeadlockDelay = int64(time.Millisecond)
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(i)))
			for range 300 {
				var mine []int
				for _, k := range r.Perm(len(held))[:r.Intn(9)+1] {
					ok, _, err := o[i].Row(1, []byte{byte(k)}, Update, Policy(r.Intn(2)*2))
					if err != nil && code(err) != "40P01" {
						t.Error(err)
					}
					if err != nil {
						break
					}
					if !ok {
						continue
					}
					if held[k].Add(1) != 1 {
						t.Error("two owners of a row")
					}
					mine = append(mine, k)
				}
				for _, k := range mine {
					held[k].Add(-1)
				}
				o[i].ReleaseAll()
			}
		})
	}
	wg.Wait()
	empty(t, m)
}

func TestUncontendedLocksDoNotAllocate(t *testing.T) {
	_, o := owners(t, 1)
	key := []byte("some key")
	o[0].Row(1, key, Update, Wait)
	o[0].ReleaseAll()
	if n := testing.AllocsPerRun(1000, func() {
		o[0].Row(1, key, Update, Wait)
		o[0].Table(5, RowExclusive, Wait)
		o[0].ReleaseAll()
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkRow(b *testing.B) {
	_, o := owners(b, 1)
	key := []byte("some key")
	for b.Loop() {
		o[0].Row(1, key, Update, Wait)
		o[0].ReleaseAll()
	}
}

func BenchmarkTableFast(b *testing.B) {
	_, o := owners(b, 1)
	for b.Loop() {
		o[0].Table(5, RowExclusive, Wait)
		o[0].ReleaseAll()
	}
}

// TestLateVictimFreesNobodysLock: between the moment a deadlock's victim leaves the queue and the moment it cleans up,
// the lock may be released, forgotten and taken anew.
func TestLateVictimFreesNobodysLock(t *testing.T) {
	m, o := owners(t, 4)
	key := []byte("k")
	o[0].Row(1, key, Update, Wait)
	done := make(chan error)
	go func() {
		_, _, err := o[1].Row(1, key, Update, Wait)
		done <- err
	}()
	for m.Waits.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	w := o[1].wait.on.Load()
	w.mu.Lock()
	o[1].leave()
	w.mu.Unlock()
	o[0].ReleaseAll()
	o[2].Row(1, key, Update, Wait)
	o[1].intr.Cancel()
	if err := <-done; code(err) != "57014" {
		t.Fatal(err)
	}
	if ok, _, _ := o[3].Row(1, key, Update, SkipLocked); ok {
		t.Fatal("the new owner's lock is gone")
	}
	o[2].ReleaseAll()
	empty(t, m)
}

// TestCancelOutlivesGrant has a cancel come to a waiter that is granted its lock before it leaves the queue: the statement must end
// all the same.
func TestCancelOutlivesGrant(t *testing.T) {
	for _, cause := range []Cause{Cancel, StatementTimeout} {
		_, o := owners(t, 2)
		o[1].DeadlockDelay = int64(time.Hour)
		if ok, _, err := o[0].Row(1, []byte("k"), Update, Wait); !ok {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, _, err := o[1].Row(1, []byte("k"), Update, Wait)
			done <- err
		}()
		for o[1].wait.on.Load() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond) // it sleeps
		w := o[1].wait.on.Load()
		w.mu.Lock()
		o[1].intr.Set(cause)
		time.Sleep(20 * time.Millisecond) // it has seen the cause, and waits for w.mu
		w.holders = w.holders[:0]
		w.grant()
		w.mu.Unlock()
		if err := <-done; err != nil {
			t.Fatalf("the lock was granted, and the wait failed: %v", err)
		}
		if err := o[1].intr.Err(); code(err) != string(sqlerr.QueryCanceled) {
			t.Errorf("the interrupt is lost: %v", err)
		}
		o[1].ReleaseAll()
	}
}
