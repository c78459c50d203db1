package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"herd/tests/peer"
)

func TestMain(m *testing.M) { os.Exit(peer.Main(m)) }

var (
	testTime = flag.Duration("history.time", 4*time.Second, "time of each level")
	testSeed = flag.Uint64("history.seed", 0, "seed; 0: another one each time")
)

// A short run at each level with a kill, checkpoints and more data than memory; go run ./tests/history runs long ones.
func TestHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	seed := *testSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: -history.seed=%d repeats the clients' choices", seed, seed)
	for l := readCommitted; l <= serializable; l++ {
		t.Run(strings.ReplaceAll(l.String(), " ", ""), func(t *testing.T) {
			h := peer.HerdFor(t, "server.memory.max.limit=96M")
			out, err := stress(context.Background(), h, options{level: l, seed: seed, time: *testTime, kills: 1, clients: 4, counters: 100, ballast: 20_000})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, s := range out.summaries {
				t.Log(s)
			}
			for _, p := range out.problems {
				t.Errorf("seed %d: %s", seed, p)
			}
		})
	}
}

func app(key, elem int) op        { return op{key: key, append: true, elem: elem} }
func get(key int, list ...int) op { return op{key: key, list: list} }
func done(f fate, ops ...op) *txn { return &txn{fate: f, ops: ops} }
func ends(lists ...[]int) map[int][]int {
	final := map[int][]int{}
	for i, l := range lists {
		final[i] = l
	}
	return final
}

// Each phenomenon by itself: the checker names it at the levels that forbid it and accepts the history below them.
func TestCheckerNotices(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		name  string
		txns  []*txn
		final map[int][]int
		want  string // "" everywhere: possible at every level
		from  level
	}{
		{"serial", []*txn{done(committed, app(0, 1), app(0, 2)), done(committed, get(0, 1, 2), app(0, 3)), done(aborted, app(0, 9)), done(unknown, app(1, 4))},
			ends([]int{1, 2, 3}, []int{4}), "", 0},
		{"lost", []*txn{done(committed, app(0, 1)), done(committed, app(0, 2))}, ends([]int{2}), "lost", 0},
		{"twice", []*txn{done(committed, app(0, 1))}, ends([]int{1, 1}), "twice", 0},
		{"from nowhere", []*txn{done(committed, app(0, 1))}, ends([]int{1, 7}), "nobody", 0},
		{"G1a at the end", []*txn{done(aborted, app(0, 1))}, ends([]int{1}), "G1a", 0},
		{"G1a in a read", []*txn{done(aborted, app(0, 1)), done(committed, get(0, 1))}, ends([]int{}), "G1a", 0},
		{"G1b", []*txn{done(committed, app(0, 1), app(0, 2)), done(committed, get(0, 1))}, ends([]int{1, 2}), "G1b", 0},
		{"two orders", []*txn{done(committed, app(0, 1)), done(committed, app(0, 2)), done(committed, get(0, 2))}, ends([]int{1, 2}), "no beginning", 0},
		{"own append unseen", []*txn{done(committed, app(0, 1), get(0))}, ends([]int{1}), "appended", 0},
		{"G0", []*txn{done(committed, app(0, 1), app(1, 2)), done(committed, app(0, 3), app(1, 4))}, ends([]int{1, 3}, []int{4, 2}), "G0", 0},
		{"G1c", []*txn{done(committed, app(0, 1), get(1, 2)), done(committed, app(1, 2), get(0, 1))}, ends([]int{1}, []int{2}), "G1c", 0},
		{"stale", []*txn{{fate: committed, ops: []op{app(0, 1)}, began: at, end: at.Add(1)}, {fate: committed, ops: []op{get(0)}, began: at.Add(2), end: at.Add(3)}},
			ends([]int{1}), "stale", 0},
		{"two snapshots", []*txn{done(committed, get(0), get(0, 1)), done(committed, app(0, 1))}, ends([]int{1}), "twice in one snapshot", repeatableRead},
		{"G-single", []*txn{done(committed, get(0), get(1, 2)), done(committed, app(0, 1), app(1, 2))}, ends([]int{1}, []int{2}), "G-single", repeatableRead},
		{"lost update", []*txn{done(committed, get(0), app(0, 1)), done(committed, get(0), app(0, 2))}, ends([]int{1, 2}), "G-single", repeatableRead},
		{"long fork", []*txn{done(committed, app(0, 1)), done(committed, app(1, 2)), done(committed, get(0, 1), get(1)), done(committed, get(0), get(1, 2))},
			ends([]int{1}, []int{2}), "G-single", repeatableRead},
		{"write skew", []*txn{done(committed, get(0), get(1), app(0, 1)), done(committed, get(0), get(1), app(1, 2))}, ends([]int{1}, []int{2}), "G2", serializable},
	} {
		for l := readCommitted; l <= serializable; l++ {
			h := &history{final: c.final}
			for _, x := range c.txns {
				again := *x
				h.add(&again)
			}
			got := strings.Join(check(h, l), "; ")
			if forbidden := c.want != "" && l >= c.from; forbidden != (got != "") || forbidden && !strings.Contains(got, c.want) {
				t.Errorf("%s at %s: %q, wanted %q from %s on", c.name, l, got, c.want, c.from)
			}
		}
	}
}

// A long cycle among transactions that depend on each other without one is found, and with its last edge gone it is not.
func TestCycleIsFound(t *testing.T) {
	for _, closed := range []bool{true, false} {
		g := make(graph, 500)
		for i := range 499 {
			g.add(i, i+1, ww, i)
			g.add(i/2, i+1, wr, i)
		}
		if closed {
			g.add(499, 250, rw, 0)
		}
		path := g.cycle([]kind{ww, wr, rw}, false)
		if (path != nil) != closed {
			t.Fatalf("closed %v: %v", closed, path)
		}
		for i, s := range path {
			if next := path[(i+1)%len(path)].from; next != s.to {
				t.Fatal(fmt.Sprintf("step to %d is followed by one from %d", s.to, next))
			}
		}
	}
}
