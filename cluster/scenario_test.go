package cluster

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/hashicorp/raft"

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

// scenario is a group under clients whose history is kept.
type scenario struct {
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
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range *scenarioRounds {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { runScenario(t, string(text)) })
			})
		}
	}
}

func runScenario(t *testing.T, text string) {
	s := &scenario{t: t, stopClients: make(chan struct{})}
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if err := s.step(f[0], f[1:]); err != nil {
			t.Fatalf("line %d, %q: %v", n+1, line, err)
		}
	}
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
func (s *scenario) step(verb string, args []string) error {
	switch verb {
	case "nodes":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		s.trio = newTrio(s.t, n)
		for c := range 4 {
			s.clients.Add(1)
			go s.client(c)
		}
	case "keep":
		n, err := strconv.ParseInt(args[0], 10, 64)
		s.keep = n
		return err
	case "run":
		d, err := time.ParseDuration(args[0])
		time.Sleep(d)
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
		return fmt.Errorf("unknown step")
	}
	return nil
}

// toNodes does something to the nodes that args name.
func (s *scenario) toNodes(verb string, args []string) error {
	chosen := map[*member]bool{}
	for _, a := range args {
		m, err := s.named(a)
		if err != nil {
			return err
		}
		chosen[m] = true
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

func (s *scenario) named(name string) (*member, error) {
	switch name {
	case "leader":
		return s.leader(), nil
	case "follower":
		lead := s.leader()
		for _, m := range s.members {
			if m != lead && !m.down {
				return m, nil
			}
		}
	}
	for _, m := range s.members {
		if m.id == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("no node %s", name)
}

// alone runs f while no operation looks at the members.
func (s *scenario) alone(f func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	f()
}

// client reads and writes through one node after the other.
func (s *scenario) client(c int) {
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

func (s *scenario) write(c int, y *toy, g *Group, value string) {
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
func (s *scenario) read(c int, y *toy, g *Group) {
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

func (s *scenario) note(o porcupine.Operation) {
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
