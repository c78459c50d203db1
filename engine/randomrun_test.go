package engine

import (
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
)

// randomConfigs must not change what a run leaves.
var randomConfigs = []func(*Options){
	small,
	littleMemory,
	func(o *Options) { littleMemory(o); o.BigCommit, o.replayBytes = 1, 1<<20 },
	func(o *Options) { small(o); o.PageSize = 8 << 10; o.BigCommit = 1 << 30 },
	func(o *Options) { small(o); o.CheckpointPeriod, o.CheckpointDirtyBytes = time.Second, 1<<20 },
	func(o *Options) { small(o); o.LogDir, o.MetadataDir = "/logs", "/meta" },
	func(o *Options) { small(o); o.Memory, o.CheckpointDirtyBytes = mem.NewRoot(16<<20), 512<<10 },
}

// randomSteps are what a worker chooses from, the usual more often.
var randomSteps = strings.Fields("tree drop swap load load update update update update delete delete large parts merge undo thin number " +
	"number checkpoint clean evict")

// TestRandomRuns lets several sessions work at random and loses power at random syncs, again and again in the same
// folder: each life begins with what the crash before has left.
func TestRandomRuns(t *testing.T) {
	runs, lives := 3, 5
	if n := faultEffort(); n > 0 {
		runs = 20 * n
	}
	began, crashes := time.Now(), 0
	for seed := faultSeed(); seed < faultSeed()+int64(runs); seed++ {
		r := rand.New(rand.NewSource(seed))
		config := randomConfigs[r.Intn(len(randomConfigs))]
		m, x := vfs.NewMem(), expect{have: make([]rows, 3), next: make([]rows, 3), number: make([]int64, 3)}
		for life := range lives {
			var wrong string
			m, x, wrong = randomLife(t, m, x, r, config)
			if wrong == "" {
				wrong = x.recovered(m, config, life == lives-1)
			}
			if wrong != "" {
				t.Fatalf("seed %d, life %d: %s", seed, life, wrong)
			}
			crashes++
		}
	}
	t.Logf("%d crashes in %v", crashes, time.Since(began).Round(time.Millisecond))
}

// randomLife runs one server from what m holds to a crash at some sync, and returns what is left and must be there.
func randomLife(t *testing.T, m *vfs.Mem, x expect, r *rand.Rand, config func(*Options)) (*vfs.Mem, expect, string) {
	var mu sync.Mutex // guards what follows
	var w *world
	var left *vfs.Mem
	var must expect
	at, keep, seen := 1+r.Intn(40), []int{0, 30, 60, 90, 100}[r.Intn(5)], 0
	o := vfs.CrashOptions{Rand: rand.New(rand.NewSource(r.Int63())), KeepPercent: keep}
	m.SetSyncHook(func(int, vfs.Label) {
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == at && left == nil {
			if must = x; w == nil {
				left = m.CrashClone(o)
			} else {
				left, must = w.crash(m, o)
			}
		}
	})
	opened, err := begin(t, m, r.Int63(), len(x.have), config)
	if err != nil {
		return m, x, fmt.Sprintf("no start: %v", err)
	}
	defer opened.end()
	if wrong := opened.adopt(x); wrong != "" {
		return m, x, wrong
	}
	mu.Lock()
	w = opened
	mu.Unlock()
	crashed := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return left != nil
	}
	var wg sync.WaitGroup
	failures := make([]string, len(w.workers))
	for i, k := range w.workers {
		wg.Go(func() {
			for n := 0; n < 60 && !crashed(); n++ {
				step := randomSteps[k.r.Intn(len(randomSteps))]
				if err := k.do(step); err != nil && !refused(err) {
					failures[i] = fmt.Sprintf("step %s: %v", step, err)
					return
				}
			}
		})
	}
	wg.Wait()
	m.SetSyncHook(nil)
	for _, f := range failures {
		if f != "" {
			return m, x, f
		}
	}
	if !crashed() {
		left, must = w.crash(m, o)
	}
	return left, must, ""
}

