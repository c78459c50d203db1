package cluster

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/hashicorp/raft"

	"herd/internal/scenario"
	"herd/txlog"
)

var scenarioRounds = flag.Int("scenarios", 1, "how often each scenario runs")

// registerModel is one register: a read returns what the last write wrote.
var registerModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(registerInput); in.write {
			return true, in.value
		}
		return output.(string) == state.(string), state
	},
	DescribeOperation: func(input, output any) string {
		if in := input.(registerInput); in.write {
			return "write " + in.value
		}
		return fmt.Sprintf("read %v", output)
	},
}

type registerInput struct {
	write bool
	value string
}

// play is a scenario: a group under clients whose history is kept.
type play struct {
	*trio
	t     *testing.T
	clock atomic.Int64 // orders the operations' ends: simulated time stands still too often

	gate sync.RWMutex // held by operations; nodes come and go without

	mu  sync.Mutex // guards ops
	ops []porcupine.Operation

	stopClients chan struct{}
	clients     sync.WaitGroup
}

// TestScenarios runs the files of testdata/scenarios in simulated time, with clients that read and write one register through every node;
// what they saw must be linearizable. -scenarios says how often.
func TestScenarios(t *testing.T) {
	scenario.Files(t, *scenarioRounds, func(t *testing.T, text string, _ int) { playScenario(t, text) })
}

func playScenario(t *testing.T, text string) {
	s := &play{t: t, stopClients: make(chan struct{})}
	scenario.Play(t, text, s.step)
	close(s.stopClients)
	s.clients.Wait()
	s.leader()
	s.same()
	reads, writes := 0, 0
	for _, o := range s.ops {
		if o.Input.(registerInput).write {
			writes++
		} else {
			reads++
		}
	}
	if reads < 50 || writes < 50 {
		t.Errorf("only %d reads and %d writes", reads, writes)
	}
	if got := porcupine.CheckOperationsTimeout(registerModel, s.ops, time.Hour); got != porcupine.Ok {
		t.Errorf("the history of %d operations is not linearizable: %v", len(s.ops), got)
	}
	t.Logf("%d reads, %d writes", reads, writes)
}

// step runs one line.
func (s *play) step(verb string, args []string) error {
	switch verb {
	case "nodes":
		n, err := scenario.Number(args)
		if err != nil {
			return err
		}
		s.trio = newTrio(s.t, int(n))
		for c := range 4 {
			s.clients.Add(1)
			go s.client(c)
		}
	case "keep":
		n, err := scenario.Number(args)
		s.keep = n
		return err
	case "heal":
		s.connect()
	case "transfer":
		s.leader().group.raft.LeadershipTransfer() // a failure is fine: somebody goes on leading
	case "start":
		for _, m := range s.members {
			if m.down {
				s.alone(func() { s.start(m, false) })
			}
		}
	case "cut", "mute", "deaf", "stop", "checkpoint":
		return s.toNodes(verb, args)
	default:
		return scenario.ErrUnknown
	}
	return nil
}

// toNodes does something to the nodes that args name.
func (s *play) toNodes(verb string, args []string) error {
	chosen := map[*member]bool{}
	if err := s.nodes().Each(args, func(m *member) error { chosen[m] = true; return nil }); err != nil {
		return err
	}
	if verb == "cut" {
		s.split(chosen)
	}
	for m := range chosen {
		switch verb {
		case "mute":
			m.trans.DisconnectAll()
		case "deaf":
			for _, o := range s.members {
				if o != m && !o.down {
					o.trans.Disconnect(raft.ServerAddress(m.id))
				}
			}
		case "stop":
			s.alone(func() { s.stop(m) })
		case "checkpoint":
			s.checkpoint(m)
		}
	}
	return nil
}

func (s *play) nodes() scenario.Nodes[*member] {
	return scenario.Nodes[*member]{
		All:  func() []*member { return s.members },
		ID:   func(m *member) string { return m.id },
		Down: func(m *member) bool { return m.down }, Leader: func() *member { return s.leader() },
	}
}

// alone runs f while no operation looks at the members.
func (s *play) alone(f func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	f()
}

// client reads and writes through one node after the other.
func (s *play) client(c int) {
	defer s.clients.Done()
	r := rand.New(rand.NewSource(int64(c)))
	for i := 0; ; i++ {
		select {
		case <-s.stopClients:
			return
		case <-time.After(time.Duration(1+r.Intn(20)) * time.Millisecond):
		}
		s.gate.RLock()
		m := s.members[r.Intn(len(s.members))]
		if m.down {
			s.gate.RUnlock()
			continue
		}
		toy, group := m.toy, m.group
		s.gate.RUnlock()
		if r.Intn(2) == 0 {
			s.write(c, toy, group, fmt.Sprint(c, ".", i))
		} else {
			s.read(c, toy, group)
		}
	}
}

func (s *play) write(c int, y *toy, g *Group, value string) {
	call := s.clock.Add(1)
	seq, err := y.append(txlog.Commit, value)
	if err != nil {
		return // it was refused: nothing was proposed
	}
	end := int64(math.MaxInt64) // not acknowledged: it may be agreed on at any time, or never
	if g.Wait(seq, nil) == nil {
		end = s.clock.Add(1)
	}
	s.note(porcupine.Operation{ClientId: c, Input: registerInput{true, value}, Call: call, Output: "", Return: end})
}

// read looks at what is safe on the node and is told when the node is known to have led since, as sessions do.
func (s *play) read(c int, y *toy, g *Group) {
	call := s.clock.Add(1)
	got := ""
	if list := y.contents(); len(list) > 0 {
		got = list[len(list)-1]
	}
	if g.Verify() != nil {
		return
	}
	s.note(porcupine.Operation{ClientId: c, Input: registerInput{}, Call: call, Output: got, Return: s.clock.Add(1)})
}

func (s *play) note(o porcupine.Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops = append(s.ops, o)
}

// A history with a stale read is found out.
func TestRegisterModel(t *testing.T) {
	op := func(in registerInput, out string, call, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: int(cmp.Compare(call, 0)), Input: in, Output: out, Call: call, Return: end}
	}
	good := []porcupine.Operation{op(registerInput{true, "a"}, "", 1, 2), op(registerInput{}, "a", 3, 4), op(registerInput{true, "b"}, "", 5, math.MaxInt64), op(registerInput{}, "a", 6, 7)}
	if !porcupine.CheckOperations(registerModel, good) {
		t.Error("a good history is refused")
	}
	if porcupine.CheckOperations(registerModel, append(good, op(registerInput{true, "c"}, "", 8, 9), op(registerInput{}, "a", 10, 11))) {
		t.Error("a stale read is not found")
	}
}
