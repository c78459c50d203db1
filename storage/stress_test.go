package storage

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage/block"
)

// stress is a bank: transfers keep the sum of all accounts, so that every reader can tell a torn snapshot.
type stress struct {
	t      *testing.T
	st     *Store
	commit sync.Mutex // the engine's commit mutex
	tip    atomic.Pointer[Snapshot]
	own    *ReaderSlot // pins tip
	stop   atomic.Bool
	list   []ChangeSet // catch-up list of the open fork, nil when there is none; guarded by commit
	forked bool
	counts [6]atomic.Int64
}

const (
	stressRows  = 4000
	stressStart = 1000
)

func stressVal(r *rand.Rand, n uint64) []byte {
	size := 20 + r.Intn(60)
	if r.Intn(50) == 0 {
		size = 3000
	}
	p := make([]byte, 8, size)
	binary.BigEndian.PutUint64(p, n)
	return p[:size]
}

// pin gives a pinned newest snapshot.
func (s *stress) pin(slot *ReaderSlot) *Snapshot {
	for {
		if tip := s.tip.Load(); slot.Pin(tip) {
			return tip
		}
	}
}

func (s *stress) publish(next *Snapshot) {
	if !s.own.Pin(next) {
		s.t.Error("the newest snapshot cannot be pinned")
	}
	s.tip.Store(next)
}

// transfer moves money between two accounts as the engine commits.
func (s *stress) transfer(r *rand.Rand, slot *ReaderSlot) {
	a, b := uint64(r.Intn(stressRows)), uint64(r.Intn(stressRows))
	if a == b {
		return
	}
	if a > b {
		a, b = b, a
	}
	for tries := 0; ; tries++ {
		snap := s.pin(slot)
		cs := ChangeSet{{Tree: benchTree, Op: OpPut, Key: benchKey(nil, a)}, {Tree: benchTree, Op: OpPut, Key: benchKey(nil, b)}}
		pin, err := s.st.Touch(snap, cs)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.commit.Lock()
		tip := s.tip.Load()
		amount := uint64(r.Intn(10))
		va, _, err1 := tip.Get(benchTree, cs[0].Key)
		vb, _, err2 := tip.Get(benchTree, cs[1].Key)
		if err1 != nil || err2 != nil {
			s.t.Error(err1, err2)
		}
		cs[0].Val = stressVal(r, binary.BigEndian.Uint64(va)-amount)
		cs[1].Val = stressVal(r, binary.BigEndian.Uint64(vb)+amount)
		next, err := s.st.Apply(tip, tip.Seq()+1, cs)
		if err == nil {
			if s.forked {
				s.list = append(s.list, cs)
			}
			s.publish(next)
		}
		s.commit.Unlock()
		pin.Release()
		slot.Unpin()
		var absent *AbsentError
		if errors.As(err, &absent) && tries < 1000 {
			s.counts[0].Add(1)
			continue
		}
		if err != nil {
			s.t.Error(err)
		}
		s.counts[1].Add(1)
		return
	}
}

// scan adds up all accounts.
func (s *stress) scan(r *rand.Rand, slot *ReaderSlot, c *Cursor) {
	snap := s.pin(slot)
	defer slot.Unpin()
	s.sum(snap, r, c)
}

// stay reads one version for a while, and hands its pin to another slot now and then.
func (s *stress) stay(r *rand.Rand, slot *ReaderSlot, c *Cursor) {
	snap := s.pin(slot)
	defer func() { slot.Unpin() }()
	other := s.st.NewSlot()
	defer func() { other.Close() }()
	for range r.Intn(30) {
		s.sum(snap, r, c)
		if r.Intn(3) == 0 {
			if !other.Pin(snap) {
				s.t.Error("a version that another slot holds cannot be pinned")
			}
			slot.Unpin()
			time.Sleep(time.Millisecond)
			if !slot.Pin(snap) {
				s.t.Error("a version that another slot holds cannot be pinned")
			}
			other.Unpin()
		}
	}
}

func (s *stress) sum(snap *Snapshot, r *rand.Rand, c *Cursor) {
	defer c.Close()
	sum, rows, hash := uint64(0), int64(0), uint64(0)
	c.Init(View{Snap: snap}, benchTree, nil, nil, r.Intn(2) == 0)
	for c.Next() {
		v := c.Value()
		sum += binary.BigEndian.Uint64(v)
		rows++
		hash += block.RowHash(c.Key(), v)
	}
	if c.Err() != nil {
		s.t.Error(c.Err())
		return
	}
	if sum != stressRows*stressStart || rows != stressRows || hash != snap.Checksum(benchTree) {
		s.t.Errorf("version %d: sum %d, rows %d, checksum %x, the tree says %x", snap.ver, sum, rows, hash, snap.Checksum(benchTree))
		s.stop.Store(true)
	}
	s.counts[2].Add(1)
}

// fork makes another tree grow by a big commit.
func (s *stress) fork(r *rand.Rand, n uint64) {
	s.commit.Lock()
	f, err := s.st.Fork(s.tip.Load())
	if err != nil {
		s.commit.Unlock()
		s.t.Error(err)
		return
	}
	s.forked, s.list = true, nil
	s.commit.Unlock()
	take := func() []ChangeSet { l := s.list; s.list = nil; return l }
	for i := range uint64(5) {
		var cs ChangeSet
		for j := range uint64(300) {
			cs = append(cs, Change{Tree: benchTree + 1, Op: OpPut, Key: benchKey(nil, (n*5+i)*300+j), Val: stressVal(r, 1)})
		}
		if err := f.Merge(cs); err != nil {
			s.t.Error(err)
		}
		s.commit.Lock()
		l := take()
		s.commit.Unlock()
		if err := f.CatchUp(l...); err != nil {
			s.t.Error(err)
		}
	}
	s.commit.Lock()
	defer s.commit.Unlock()
	if err := f.CatchUp(take()...); err != nil {
		s.t.Error(err)
	}
	s.forked = false
	if r.Intn(4) == 0 {
		f.Abandon()
		f.Discard()
		return
	}
	tip := s.tip.Load()
	next, err := f.Finish(tip.Seq()+1, tip)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.publish(next)
	s.counts[3].Add(1)
}

