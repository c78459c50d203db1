package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/hashicorp/raft"

	"herd/cluster"
	"herd/engine"
	"herd/internal/scenario"
	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

var scenarioRounds = flag.Int("scenarios", 1, "how often each scenario runs")

// TestScenarios runs the files of testdata/scenarios in simulated time: engines under one Raft group, with clients that read and write rows
// through every node. What they saw must be linearizable, row by row, and in the end all nodes must have the same. -scenarios says how often.
func TestScenarios(t *testing.T) {
	scenario.Files(t, *scenarioRounds, playScenario)
}

// registers is how many rows the clients work with.
const registers = 4

// rowInput is an operation on one row.
type rowInput struct {
	row   int
	write bool
	value string
}

// rowModel is a row: a read returns what the last write wrote.
var rowModel = porcupine.Model{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		out := make([][]porcupine.Operation, registers)
		for _, o := range all {
			r := o.Input.(rowInput).row
			out[r] = append(out[r], o)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(rowInput); in.write {
			return true, in.value
		}
		return output.(string) == state.(string), state
	},
	DescribeOperation: func(input, output any) string {
		in := input.(rowInput)
		if in.write {
			return fmt.Sprintf("write %d %s", in.row, in.value)
		}
		return fmt.Sprintf("read %d %v", in.row, output)
	},
}

// play is a scenario: engines under one Raft group, and clients whose history is kept.
type play struct {
	t     *testing.T
	net   *network
	all   []*simNode
	keep  int64
	tree  storage.TreeID
	seed  int64
	clock atomic.Int64 // orders the operations' ends: simulated time stands still too often

	gate sync.RWMutex // held by operations; nodes come and go without

	mu  sync.Mutex // guards ops
	ops []porcupine.Operation

	stopClients chan struct{}
	clients     sync.WaitGroup
}

// simNode is an engine whose system database is a member of the group.
type simNode struct {
	s      *play
	id     string
	folder int // how often its disk was lost
	dir    string
	trans  *raft.InmemTransport
	e      *engine.Engine
	group  *cluster.Group
	leads  atomic.Bool  // OnLead was called since it was opened
	clock  atomic.Int64 // by how much its wall clock is wrong
	down   bool
}

func (x *simNode) instance() string { return fmt.Sprint(x.id, "/", x.folder) }

