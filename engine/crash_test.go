package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// model is what the committed transactions have left, after each of them.
type model struct {
	mu     sync.Mutex
	states []map[string]string
	acked  int // states up to here were acknowledged
}

func newModel() *model { return &model{states: []map[string]string{{}}} }

// begin records the state after a commit that is about to be made.
func (m *model) begin(change func(s map[string]string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := maps.Clone(m.states[len(m.states)-1])
	change(s)
	m.states = append(m.states, s)
}

func (m *model) ack() {
	m.mu.Lock()
	m.acked = len(m.states) - 1
	m.mu.Unlock()
}

// contents reads all user trees of a database.
func contents(t testing.TB, db *Database) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, db.ReadTip(func(v storage.View) error {
		v.Snap.Trees(func(id storage.TreeID, rows int64) bool {
			var c storage.Cursor
			c.Init(v, id, nil, nil, false)
			n := int64(0)
			for c.Next() {
				val := string(c.Value())
				if len(val) > 40 {
					val = fmt.Sprintf("%s+%d", val[:40], len(val))
				}
				out[fmt.Sprintf("%d/%s", id, c.Key())] = val
				n++
			}
			must(t, c.Err())
			c.Close()
			if n != rows {
				t.Errorf("tree %d counts %d rows, has %d", id, rows, n)
			}
			return true
		})
		return nil
	}))
	return out
}

// matches returns the number of the state that got equals, at or above from, or -1.
func (m *model) matches(got map[string]string, from int) int {
	for i := from; i < len(m.states); i++ {
		if maps.Equal(got, m.states[i]) {
			return i
		}
	}
	return -1
}

