package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/storage"
	"herd/txlog"
)

// do runs one step of a script. The error is that of a transaction that failed or of maintenance.
func (k *worker) do(step string) error {
	if k.dead {
		return nil
	}
	db := k.w.e.System()
	switch step {
	case "checkpoint":
		return db.Checkpoint()
	case "clean":
		return db.maintain()
	case "evict":
		db.store.Evict(1 << 40)
		return nil
	case "number":
		v, err := k.s.NextValue(testSequence+uint32(k.id), testSequenceSpec)
		if err == nil {
			err = k.s.WaitDurable()
		}
		if err == nil {
			k.mu.Lock()
			k.number = max(k.number, v)
			k.mu.Unlock()
		}
		return err
	}
	x := k.begin()
	made, dropped := storage.TreeID(0), storage.TreeID(0)
	tree := k.anyTree()
	if tree == 0 {
		step = "tree"
	}
	switch step {
	case "tree":
		made, x.err = x.NewTree()
		x.put(made, "mark", []byte("here"))
		x.put(made, "long", k.fill(5000))
	case "drop":
		if dropped = k.trees[0]; len(k.trees) > 1 {
			x.dropTree(dropped)
		} else {
			dropped = 0
		}
	case "swap": // TRUNCATE
		dropped = k.trees[0]
		made, x.err = x.NewTree()
		x.put(made, "mark", []byte("swapped"))
		x.dropTree(dropped)
	case "load":
		for i := range 60 {
			x.put(tree, fmt.Sprintf("l%03d", i), k.fill(20+k.r.Intn(200)))
		}
	case "update":
		for range 8 {
			x.put(tree, fmt.Sprintf("l%03d", k.r.Intn(80)), k.fill(20+k.r.Intn(200)))
		}
	case "delete":
		for range 12 {
			x.del(tree, fmt.Sprintf("l%03d", k.r.Intn(80)))
		}
	case "large":
		x.put(tree, fmt.Sprintf("v%d", k.r.Intn(4)), k.fill(3000+k.r.Intn(150<<10)))
	case "parts": // more than an entry holds, some of it taken back to a savepoint
		for i := range 7 {
			x.put(tree, fmt.Sprintf("p%d", i), k.fill(180<<10))
		}
		if k.r.Intn(2) == 0 {
			m, want := x.Savepoint(), maps.Clone(x.want)
			for i := range 3 {
				x.put(tree, fmt.Sprintf("q%d", i), k.fill(180<<10))
			}
			x.RollbackTo(m)
			x.want = want
		}
	case "merge": // beside the others
		for i := range 260 {
			x.put(tree, fmt.Sprintf("m%03d", i), k.fill(30))
		}
	case "undo":
		for i := range 7 {
			x.put(tree, fmt.Sprintf("u%d", i), k.fill(180<<10))
		}
		x.Rollback()
		return x.err
	case "thin": // leaves segments mostly dead
		for i := range 80 {
			if i%9 != 0 {
				x.del(tree, fmt.Sprintf("l%03d", i))
			}
		}
	default:
		panic("no step " + step)
	}
	ok, err := x.commit()
	if ok {
		if dropped != 0 {
			k.trees = slices.DeleteFunc(k.trees, func(t storage.TreeID) bool { return t == dropped })
		}
		if made != 0 {
			k.trees = append(k.trees, made)
		}
	}
	return err
}

func (k *worker) anyTree() storage.TreeID {
	if len(k.trees) == 0 {
		return 0
	}
	return k.trees[k.r.Intn(len(k.trees))]
}

// faultScripts are what the loops run, one for each subject.
var faultScripts = map[string]string{
	"load":     "tree load load number checkpoint load",
	"update":   "tree load checkpoint update update evict update checkpoint update",
	"delete":   "tree load merge delete checkpoint delete thin checkpoint delete",
	"ddl":      "tree tree load drop tree swap checkpoint tree drop swap update",
	"parts":    "tree parts undo parts checkpoint update",
	"clean":    "tree load merge checkpoint thin load checkpoint thin clean update checkpoint clean checkpoint",
	"truncate": "tree parts parts number checkpoint parts parts checkpoint parts parts checkpoint update",
	"evict":    "tree load large large checkpoint evict update large evict checkpoint evict update",
}

