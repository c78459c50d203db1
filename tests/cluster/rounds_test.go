package cluster

import (
	"cmp"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rounds are a cluster to which something bad happens, again and again, under load.
type rounds struct {
	*nodes
	r     *rand.Rand
	count *counter
	load  *load
	small *node // its folder is a device of its own that can be filled; nil: this process may not mount one
}

// kinds are what happens. Each leaves links whole and may leave nodes down.
var kinds = []struct {
	name string
	run  func(c *rounds)
}{
	{"the leader is killed", func(c *rounds) { c.kill(c.leader()); c.wait(3) }},
	{"a follower is killed", func(c *rounds) { c.kill(c.follower()); c.wait(2) }},
	{"all are killed", func(c *rounds) {
		for _, x := range c.list {
			c.kill(x)
		}
	}},
	{"the leader stands still", func(c *rounds) { c.freeze(c.leader(), 4) }},
	{"a follower stands still", func(c *rounds) { c.freeze(c.follower(), 3) }},
	{"all stand still", func(c *rounds) { c.freeze(nil, 2) }},
	{"the leader is cut off", func(c *rounds) { c.cut(c.leader(), true, true, 4) }},
	{"nobody hears the leader", func(c *rounds) { c.cut(c.leader(), false, true, 4) }},
	{"the leader hears nobody", func(c *rounds) { c.cut(c.leader(), true, false, 4) }},
	{"a follower is cut off", func(c *rounds) { c.cut(c.follower(), true, true, 3) }},
	{"all are cut off", func(c *rounds) {
		for _, x := range c.list {
			c.cut(x, true, true, 0)
		}
		c.wait(2)
	}},
	{"all restart, one after the other", (*rounds).roll},
	{"a disk is lost", func(c *rounds) { c.wipe(c.list[c.r.Intn(len(c.list))]) }},
	{"a disk is full", (*rounds).fill},
	{"two nodes come and go", (*rounds).grow},
}

// TestRounds has HERD_ROUNDS rounds (default: one of a few kinds). Nothing that was acknowledged is lost, no read is older than it may be, all
// nodes have the same in the end, and after each round commits go on.
func TestRounds(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("HERD_ROUNDS"), "4"))
	if err != nil {
		t.Fatal(err)
	}
	seed := time.Now().UnixNano()
	t.Log("seed", seed)
	c := &rounds{nodes: prepare(t), r: rand.New(rand.NewSource(seed))}
	c.links = newLinks(t)
	c.mount(filepath.Join(c.dir, "n3"))
	c.addAll(3)
	if c.small != nil {
		c.small = c.list[2]
	}
	c.count = newCounter(t, c.url(), c.list...)
	c.load = newLoad(t, c.url(), 3)
	c.wait(2)
	var order []int
	gaps := map[string][]time.Duration{}
	for i := range n {
		if len(order) == 0 {
			order = c.r.Perm(len(kinds))
		}
		kind := kinds[order[0]]
		order = order[1:]
		c.count.interval()
		kind.run(c)
		gap := c.settle(kind.name)
		gaps[kind.name] = append(gaps[kind.name], gap)
		t.Logf("%3d %s: %v without a commit, %d acknowledged", i+1, kind.name, gap.Round(time.Millisecond), c.count.acked.Load())
		if i%10 == 9 {
			same(t, c.nodes)
		}
		if t.Failed() {
			break
		}
	}
	c.load.end()
	c.count.end(c.url())
	same(t, c.nodes)
	for _, x := range c.list {
		c.lead(x)
		c.load.check(t, x.url())
	}
	t.Logf("%d transfers acknowledged, %d of unknown outcome", len(c.load.acked), len(c.load.unknown))
	for name, list := range gaps {
		slices.Sort(list)
		t.Logf("%-36s %3d rounds, without a commit: median %v, worst %v", name, len(list), list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond))
	}
}

func (c *rounds) wait(seconds int) { time.Sleep(time.Duration(seconds) * time.Second) }

// follower returns any node that does not lead.
func (c *rounds) follower() *node {
	list := c.others(c.leader())
	return list[c.r.Intn(len(list))]
}