// clean runs the cleaner once.
func (s *stress) clean(slot *ReaderSlot) {
	snap := s.pin(slot)
	c, err := s.st.PlanCleaning(func() *Snapshot { return snap }, func() bool { return false })
	if err != nil {
		s.t.Error(err)
		return
	}
	for c != nil && c.Left() > 0 {
		pin, err := s.st.PrepareRewrite(s.pin(slot), c, 32, 1<<20)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.commit.Lock()
		next, err := s.st.Rewrite(s.tip.Load(), c)
		if err == nil {
			s.publish(next)
		} else {
			s.t.Error(err)
		}
		s.commit.Unlock()
		pin.Release()
		s.counts[4].Add(1)
	}
	slot.Unpin()
}

// TestStress runs everything that may run at once, with pins that are old soon and with such that are not.
func TestStress(t *testing.T) {
	for _, lag := range []uint64{3, pinLag} {
		runStress(t, lag)
	}
}

func runStress(t *testing.T, lag uint64) {
	fs := vfs.NewMem()
	acct := mem.NewRoot(0)
	st, _, err := openStore(fs, 1024, 200<<10, acct)
	must(t, err)
	st.pinLag = lag
	st.forkFlush = 30 << 10
	s := &stress{t: t, st: st, own: st.NewSlot()}
	cs := ChangeSet{{Tree: benchTree, Op: OpCreateTree}, {Tree: benchTree + 1, Op: OpCreateTree}}
	for i := range uint64(stressRows) {
		cs = append(cs, Change{Tree: benchTree, Op: OpPut, Key: benchKey(nil, i), Val: stressVal(rand.New(rand.NewSource(1)), stressStart)})
	}
	first, err := st.Apply(st.Base(), 1, cs[:2])
	must(t, err)
	first, err = st.Apply(first, 2, cs[2:])
	must(t, err)
	s.publish(first)
	d := 3 * time.Second
	if testing.Short() {
		d = time.Second
	}
	var wg sync.WaitGroup
	run := func(seed int64, f func(r *rand.Rand, slot *ReaderSlot)) {
		wg.Go(func() {
			r := rand.New(rand.NewSource(seed))
			slot := st.NewSlot()
			defer slot.Close()
			for !s.stop.Load() {
				f(r, slot)
			}
		})
	}
	for i := range int64(2) {
		run(10+i, s.transfer)
		var c Cursor
		run(20+i, func(r *rand.Rand, slot *ReaderSlot) { s.scan(r, slot, &c) })
		var long Cursor
		run(60+i, func(r *rand.Rand, slot *ReaderSlot) { s.stay(r, slot, &long) })
	}
	held := st.NewSlot() // an old reader, so that there is something to spill
	run(30, func(r *rand.Rand, slot *ReaderSlot) {
		st.Evict(int64(r.Intn(300 << 10)))
		if r.Intn(4) == 0 {
			snap := s.pin(held)
			if _, err := st.Spill(snap, 100<<10); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Duration(r.Intn(3)) * time.Millisecond)
	})
	run(40, func(r *rand.Rand, slot *ReaderSlot) {
		snap := s.pin(slot)
		if err := st.Checkpoint(snap, Meta{}, CheckpointOptions{Duration: time.Duration(r.Intn(30)) * time.Millisecond}); err != nil && !errors.Is(err, ErrStale) {
			t.Error(err)
		}
		slot.Unpin()
		s.counts[5].Add(1)
		if err := st.Maintain(); err != nil {
			t.Error(err)
		}
	})
	n := uint64(0)
	run(50, func(r *rand.Rand, slot *ReaderSlot) {
		s.fork(r, n)
		n++
		s.clean(slot)
		time.Sleep(time.Duration(r.Intn(20)) * time.Millisecond)
	})
	time.Sleep(d)
	s.stop.Store(true)
	wg.Wait()
	held.Close()
	t.Logf("absent %d, transfers %d, scans %d, forks %d, rewrites %d, checkpoints %d; %+v", s.counts[0].Load(), s.counts[1].Load(),
		s.counts[2].Load(), s.counts[3].Load(), s.counts[4].Load(), s.counts[5].Load(), st.Stats())
	finalCheck(t, s, fs)
	if acct.Used() != 0 {
		t.Errorf("%d bytes are booked after Close", acct.Used())
	}
}

// finalCheck checkpoints, verifies memory and disk, reopens and compares.
func finalCheck(t *testing.T, s *stress, fs vfs.FS) {
	t.Helper()
	tip := s.tip.Load()
	must(t, s.st.Checkpoint(tip, Meta{}, CheckpointOptions{}))
	problem := func(p Problem) {
		if !p.Note {
			t.Errorf("%s: %s", p.Where, p.What)
		}
	}
	s.st.CheckSnapshot(tip, problem)
	must(t, s.st.Check(problem))
	want := loadAll(t, tip)
	must(t, s.st.Close())
	st, _, err := openStore(fs, 1024, 0, nil)
	must(t, err)
	if !same(loadAll(t, st.Base()), want) {
		t.Error("the reopened store differs")
	}
	must(t, st.Close())
}
