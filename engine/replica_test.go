package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"sync"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// group is a log that several engines share, in memory: entries are agreed on when the test says so.
type group struct {
	mu     sync.Mutex
	agreed []txlog.Entry
	nodes  []*node
}

// node is one engine's end of the group, for its system database.
type node struct {
	g       *group
	e       *Engine
	fs      vfs.FS
	replica txlog.Replica

	mu      sync.Mutex
	cond    *sync.Cond
	leads   bool
	pending []txlog.Entry // appended, not agreed on
	last    txlog.Seq
	durable txlog.Seq
	stats   txlog.Stats
	hold    bool // entries wait for agree
	most    int  // the most bytes that were appended at once
}

var _ txlog.Log = (*node)(nil)

func (g *group) join(t *testing.T) *node {
	n := &node{g: g, fs: vfs.NewMem()}
	n.cond = sync.NewCond(&n.mu)
	n.open(t)
	g.nodes = append(g.nodes, n)
	t.Cleanup(func() { n.e.Abandon() })
	return n
}

func (n *node) open(t *testing.T) {
	n.e = openMem(t, n.fs, func(o *Options) {
		o.OpenLog = func(x txlog.Opening) (txlog.Log, error) {
			n.replica = x.Replica
			n.last, n.durable = x.Replica.Applied(), x.Replica.Applied()
			return n, nil
		}
	})
}

func (n *node) Reserve(int, txlog.Class) (txlog.Reservation, error) { return txlog.Reservation{}, nil }
func (n *node) Cancel(txlog.Reservation)                            {}
func (n *node) Append(r txlog.Reservation, e txlog.Entry) error {
	return n.AppendAll([]txlog.Reservation{r}, []txlog.Entry{e})
}

func (n *node) AppendAll(_ []txlog.Reservation, es []txlog.Entry) error {
	n.mu.Lock()
	if !n.leads {
		n.mu.Unlock()
		return txlog.ErrLost
	}
	size := 0
	for _, e := range es {
		size += len(e.Payload)
		n.most = max(n.most, size)
		e.Payload = bytes.Clone(e.Payload)
		n.pending = append(n.pending, e)
		n.last = e.Seq
	}
	hold := n.hold
	n.mu.Unlock()
	if !hold {
		go n.agree(-1)
	}
	return nil
}

// agree makes the first count entries that n has proposed part of the log, all with -1.
func (n *node) agree(count int) {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	n.mu.Lock()
	if count < 0 || count > len(n.pending) {
		count = len(n.pending)
	}
	es := n.pending[:count:count]
	n.pending = n.pending[count:]
	n.mu.Unlock()
	if len(es) > 0 {
		n.g.deliver(es)
	}
}

// deliver hands entries to every node. g.mu is held.
func (g *group) deliver(es []txlog.Entry) {
	g.agreed = append(g.agreed, es...)
	for _, n := range g.nodes {
		if err := n.replica.Apply(es); err != nil {
			panic(err)
		}
		n.applied()
	}
}

func (n *node) applied() {
	n.mu.Lock()
	n.durable = n.replica.Applied()
	n.cond.Broadcast()
	n.mu.Unlock()
}

func (n *node) Durable() txlog.Seq {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.durable
}

func (n *node) Last() txlog.Seq {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

func (n *node) Wait(seq txlog.Seq, _ <-chan struct{}) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.durable < seq {
		if !n.leads {
			return txlog.ErrLost
		}
		n.cond.Wait()
	}
	return nil
}

func (n *node) Barrier() error                     { return nil }
func (n *node) End() txlog.Position                { return txlog.Position(n.Last()) }
func (n *node) EndOf(seq txlog.Seq) txlog.Position { return txlog.Position(seq) }
func (n *node) Read(from txlog.Position, f func(txlog.Position, txlog.Entry) bool) error {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	for _, e := range n.g.agreed {
		if txlog.Position(e.Seq) > from && !f(txlog.Position(e.Prev), e) {
			break
		}
	}
	return nil
}
func (n *node) Bytes() int64                  { return 0 }
func (n *node) Truncate(txlog.Position) error { return nil }
func (n *node) Stats() *txlog.Stats           { return &n.stats }
func (n *node) Close() error                  { return nil }
func (n *node) setLeads(on bool) {
	n.mu.Lock()
	n.leads = on
	n.cond.Broadcast()
	n.mu.Unlock()
}