func scriptNames() []string {
	var names []string
	for n := range faultScripts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// TestCrashLoop loses power at every sync of every script, keeping nothing, all, and random parts of what was not
// synced.
func TestCrashLoop(t *testing.T) {
	effort := max(faultEffort(), 1)
	for _, name := range scriptNames() {
		t.Run(name, func(t *testing.T) {
			crashes := 0
			for seed := faultSeed(); seed < faultSeed()+int64(effort); seed++ {
				crashes += crashScript(t, strings.Fields(faultScripts[name]), seed)
			}
			t.Logf("%d crashes", crashes)
		})
	}
}

func crashScript(t *testing.T, steps []string, seed int64) (crashes int) {
	m := vfs.NewMem()
	var w *world
	var wrong string
	var mu sync.Mutex
	r := rand.New(rand.NewSource(seed))
	look := func(n int, l vfs.Label) {
		mu.Lock()
		defer mu.Unlock()
		if wrong != "" {
			return
		}
		keeps := []int{[]int{0, 30, 60, 90, 100}[(n+int(seed))%5]}
		if faultEffort() > 0 {
			keeps = []int{0, 30, 60, 90, 100}
		}
		for _, keep := range keeps {
			o := vfs.CrashOptions{Rand: r, KeepPercent: keep}
			var c *vfs.Mem
			x := nothing
			if w == nil { // the folder is being made
				c = m.CrashClone(o)
			} else {
				c, x = w.crash(m, o)
			}
			crashes++
			if bad := x.recovered(c, small, crashes%4 == 0); bad != "" {
				wrong = fmt.Sprintf("crash at sync %d (%s), keeping %d %%: %s", n, l, keep, bad)
				return
			}
		}
	}
	m.SetSyncHook(look)
	opened, err := begin(t, m, seed, 1, small)
	must(t, err)
	mu.Lock()
	w = opened
	mu.Unlock()
	for _, s := range steps {
		if err := w.workers[0].do(s); err != nil {
			t.Fatalf("seed %d: step %s: %v", seed, s, err)
		}
	}
	m.SetSyncHook(nil)
	look(m.Syncs(), "end")
	w.end()
	if wrong != "" {
		t.Fatalf("seed %d: %s", seed, wrong)
	}
	return crashes
}

// nothing is what a start that failed leaves of one worker.
var nothing = expect{have: []rows{{}}, next: []rows{nil}, number: []int64{0}}

// fault is a kind of failure for the loop over all calls.
type fault struct {
	name string
	err  error
	part int
	bit  int
	ops  []vfs.Op // nil: all
}

var faults = []fault{
	{name: "EIO", err: syscall.EIO},
	{name: "ENOSPC", err: syscall.ENOSPC, ops: []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpMkdir, vfs.OpRename, vfs.OpTruncate}},
	{name: "short", err: syscall.EIO, part: 700, ops: []vfs.Op{vfs.OpRead, vfs.OpWrite}},
	{name: "full", err: syscall.ENOSPC, part: 5000, ops: []vfs.Op{vfs.OpWrite}},
	{name: "bit", bit: 12345, ops: []vfs.Op{vfs.OpRead, vfs.OpWrite}},
}