// script runs a workload of loads, updates, deletes, parts, new and dropped trees, checkpoints.
func script(t testing.TB, e *Engine, m *model, seed int64, rounds int) {
	r := rand.New(rand.NewSource(seed))
	s := e.System().NewSession(SessionOptions{})
	defer s.Close()
	var trees []storage.TreeID
	commit := func(tx *Tx, change func(map[string]string)) bool {
		m.begin(change)
		if err := tx.Commit(); err != nil {
			t.Error(err)
			return false
		}
		if err := s.WaitDurable(); err != nil {
			t.Error(err)
			return false
		}
		m.ack()
		return true
	}
	for i := range rounds {
		tx := s.Begin(TxOptions{})
		want := map[string]string{}
		gone := map[string]bool{}
		put := func(tr storage.TreeID, key, val string) {
			must(t, tx.Put(tr, []byte(key), []byte(val)))
			short := val
			if len(val) > 40 {
				short = fmt.Sprintf("%s+%d", val[:40], len(val))
			}
			want[fmt.Sprintf("%d/%s", tr, key)] = short
		}
		var dropped storage.TreeID
		switch {
		case len(trees) == 0 || r.Intn(12) == 0:
			id, err := tx.NewTree()
			must(t, err)
			trees = append(trees, id)
			put(id, "first", "row")
		case len(trees) > 2 && r.Intn(10) == 0:
			dropped = trees[0]
			trees = trees[1:]
			must(t, tx.DropTree(dropped))
		case i%9 == 4: // too large for one entry
			tr := trees[r.Intn(len(trees))]
			for k := range 16 {
				put(tr, fmt.Sprintf("big%d", k), strings.Repeat(fmt.Sprint(i%10), 100<<10))
			}
		case i%9 == 8: // merged beside the others
			tr := trees[r.Intn(len(trees))]
			for k := range 300 {
				put(tr, fmt.Sprintf("many%03d", k), fmt.Sprint(i))
			}
		default:
			tr := trees[r.Intn(len(trees))]
			for range r.Intn(6) + 1 {
				key := fmt.Sprintf("k%02d", r.Intn(40))
				if r.Intn(3) == 0 {
					must(t, tx.Delete(tr, []byte(key)))
					k := fmt.Sprintf("%d/%s", tr, key)
					gone[k] = true
					delete(want, k)
				} else {
					put(tr, key, fmt.Sprintf("%d-%s", i, strings.Repeat("x", r.Intn(200))))
					delete(gone, fmt.Sprintf("%d/%s", tr, key))
				}
			}
		}
		ok := commit(tx, func(st map[string]string) {
			if dropped != 0 {
				p := fmt.Sprintf("%d/", dropped)
				maps.DeleteFunc(st, func(k, _ string) bool { return strings.HasPrefix(k, p) })
			}
			for k := range gone {
				delete(st, k)
			}
			maps.Copy(st, want)
		})
		if !ok {
			return
		}
		if i%7 == 6 {
			if err := e.System().Checkpoint(); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

func crashOptions(o *Options) {
	o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20
	o.BigCommit = 200
	o.PageSize = 1024
}

// checkFolder runs herd check and demands that it finds nothing bad.
func checkFolder(t testing.TB, fsys vfs.FS, dir ...string) CheckSummary {
	t.Helper()
	sum, err := Check(CheckOptions{FS: fsys, Dir: append(dir, "/data")[0]}, func(p Problem) {
		if !p.Note {
			t.Errorf("check: %+v", p)
		}
	})
	must(t, err)
	return sum
}

func TestCheckFindsDamage(t *testing.T) {
	m, mod := vfs.NewMem(), newModel()
	e := openMem(t, m, crashOptions)
	script(t, e, mod, 1, 30)
	must(t, e.Close())
	if sum := checkFolder(t, m); sum.Databases != 1 || sum.Trees == 0 || sum.Rows == 0 {
		t.Fatalf("summary %+v", sum)
	}
	names, err := m.ReadDir("t", "/data/db/0/data")
	must(t, err)
	for _, n := range names {
		f, err := m.Open("t", "/data/db/0/data/"+n)
		must(t, err)
		size, _ := f.Size()
		for off := int64(200); off < size; off += 997 {
			_, _ = f.WriteAt("t", []byte{0xff}, off)
		}
	}
	found := 0
	_, err = Check(CheckOptions{FS: m, Dir: "/data"}, func(p Problem) { found++ })
	must(t, err)
	if found == 0 {
		t.Fatal("damage was not found")
	}
}

// TestFoldersOutside keeps logs and manifests elsewhere.
func TestFoldersOutside(t *testing.T) {
	m := vfs.NewMem()
	outside := func(o *Options) { o.LogDir, o.MetadataDir = "/logs", "/meta" }
	e := openMem(t, m, outside)
	must(t, e.CreateDatabase("x", 20000))
	db, err := e.Database("x")
	must(t, err)
	s := db.NewSession(SessionOptions{})
	put(t, s, newTree(t, s), "k", "v")
	s.Close()
	must(t, db.Checkpoint())
	m = m.CrashClone(vfs.CrashOptions{})
	e.Abandon()
	e = openMem(t, m, outside)
	db, err = e.Database("x")
	must(t, err)
	s = db.NewSession(SessionOptions{})
	if got := get(t, s, tree1, "k"); got != "v" {
		t.Fatalf("got %q", got)
	}
	s.Close()
	must(t, e.DropDatabase("x"))
	must(t, e.Close())
	for _, d := range []string{"/logs", "/meta", "/data/db"} {
		if names, _ := m.ReadDir("t", d); len(names) != 1 {
			t.Fatalf("%s holds %v", d, names)
		}
	}
}

// TestRestartsInTheMiddle runs the workload in pieces with clean and unclean restarts, under several configurations that
// must not change what it leaves.
func TestRestartsInTheMiddle(t *testing.T) {
	configs := map[string]func(*Options){
		"usual":          crashOptions,
		"all big":        func(o *Options) { crashOptions(o); o.BigCommit = 1 },
		"none big":       func(o *Options) { crashOptions(o); o.BigCommit = 1 << 30 },
		"little memory":  func(o *Options) { crashOptions(o); o.Memory = mem.NewRoot(4 << 20); o.CheckpointDirtyBytes = 256 << 10 },
		"large pages":    func(o *Options) { o.PageSize = 32 << 10 },
		"sync every 5ms": func(o *Options) { crashOptions(o); o.LogSync, o.LogSyncInterval = txlog.SyncEvery, 5*time.Millisecond },
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			m, mod := vfs.NewMem(), newModel()
			for i := range 6 {
				e := openMem(t, m, config)
				if got := contents(t, e.System()); !maps.Equal(got, mod.states[len(mod.states)-1]) {
					t.Fatalf("restart %d: state differs", i)
				}
				scriptOn(t, e, mod, int64(i))
				if i%2 == 0 || name == "sync every 5ms" {
					must(t, e.Close())
				} else {
					must(t, e.Abandon())
					m = m.CrashClone(vfs.CrashOptions{})
				}
				checkFolder(t, m)
			}
		})
	}
}

// scriptOn runs the script with trees of its own: earlier ones stay as they are.
func scriptOn(t testing.TB, e *Engine, mod *model, seed int64) { script(t, e, mod, seed, 20) }

func TestCorruptLogStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*Engine, error) { return Open(Options{Dir: dir, CheckpointPeriod: -1}) }
	e, err := open()
	must(t, err)
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	for i := range 20 {
		put(t, s, tr, fmt.Sprint(i), strings.Repeat("v", 500))
	}
	s.Close()
	must(t, e.Abandon())
	logs, err := filepath.Glob(filepath.Join(dir, "db/0/log/*.log"))
	must(t, err)
	p, err := os.ReadFile(logs[0])
	must(t, err)
	at := strings.Index(string(p), strings.Repeat("v", 500))
	p[at+100] ^= 1
	must(t, os.WriteFile(logs[0], p, 0o600))
	_, err = open()
	var ce *txlog.CorruptError
	if !errors.As(err, &ce) || ce.Offset == 0 || ce.File != logs[0] {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "--cut-log") {
		t.Fatalf("no way out is named: %v", err)
	}
	undamaged := append([]byte(nil), p...)
	undamaged[at+100] ^= 1
	cuts := 0
	must(t, CutLogs(CheckOptions{Dir: dir}, func(database string, damage *txlog.CorruptError) {
		if cuts++; damage.File != logs[0] || damage.Offset != ce.Offset {
			t.Fatalf("cut at %v", damage)
		}
	}))
	if cuts != 1 {
		t.Fatalf("%d cuts", cuts)
	}
	checkFolder(t, vfs.OS, dir)
	if e, err = open(); err != nil {
		t.Fatal(err)
	}
	if rows := e.System().tip.Load().Count(tr); rows != 0 { // the damage is in the first row's group
		t.Fatalf("%d rows are left", rows)
	}
	must(t, e.Abandon())
	must(t, os.WriteFile(logs[0], undamaged, 0o600))
	e, err = open()
	must(t, err)
	if rows := e.System().tip.Load().Count(tr); rows != 20 {
		t.Fatalf("%d rows", rows)
	}
	if _, err := open(); !errors.Is(err, ErrInUse) {
		t.Fatalf("second server: %v", err)
	}
	must(t, e.Close())
	must(t, os.WriteFile(filepath.Join(dir, "FORMAT"), []byte("herd 99\n"), 0o600))
	if _, err := open(); !errors.Is(err, ErrNewerFormat) {
		t.Fatalf("newer format: %v", err)
	}
}