func (n *node) lead(t *testing.T, epoch txlog.Epoch) {
	t.Helper()
	n.setLeads(true)
	must(t, n.replica.Lead(epoch))
}

// lose takes leadership from n. What it has proposed stays in its queue: it may be agreed on nevertheless.
func (n *node) lose(t *testing.T) {
	t.Helper()
	n.setLeads(false)
	must(t, n.replica.Follow())
}

// same fails unless all nodes have the same contents.
func (g *group) same(t *testing.T) map[string]string {
	t.Helper()
	g.mu.Lock() // nothing is being delivered
	defer g.mu.Unlock()
	want := contents(t, g.nodes[0].e.System())
	for i, n := range g.nodes[1:] {
		if got := contents(t, n.e.System()); !maps.Equal(got, want) {
			t.Errorf("node %d has %d rows, node 0 has %d: %v, %v", i+1, len(got), len(want), got, want)
		}
	}
	return want
}

// Followers apply what the leader orders; after leadership moves all have what was agreed on and nothing else.
func TestReplicasFollow(t *testing.T) {
	g := &group{}
	a, b, c := g.join(t), g.join(t), g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	tree := newTree(t, s)
	for i := range 100 {
		put(t, s, tree, fmt.Sprint("k", i%30), fmt.Sprint("v", i))
	}
	if got := g.same(t); len(got) == 0 || got[fmt.Sprintf("%d/k0", tree)] != "v90" {
		t.Errorf("contents %v", got)
	}
	// A follower is read and refuses to order.
	f := b.e.System().NewSession(SessionOptions{PID: 2})
	if got := get(t, f, tree, "k1"); got != "v91" {
		t.Error("the follower has", got)
	}
	tx := f.Begin(TxOptions{})
	must(t, tx.Put(tree, []byte("x"), []byte("y")))
	var e *sqlerr.Error
	if err := tx.Commit(); !errors.As(err, &e) || e.Code != sqlerr.AdminShutdown {
		t.Errorf("a follower's commit: %v", err)
	}
	f.Close()

	// The leader has ordered what is not agreed on yet, and loses.
	a.hold = true
	before := g.same(t)
	for i := range 3 {
		tx := s.Begin(TxOptions{})
		must(t, tx.Put(tree, []byte(fmt.Sprint("late", i)), []byte("x")))
		must(t, tx.Commit())
	}
	if got := contents(t, a.e.System()); len(got) != len(before)+3 {
		t.Errorf("the leader's tip has %d rows", len(got))
	}
	a.lose(t)
	if err := s.WaitDurable(); !errors.As(err, &e) || e.Code != sqlerr.TransactionResolutionUnknown {
		t.Errorf("a commit in flight: %v", err)
	}
	s.Close()
	if got := g.same(t); !maps.Equal(got, before) {
		t.Errorf("after the loss %v, before %v", got, before)
	}
	// The first of them is agreed on after all, before the new leader's epoch; the others come too late.
	a.agree(1)
	b.lead(t, 2)
	a.agree(-1)
	if got := g.same(t); len(got) != len(before)+1 || got[fmt.Sprintf("%d/late0", tree)] != "x" {
		t.Errorf("after the new epoch: %v", got)
	}
	for _, n := range g.nodes {
		if got := n.e.System().applier.skipped; got != 2 {
			t.Errorf("%d entries were skipped, not 2", got)
		}
	}
	s = b.e.System().NewSession(SessionOptions{PID: 3})
	put(t, s, tree, "k0", "second")
	b.setLeads(false)
	s.Close()
	must(t, b.replica.Follow())
	// An epoch that is not higher than the open one does not begin.
	c.setLeads(true)
	if err := c.replica.Lead(2); err == nil {
		t.Error("epoch 2 began twice")
	}
	c.lead(t, 3)
	s = c.e.System().NewSession(SessionOptions{PID: 4})
	put(t, s, tree, "k1", "third")
	s.Close()
	if got := g.same(t); got[fmt.Sprintf("%d/k0", tree)] != "second" || got[fmt.Sprintf("%d/k1", tree)] != "third" {
		t.Errorf("in the end %v", got)
	}
}