// TestFaultLoop fails each call of each label in each script in each way that suits it, once, and goes on. Afterwards a
// restart holds what was acknowledged. A bit that the disk has changed may instead be reported, by the start, a read or
// the check; what is read is never wrong.
func TestFaultLoop(t *testing.T) {
	total, hits := map[string]int{}, 0
	for _, name := range scriptNames() {
		steps := strings.Fields(faultScripts[name])
		for _, f := range faults {
			t.Run(name+"/"+f.name, func(t *testing.T) {
				for call, calls := range countCalls(t, steps) {
					if f.ops != nil && !slices.Contains(f.ops, call.Op) {
						continue
					}
					// Ordinarily one of the calls, another in each script; all of them on demand.
					from, step := 1+(len(name)*7+len(call.Label)*3+int(faultSeed()))%calls, calls
					if faultEffort() > 0 {
						from, step = 1, 1
					}
					for n := from; n <= calls; n += step {
						hit, wrong := f.run(t, steps, call, n)
						if wrong != "" {
							t.Errorf("%s of %s, call %d of %d: %s", call.Op, call.Label, n, calls, wrong)
						}
						total[f.name]++
						if hit {
							hits++
						}
					}
				}
			})
		}
	}
	t.Logf("%v cases, %d faults met", total, hits)
	if !t.Failed() && hits == 0 {
		t.Error("no fault was met")
	}
}

// countCalls runs the script without faults.
func countCalls(t *testing.T, steps []string) map[vfs.Call]int {
	f := vfs.NewFault(vfs.NewMem())
	w, err := begin(t, f, 1, 1, small)
	must(t, err)
	for _, s := range steps {
		if err := w.workers[0].do(s); err != nil {
			t.Fatalf("step %s: %v", s, err)
		}
	}
	w.end()
	return f.Calls()
}

// run runs the script with the fault at the n-th call and restarts.
func (f *fault) run(t *testing.T, steps []string, call vfs.Call, n int) (hit bool, wrong string) {
	m := vfs.NewMem()
	ffs := vfs.NewFault(m, vfs.Rule{Label: call.Label, Op: call.Op, Nth: n, Err: f.err, Partial: f.part, Bit: f.bit * n})
	x := nothing
	w, err := begin(t, ffs, 1, 1, small)
	left := m
	if err == nil {
		k := w.workers[0]
		for _, s := range steps {
			if err := k.do(s); err != nil && !f.explains(err) && !k.dead {
				wrong = fmt.Sprintf("step %s: %v", s, err)
			}
		}
		if !w.fatal.Load() && wrong == "" { // what runs on must read what it holds
			if all, err := readRows(w.e); err == nil {
				if got := all.of(0); k.next == nil && diff(got, k.have)[0] != '0' {
					wrong = "beside it, reads find " + diff(got, k.have)
				}
			} else if !f.explains(err) {
				wrong = fmt.Sprintf("beside it, a read fails: %v", err)
			}
		}
		left, x = w.crash(m, vfs.CrashOptions{})
		w.end()
	} else if !f.explains(err) {
		wrong = fmt.Sprintf("start: %v", err)
	}
	hit = ffs.Fired() > 0
	bad := x.recovered(left, small, n%3 == 0)
	if bad == "" || wrong != "" || f.err == nil && call.Op == vfs.OpWrite && reported(left) {
		return hit, wrong
	}
	if f.err == nil && call == (vfs.Call{Label: "log.write", Op: vfs.OpWrite}) && w != nil {
		// Nothing tells a damaged last group from a torn one. Then the state is that of the commit before, whole.
		past := w.workers[0].past
		x.have[0] = past[len(past)-1]
		if bad = x.recovered(left, small, true); bad == "" {
			return hit, ""
		}
	}
	return hit, "restart: " + bad
}

// explains tells whether an error tells of the fault.
func (f *fault) explains(err error) bool {
	text := fmt.Sprint(err)
	var e *sqlerr.Error
	if errors.As(err, &e) {
		text += e.Detail
	}
	if f.err == nil {
		return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, ErrNotHerd) || strings.Contains(text, "corrupt")
	}
	return errors.Is(err, f.err) || strings.Contains(text, f.err.Error()) ||
		f.err == syscall.ENOSPC && (errors.Is(err, txlog.ErrNoSpace) || code(err) == "53100")
}

// reported tells whether a changed bit was found where it is: by the start or the check, with the file's name.
func reported(fsys vfs.FS) bool {
	found := checked(fsys, small)
	return strings.Contains(found, "/data/") || strings.Contains(found, formatFile)
}