// settle starts what is down and waits until all nodes vote and commits go on. It returns the longest time without a commit.
func (c *rounds) settle(what string) time.Duration {
	c.t.Helper()
	c.links.heal()
	for _, x := range c.list {
		if x.process != nil && !alive(x) {
			c.kill(x)
		}
		if x.process == nil {
			c.run(x)
		}
	}
	for _, x := range c.list {
		x.await(c.t)
		c.awaitVoter(x)
	}
	before := c.count.acked.Load()
	for end := time.Now().Add(20 * time.Second); c.count.acked.Load() < before+5; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("%s: no commit for 20 s afterwards", what)
		}
	}
	return c.count.interval()
}

// alive tells whether a node's process has not ended.
func alive(x *node) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", x.process.Process.Pid))
	_, state, ok := strings.Cut(string(text), ") ")
	return err == nil && ok && !strings.HasPrefix(state, "Z")
}

// freeze has a node's process, nil: all, stand still.
func (c *rounds) freeze(x *node, seconds int) {
	list := []*node{x}
	if x == nil {
		list = c.list
	}
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, x := range list {
			if err := x.process.Process.Signal(sig); err != nil {
				c.t.Fatal(err)
			}
		}
		if sig == syscall.SIGSTOP {
			c.wait(seconds)
		}
	}
	c.wait(1)
}

// cut cuts what a node hears, and what it says.
func (c *rounds) cut(x *node, in, out bool, seconds int) {
	for _, o := range c.others(x) {
		if in {
			c.links.set(true, link{o.id, x.id})
		}
		if out {
			c.links.set(true, link{x.id, o.id})
		}
	}
	c.wait(seconds)
}

// roll restarts all nodes as an operator does.
func (c *rounds) roll() {
	for _, x := range c.list {
		if out, err := x.command("drain"); err != nil {
			c.t.Error(err, out)
		}
		c.end(x)
		c.run(x)
		x.await(c.t)
		c.awaitVoter(x)
	}
}

// wipe has a node lose its folder, which then joins anew.
func (c *rounds) wipe(x *node) {
	c.kill(x)
	files, err := os.ReadDir(x.dir) // the folder itself may be a device
	for _, f := range files {
		if e := os.RemoveAll(filepath.Join(x.dir, f.Name())); e != nil {
			err = e
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	x.join = c.others(x)[0].clusterAddr
	c.run(x)
}

// mount puts a small device where a node's folder will be.
func (c *rounds) mount(dir string) {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = syscall.Mount("herd", dir, "tmpfs", 0, "size=512m")
	}
	if err != nil {
		c.t.Log("no disk can be full here:", err)
		return
	}
	c.small = &node{}
	c.t.Cleanup(func() {
		c.stop()
		if err := syscall.Unmount(dir, 0); err != nil {
			c.t.Error(err)
		}
	})
}

// fill fills the small device while the node leads, or follows, and makes room again.
func (c *rounds) fill() {
	if c.small == nil {
		return
	}
	if c.r.Intn(2) == 0 {
		c.nodes.lead(c.small)
	}
	name := filepath.Join(c.small.dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		c.t.Fatal(err)
	}
	piece := make([]byte, 64<<10)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		if _, err := f.Write(piece); err != nil {
			if len(piece) == 1 {
				time.Sleep(50 * time.Millisecond)
			}
			piece = piece[:max(len(piece)/2, 1)]
		}
	}
	if err := f.Close(); err != nil {
		c.t.Error(err)
	}
	if err := os.Remove(name); err != nil {
		c.t.Error(err)
	}
}

// grow adds two nodes and removes them again.
func (c *rounds) grow() {
	for range 2 {
		c.awaitVoter(c.add())
	}
	c.wait(1)
	for range 2 {
		x := c.list[len(c.list)-1]
		if out, err := x.command("drain"); err != nil {
			c.t.Error(err, out)
		}
		if out, err := c.list[0].command("remove", x.id); err != nil {
			c.t.Error(err, out)
		}
		c.kill(x)
		if err := os.RemoveAll(x.dir); err != nil {
			c.t.Error(err)
		}
		c.list = c.list[:len(c.list)-1]
	}
}