// Parts of large transactions, sequences and numbers reach the followers; parts of a transaction whose leader is gone are void.
func TestReplicasParts(t *testing.T) {
	g := &group{}
	a, b := g.join(t), g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	tree := newTree(t, s)
	r := rand.New(rand.NewSource(1))
	big := func(prefix string) *Tx {
		tx := s.Begin(TxOptions{})
		val := make([]byte, 1000)
		for i := range 5000 {
			r.Read(val)
			must(t, tx.Put(tree, fmt.Appendf(nil, "%s%05d", prefix, i), val))
		}
		return tx
	}
	must(t, big("a").Commit())
	must(t, s.WaitDurable())
	if got := g.same(t); len(got) < 5000 {
		t.Errorf("%d rows", len(got))
	}
	v, err := s.NextValue(77, SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1000, Start: 1})
	must(t, err)
	must(t, s.WaitDurable())
	a.hold = true
	tx := big("b")
	must(t, tx.Commit())
	a.agree(3) // some parts
	a.lose(t)
	s.Close()
	b.lead(t, 2)
	a.agree(-1) // the rest, with the commit
	if got := g.same(t); len(got) >= 10000 {
		t.Error("a transaction without all its parts is there")
	}
	s = b.e.System().NewSession(SessionOptions{PID: 2})
	defer s.Close()
	w, err := s.NextValue(77, SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1000, Start: 1})
	must(t, err)
	if w <= v {
		t.Errorf("the sequence gave %d after %d", w, v)
	}
	if id := s.Begin(TxOptions{}).ID(); id <= 1000 {
		t.Errorf("transaction %d", id)
	}
}