func (x *simNode) open(found bool) {
	s, t := x.s, x.s.t
	_, x.trans = raft.NewInmemTransportWithTimeout(raft.ServerAddress(x.instance()), time.Second)
	x.down = false
	s.connect()
	var err error
	x.e, err = engine.Open(engine.Options{Dir: x.dir, BigCommit: 200, Fatal: func(err error) { s.t.Error(x.id, err) },
		Now: func() time.Time { return time.Now().Add(time.Duration(x.clock.Load())) },
		OpenLog: func(o txlog.Opening) (txlog.Log, error) {
			g, err := cluster.OpenGroup(cluster.GroupOptions{FS: vfs.OS, Node: x.id, Transport: &simTransport{x.trans, s.net, x.id}, Found: found,
				ElectionTimeout: 300 * time.Millisecond, KeepBytes: s.keep, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20, Fetch: x.fetch,
				Logger: slog.New(slog.NewTextHandler(t.Output(), nil)).With("node", x.id)}, o)
			x.group = g
			return g, err
		}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// fetch connects x with another engine's state, through the network.
func (x *simNode) fetch(node string) (io.ReadWriteCloser, error) {
	for _, o := range x.s.all {
		if o.id != node || o == x || o.down || !x.s.net.joins(x.id, o.id) || !x.s.net.joins(o.id, x.id) {
			continue
		}
		x.s.net.pass(x.id, o.id)
		return scenario.Served(o.group.Serve), nil
	}
	return nil, errors.New("no such node")
}

// join has messages of one node reach another, or not.
func (s *play) join(from, to *simNode, yes bool) {
	s.net.join(from.id, to.id, yes)
	if yes {
		from.trans.Connect(raft.ServerAddress(to.instance()), to.trans)
		return
	}
	from.trans.Disconnect(raft.ServerAddress(to.instance()))
}

// connect joins all nodes that are up, but not those that are cut off, with each other.
func (s *play) connect(off ...*simNode) {
	s.net.part()
	alone := map[*simNode]bool{}
	for _, x := range off {
		alone[x] = true
	}
	for _, a := range s.all {
		if a.trans == nil {
			continue
		}
		a.trans.DisconnectAll()
		for _, b := range s.all {
			if a != b && b.trans != nil && !a.down && !b.down && !alone[a] && !alone[b] {
				s.join(a, b, true)
			}
		}
	}
}

func playScenario(t *testing.T, text string, round int) {
	s := &play{t: t, net: newNetwork(), keep: 1 << 20, seed: int64(round), stopClients: make(chan struct{})}
	t.Cleanup(func() {
		for _, x := range s.all {
			s.stop(x)
		}
	})
	scenario.Play(t, text, s.step)
	close(s.stopClients)
	s.clients.Wait()
	s.same()
	reads, writes := 0, 0
	for _, o := range s.ops {
		if o.Input.(rowInput).write {
			writes++
		} else {
			reads++
		}
	}
	if reads < 50 || writes < 50 {
		t.Errorf("only %d reads and %d writes", reads, writes)
	}
	if got := porcupine.CheckOperationsTimeout(rowModel, s.ops, time.Hour); got != porcupine.Ok {
		t.Errorf("the history of %d operations is not linearizable: %v", len(s.ops), got)
	}
	t.Logf("%d reads, %d writes", reads, writes)
}

// step runs one line.
func (s *play) step(verb string, args []string) (err error) {
	switch verb {
	case "nodes":
		n, err := scenario.Number(args)
		if err != nil {
			return err
		}
		return s.begin(int(n))
	case "keep":
		s.keep, err = scenario.Number(args)
		return err
	case "heal":
		s.connect()
		for _, x := range s.all {
			s.net.slow(x.id, 0, s.ids())
		}
		return nil
	case "start":
		for _, x := range s.all {
			if x.down {
				s.alone(func() { x.open(false) })
			}
		}
		return nil
	case "slow", "stall", "clock": // duration, then nodes
		d, err := scenario.Duration(args)
		if err != nil {
			return err
		}
		return s.nodes().Each(args[1:], func(x *simNode) error {
			switch verb {
			case "stall":
				s.net.stall(x.id, d)
			case "slow":
				s.net.slow(x.id, d, s.ids())
			case "clock":
				x.clock.Add(int64(d))
			}
			return nil
		})
	case "cut":
		var off []*simNode
		err := s.nodes().Each(args, func(x *simNode) error { off = append(off, x); return nil })
		s.connect(off...)
		return err
	}
	return s.toNodes(verb, args)
}

// toNodes does something to each of the nodes that args name.
func (s *play) toNodes(verb string, args []string) error {
	var f func(x *simNode) error
	switch verb {
	case "mute":
		f = func(x *simNode) error {
			for _, o := range s.all {
				s.join(x, o, false)
			}
			return nil
		}
	case "deaf":
		f = func(x *simNode) error {
			for _, o := range s.all {
				s.join(o, x, false)
			}
			return nil
		}
	case "stop":
		f = func(x *simNode) error { s.alone(func() { s.stop(x) }); return nil }
	case "checkpoint":
		f = func(x *simNode) error { return x.e.System().Checkpoint() }
	case "wipe":
		f = s.wipe
	case "fill":
		f = s.fill
	default:
		return scenario.ErrUnknown
	}
	return s.nodes().Each(args, f)
}

func (s *play) ids() (out []string) {
	for _, x := range s.all {
		out = append(out, x.id)
	}
	return out
}

func (s *play) nodes() scenario.Nodes[*simNode] {
	return scenario.Nodes[*simNode]{
		All:  func() []*simNode { return s.all },
		ID:   func(x *simNode) string { return x.id },
		Down: func(x *simNode) bool { return x.down }, Leader: s.leader,
	}
}

// alone runs f while no operation is under way.
func (s *play) alone(f func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	f()
}

// begin makes the nodes and lets the clients go.
func (s *play) begin(n int) error {
	for i := range n {
		x := &simNode{s: s, id: fmt.Sprint("n", i+1), dir: s.t.TempDir()}
		s.all = append(s.all, x)
		x.open(i == 0)
	}
	lead := s.leader()
	for _, x := range s.all[1:] {
		if err := s.patiently(func() error { return lead.group.AddVoter(x.id, x.instance()) }); err != nil {
			return err
		}
	}
	err := s.patiently(func() (err error) {
		v := s.leader().e.System().NewSession(engine.SessionOptions{PID: 1})
		defer v.Close()
		tx := v.Begin(engine.TxOptions{})
		if s.tree, err = tx.NewTree(); err == nil {
			err = tx.Commit()
		}
		return errors.Join(err, v.WaitDurable())
	})
	for c := range 4 {
		s.clients.Add(1)
		go s.client(c)
	}
	return err
}

// patiently tries something that may fail while nobody leads.
func (s *play) patiently(f func() error) (err error) {
	for range 100 {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// stop ends a node as a crash does: what no checkpoint has is in the log only.
func (s *play) stop(x *simNode) {
	if x.down {
		return
	}
	x.down = true
	s.connect()
	if err := x.e.Abandon(); err != nil {
		s.t.Error(x.id, err)
	}
}

// wipe has a node lose its disk. It comes back empty, and the leader takes it in as it does with any new one: as a learner first.
func (s *play) wipe(x *simNode) error {
	s.alone(func() {
		s.stop(x)
		if err := os.RemoveAll(x.dir); err != nil {
			s.t.Error(err)
		}
		x.folder++
		x.open(false)
	})
	steps := []func(g *cluster.Group) error{
		func(g *cluster.Group) error { return g.Remove(x.id) },
		func(g *cluster.Group) error { return g.AddLearner(x.id, x.instance()) },
		func(*cluster.Group) error {
			if !x.group.Complete() {
				return errors.New("it has not caught up")
			}
			return nil
		},
		func(g *cluster.Group) error { return g.AddVoter(x.id, x.instance()) },
	}
	for _, f := range steps {
		if err := s.patiently(func() error { return f(s.leader().group) }); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a megabyte of other rows through a node, in one large transaction.
func (s *play) fill(x *simNode) error {
	return s.patiently(func() error {
		v := s.leader().e.System().NewSession(engine.SessionOptions{PID: 9})
		defer v.Close()
		tx := v.Begin(engine.TxOptions{})
		for i := range 1000 {
			if err := tx.Put(s.tree, fmt.Appendf(nil, "filler %s %d %d", x.id, s.clock.Add(1), i), make([]byte, 1000)); err != nil {
				return err
			}
		}
		return errors.Join(tx.Commit(), v.WaitDurable())
	})
}

// leader waits until a node serves, and proves it.
func (s *play) leader() *simNode {
	s.t.Helper()
	for range 2000 {
		for _, x := range s.all {
			if !x.down && x.group != nil && x.group.Verify() == nil {
				return x
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("no leader")
	return nil
}

// client reads and writes through one node after the other.
func (s *play) client(c int) {
	defer s.clients.Done()
	r := rand.New(rand.NewSource(s.seed*100 + int64(c)))
	for i := 0; ; i++ {
		select {
		case <-s.stopClients:
			return
		case <-time.After(time.Duration(1+r.Intn(20)) * time.Millisecond):
		}
		s.gate.RLock()
		if x := s.all[r.Intn(len(s.all))]; !x.down {
			v := x.e.System().NewSession(engine.SessionOptions{PID: int32(10 + c)})
			in := rowInput{row: r.Intn(registers), write: r.Intn(2) == 0, value: fmt.Sprint(c, ".", i)}
			if in.write {
				s.write(c, v, in, r.Intn(20) == 0)
			} else {
				s.read(c, v, in)
			}
			v.Close()
		}
		s.gate.RUnlock()
	}
}

func rowKey(row int) []byte { return fmt.Append(nil, "row ", row) }

// write writes a row, with many others in a large transaction. What is not acknowledged may be agreed on at any time, or never.
func (s *play) write(c int, v *engine.Session, in rowInput, large bool) {
	call := s.clock.Add(1)
	tx := v.Begin(engine.TxOptions{})
	err := tx.Put(s.tree, rowKey(in.row), []byte(in.value))
	for i := 0; large && i < 400 && err == nil; i++ {
		err = tx.Put(s.tree, fmt.Appendf(nil, "with %s %d", in.value, i), make([]byte, 100))
	}
	if err != nil {
		tx.Rollback()
		return // nothing was proposed
	}
	end := int64(math.MaxInt64)
	err = tx.Commit()
	if err == nil {
		err = v.WaitDurable()
	} else if e := (*sqlerr.Error)(nil); errors.As(err, &e) && e.Code == sqlerr.AdminShutdown {
		return // it was refused
	}
	if err == nil {
		end = s.clock.Add(1)
	}
	s.note(porcupine.Operation{ClientId: c, Input: in, Call: call, Output: "", Return: end})
}

// read reads a row; without an error at the end it was not older than anything acknowledged before.
func (s *play) read(c int, v *engine.Session, in rowInput) {
	call := s.clock.Add(1)
	tx := v.Begin(engine.TxOptions{})
	got, _, err := tx.BeginStatement().Get(s.tree, rowKey(in.row))
	out := string(got)
	if errors.Join(err, tx.Commit(), v.WaitDurable()) == nil {
		s.note(porcupine.Operation{ClientId: c, Input: in, Call: call, Output: out, Return: s.clock.Add(1)})
	}
}

func (s *play) note(o porcupine.Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops = append(s.ops, o)
}

// sums returns the figures of every tree.
func (x *simNode) sums() map[storage.TreeID]string {
	out := map[storage.TreeID]string{}
	err := x.e.System().ReadTip(func(v storage.View) error {
		v.Snap.Trees(func(id storage.TreeID, rows int64) bool {
			out[id] = fmt.Sprintf("%d:%x", rows, v.Snap.Checksum(id))
			return true
		})
		return nil
	})
	if err != nil {
		x.s.t.Error(err)
	}
	return out
}

// same waits until all nodes that are up have the same.
func (s *play) same() {
	s.t.Helper()
	var sums []map[storage.TreeID]string
	for range 2000 {
		lead := s.leader()
		sums = sums[:0]
		equal := true
		for _, x := range s.all {
			if !x.down {
				sums = append(sums, x.sums())
				equal = equal && maps.Equal(sums[0], sums[len(sums)-1])
			}
		}
		if equal && lead == s.leader() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Errorf("the nodes do not have the same: %v", sums)
}