// refused tells whether an error is one that a server short of memory may give.
func refused(err error) bool { return code(err) == "53200" }

// adopt lets the workers go on from what a restart has found, after looking whether it is what must be there.
func (w *world) adopt(x expect) string {
	all, err := readRows(w.e)
	if err != nil {
		return err.Error()
	}
	for i, k := range w.workers {
		k.have, k.number = all.of(i), x.number[i]
		if !maps.Equal(k.have, x.have[i]) && (x.next[i] == nil || !maps.Equal(k.have, x.next[i])) {
			return fmt.Sprintf("worker %d: %s", i, diff(k.have, x.have[i]))
		}
		for key := range k.have {
			var tree storage.TreeID
			if n, _ := fmt.Sscanf(key, "%d/", &tree); n == 1 && strings.HasSuffix(key, "-mark") {
				k.trees = append(k.trees, tree)
			}
		}
	}
	return ""
}

// TestRandomFaults lets a disk fail at random while several sessions work; a restart without faults finds what was
// acknowledged, and so do reads before.
func TestRandomFaults(t *testing.T) {
	runs := 12
	if n := faultEffort(); n > 0 {
		runs = 150 * n
	}
	hits, stops := 0, 0
	for seed := faultSeed(); seed < faultSeed()+int64(runs); seed++ {
		hit, stopped, wrong := randomFault(t, seed)
		if wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		hits += hit
		if stopped {
			stops++
		}
	}
	t.Logf("%d runs, %d faults met, %d stopped the server", runs, hits, stops)
}

func randomFault(t *testing.T, seed int64) (hits int, stopped bool, wrong string) {
	r := rand.New(rand.NewSource(seed))
	config := randomConfigs[r.Intn(len(randomConfigs))]
	m := vfs.NewMem()
	ffs := vfs.NewFault(m)
	w, err := begin(t, ffs, seed, 3, config)
	if err != nil {
		return 0, false, err.Error()
	}
	f := faults[r.Intn(2)]
	for range 1 + r.Intn(3) {
		rule := vfs.Rule{Op: []vfs.Op{vfs.OpWrite, vfs.OpSync, vfs.OpRead, vfs.OpCreate, vfs.OpRename, vfs.OpRemove}[r.Intn(6)],
			Nth: 1 + r.Intn(80), Err: f.err, Sticky: r.Intn(3) == 0, Partial: r.Intn(3000)}
		if r.Intn(2) == 0 {
			rule.Label = []vfs.Label{"log.write", "log.segment", "storage.write", "storage.segment", "storage.manifest", "storage.spill"}[r.Intn(6)]
		}
		ffs.Add(rule)
	}
	var wg sync.WaitGroup
	failures := make([]string, len(w.workers))
	for i, k := range w.workers {
		wg.Go(func() {
			for n := 0; n < 30 && !k.dead; n++ {
				step := randomSteps[k.r.Intn(len(randomSteps))]
				if err := k.do(step); err != nil && !f.explains(err) && !refused(err) && !unknown(err) {
					failures[i] = fmt.Sprintf("step %s: %v", step, err)
				}
			}
		})
	}
	wg.Wait()
	stopped = w.fatal.Load()
	ffs.Clear()
	if !stopped {
		if all, err := readRows(w.e); err != nil {
			wrong = fmt.Sprintf("a read fails: %v", err)
		} else {
			for i, k := range w.workers {
				if got := all.of(i); k.next == nil && !maps.Equal(got, k.have) {
					wrong = fmt.Sprintf("worker %d, before the restart: %s", i, diff(got, k.have))
				}
			}
		}
	}
	left, x := w.crash(m, vfs.CrashOptions{Rand: r, KeepPercent: r.Intn(2) * 100})
	w.end()
	for _, s := range failures {
		if s != "" && wrong == "" {
			wrong = s
		}
	}
	if wrong == "" {
		wrong = x.recovered(left, config, true)
	}
	return ffs.Fired(), stopped, wrong
}