// A node that was not there takes the state over and follows from there on; a damaged stream changes nothing.
func TestReplicaTakesStateOver(t *testing.T) {
	g := &group{}
	a := g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	defer s.Close()
	tree := newTree(t, s)
	for i := range 500 {
		put(t, s, tree, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	if _, err := s.NextValue(77, SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1000, Start: 1}); err != nil {
		t.Fatal(err)
	}
	must(t, s.WaitDurable())
	late := (&group{}).join(t)
	before := contents(t, late.e.System())
	size := 0
	if err := fetchFrom(a, late, func(at int, p []byte) ([]byte, bool) {
		size = at + len(p)
		return nil, false
	}); err == nil {
		t.Error("no stream was taken")
	}
	for _, at := range []int{0, 7, 12, size / 2, size + 20, size + 3000} {
		err := fetchFrom(a, late, func(from int, p []byte) ([]byte, bool) {
			if i := at - from; i >= 0 && i < len(p) {
				p = bytes.Clone(p)
				p[i] ^= 0x40
			}
			return p, true
		})
		if err == nil {
			t.Errorf("a stream with a wrong byte at %d was taken", at)
		}
	}
	if err := fetchFrom(a, late, func(at int, p []byte) ([]byte, bool) { return p, at <= size }); err == nil {
		t.Error("a short stream was taken")
	}
	if got := contents(t, late.e.System()); !maps.Equal(got, before) {
		t.Errorf("damaged streams have left %v", got)
	}
	must(t, fetchFrom(a, late, nil))
	late.applied()
	g.nodes = append(g.nodes, late)
	g.same(t)
	put(t, s, tree, "k0", "later")
	if got := g.same(t); got[fmt.Sprintf("%d/k0", tree)] != "later" {
		t.Errorf("the new node did not follow: %v", got[fmt.Sprintf("%d/k0", tree)])
	}
	if st, ok := late.e.System().SequenceState(77); !ok || !st.Called {
		t.Errorf("sequence %v, %v", st, ok)
	}
	if err := fetchFrom(late, a, nil); err == nil {
		t.Error("a leader took a state over")
	}
	// A restart of its own brings back what its checkpoint has, with its place in the order.
	at, want := late.replica.Applied(), contents(t, late.e.System())
	must(t, late.e.System().Checkpoint())
	must(t, late.e.Abandon())
	late.open(t)
	if got := contents(t, late.e.System()); !maps.Equal(got, want) || late.replica.Applied() != at {
		t.Errorf("after the restart %d rows at entry %d, expected %d at %d", len(got), late.replica.Applied(), len(want), at)
	}
	put(t, s, tree, "k0", "last")
	g.same(t)
}

// TestReplicaCommitsAfterLoss agrees on the parts of a transaction while its leader leads and on the rest when it does so no
// more: the commit counts on every node, the former leader's included.
func TestReplicaCommitsAfterLoss(t *testing.T) {
	g := &group{}
	a, b := g.join(t), g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	tree := newTree(t, s)
	a.hold = true
	tx := s.Begin(TxOptions{})
	rows := fill(t, tx, tree, "a", 5<<10)
	mark := tx.Savepoint()
	fill(t, tx, tree, "b", 10<<10)
	tx.RollbackTo(mark)
	rows += fill(t, tx, tree, "c", 10<<10)
	must(t, tx.Commit())
	n := len(a.pending)
	if n < 8 {
		t.Fatalf("%d entries", n)
	}
	a.agree(n - 2)
	a.lose(t)
	s.Close()
	a.agree(-1)
	for i, n := range g.nodes {
		if got := n.e.System().tip.Load().Count(tree); got != rows {
			t.Errorf("node %d has %d rows, want %d", i, got, rows)
		}
	}
	b.lead(t, 2)
	g.same(t)
}

// TestStateBesideSequence writes the state for another node while somebody who holds a sequence waits for his entry.
func TestStateBesideSequence(t *testing.T) {
	g := &group{}
	a := g.join(t)
	a.lead(t, 1)
	db := a.e.System()
	s := db.NewSession(SessionOptions{PID: 1})
	defer s.Close()
	spec := SequenceSpec{Name: "q", Increment: 1, Min: 1, Max: 1000, Start: 1}
	for range 33 { // the next one needs an entry
		_, err := s.NextValue(77, spec)
		must(t, err)
	}
	must(t, s.WaitDurable())
	queued := func(n int) {
		for {
			db.queue.mu.Lock()
			have := len(db.queue.list)
			db.queue.mu.Unlock()
			if have >= n {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	release, began := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { _ = db.exclusive(func() error { close(began); <-release; return nil }) })
	<-began
	late := (&group{}).join(t)
	done := make(chan error, 2)
	wg.Go(func() { done <- fetchFrom(a, late, nil) })
	queued(1)
	wg.Go(func() {
		_, err := s.NextValue(77, spec)
		done <- err
	})
	queued(2)
	close(release)
	for range 2 {
		select {
		case err := <-done:
			must(t, err)
		case <-time.After(20 * time.Second):
			t.Fatal("the state and the sequence wait for each other")
		}
	}
	wg.Wait()
}

// TestOrderedTogether orders commits that queue at the same moment: they go to the log at once, but not more than it can
// take in one piece.
func TestOrderedTogether(t *testing.T) {
	g := &group{}
	a := g.join(t)
	a.lead(t, 1)
	db := a.e.System()
	first := db.NewSession(SessionOptions{PID: 1})
	tree := newTree(t, first)
	first.Close()
	release, began := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { _ = db.exclusive(func() error { close(began); <-release; return nil }) })
	<-began
	for i := range 5 {
		wg.Go(func() {
			s := db.NewSession(SessionOptions{PID: int32(i + 2)})
			defer s.Close()
			tx := s.Begin(TxOptions{})
			for j := range 4 {
				if err := tx.Put(tree, fmt.Appendf(nil, "%d.%d", i, j), make([]byte, 100<<10)); err != nil {
					t.Error(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			if err := s.WaitDurable(); err != nil {
				t.Error(err)
			}
		})
	}
	for have := 0; have < 5; time.Sleep(time.Millisecond) {
		db.queue.mu.Lock()
		have = len(db.queue.list)
		db.queue.mu.Unlock()
	}
	close(release)
	wg.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.most < 800<<10 || a.most > batchBytes {
		t.Errorf("%d bytes were appended at once", a.most)
	}
}

// TestFollowerCleans has the cleaner move blocks on a node that follows, between two entries: what is durable there does not
// go back.
func TestFollowerCleans(t *testing.T) {
	g := &group{}
	a, b := g.join(t), g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	defer s.Close()
	tree := newTree(t, s)
	put(t, s, tree, "k", "before")
	db := b.e.System()
	g.same(t)
	must(t, db.exclusive(func() error {
		moved, err := db.rewrite(&storage.Cleaning{})
		if !moved {
			t.Error("nothing was moved")
		}
		return err
	}))
	put(t, s, tree, "k", "after")
	g.same(t)
	db.onDurable(db.log.Durable()) // as the cleaner does when it has moved everything
	if got, want := db.durable.Load().Seq(), db.tip.Load().Seq(); got != want {
		t.Errorf("durable contains entry %d, applied is %d", got, want)
	}
	f := db.NewSession(SessionOptions{PID: 2})
	defer f.Close()
	if got := get(t, f, tree, "k"); got != "after" {
		t.Errorf("the follower has %q", got)
	}
}
