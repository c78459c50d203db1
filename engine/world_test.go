package engine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/sqlerr"
	"herd/storage"
)

// faultEffort is how much more the loops of this package do than in an ordinary test run: HERD_FAULT_EFFORT=n runs n
// times as many seeds and leaves out no n of a label. The seeds begin at HERD_FAULT_SEED.
func faultEffort() int {
	n, _ := strconv.Atoi(os.Getenv("HERD_FAULT_EFFORT"))
	return n
}

func faultSeed() int64 {
	n, _ := strconv.ParseInt(os.Getenv("HERD_FAULT_SEED"), 10, 64)
	return n
}

// rows is what a worker has in the database: "tree/key" to the value's digest.
type rows map[string]string

func digest(val []byte) string {
	if len(val) <= 24 {
		return string(val)
	}
	return fmt.Sprintf("%s+%d:%08x", val[:16], len(val), crc32.ChecksumIEEE(val))
}

// world is a database under test beside the plain maps that say what must be in it.
type world struct {
	t       testing.TB
	e       *Engine
	workers []*worker
	fatal   atomic.Bool
}

// worker is one session. It writes keys that begin with its number, so what each must find does not depend on the order
// in which the others commit.
type worker struct {
	w      *world
	id     int
	s      *Session
	r      *rand.Rand
	shared storage.TreeID
	trees  []storage.TreeID // its own
	n      int

	mu     sync.Mutex
	have   rows // acknowledged
	next   rows // what a commit that is under way would leave; nil: none
	past   []rows
	number int64 // highest sequence value of an acknowledged commit
	dead   bool  // the session has ended: next may have come true
}

const testSequence = 17000

var testSequenceSpec = SequenceSpec{Name: "s", Increment: 1, Min: 1, Max: 1 << 40, Start: 1}

// small makes everything happen early: full segments, parts, merges beside the others, evictions.
func small(o *Options) {
	o.LogSegmentBytes, o.LogSegmentBytesMax = 3<<20, 3<<20
	o.BigCommit = 200
	o.PageSize = 1024
	o.CleanPercent = 80
}

// littleMemory is small with less memory than data.
func littleMemory(o *Options) {
	small(o)
	o.Memory = mem.NewRoot(4 << 20)
}

// begin opens a world over fsys, or returns why that failed.
func begin(t testing.TB, fsys vfs.FS, seed int64, workers int, config func(*Options)) (*world, error) {
	w := &world{t: t}
	o := Options{FS: fsys, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) { w.fatal.Store(true) }}
	config(&o)
	e, err := Open(o)
	if err != nil {
		return nil, err
	}
	w.e = e
	for i := range workers {
		w.workers = append(w.workers, &worker{w: w, id: i, s: e.System().NewSession(SessionOptions{}),
			r: rand.New(rand.NewSource(seed*100 + int64(i))), have: rows{}})
	}
	return w, nil
}

// end closes the sessions and abandons the engine.
func (w *world) end() {
	for _, k := range w.workers {
		k.s.Close()
	}
	_ = w.e.Abandon()
}

// expect is what a restart must find: for each worker one of two.
type expect struct {
	have, next []rows
	number     []int64
}

// crash returns what a loss of power now leaves, and what must be in it.
func (w *world) crash(m *vfs.Mem, o vfs.CrashOptions) (*vfs.Mem, expect) {
	for _, k := range w.workers {
		k.mu.Lock()
		defer k.mu.Unlock()
	}
	var x expect
	for _, k := range w.workers {
		x.have, x.next, x.number = append(x.have, k.have), append(x.next, k.next), append(x.number, k.number)
	}
	return m.CrashClone(o), x
}

// diff says where got differs from want.
func diff(got, want rows) string {
	var out []string
	for k, v := range want {
		if got[k] != v {
			out = append(out, fmt.Sprintf("%s is %q, want %q", k, got[k], v))
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			out = append(out, fmt.Sprintf("%s is %q, want none", k, v))
		}
	}
	return fmt.Sprintf("%d differences: %s", len(out), strings.Join(out[:min(3, len(out))], "; "))
}

// readRows returns all rows of the database, or the error of reading them.
func readRows(e *Engine) (rows, error) {
	out := rows{}
	err := e.System().ReadTip(func(v storage.View) (err error) {
		v.Snap.Trees(func(id storage.TreeID, count int64) bool {
			var c storage.Cursor
			c.Init(v, id, nil, nil, false)
			defer c.Close()
			n := int64(0)
			for ; c.Next(); n++ {
				out[fmt.Sprintf("%d/%s", id, c.Key())] = digest(c.Value())
			}
			if err = c.Err(); err == nil && (n != count || n == 0) {
				err = fmt.Errorf("tree %d counts %d rows and has %d", id, count, n)
			}
			return err == nil
		})
		return err
	})
	return out, err
}

// of returns the rows of worker i.
func (r rows) of(i int) rows {
	out, mark := rows{}, fmt.Sprintf("/w%d-", i)
	for k, v := range r {
		if strings.Contains(k, mark) {
			out[k] = v
		}
	}
	return out
}

// recovered opens what a crash left and demands: it starts, holds each worker's acknowledged rows and of a commit under
// way all or nothing, goes on handing out numbers above the old ones, takes writes, checkpoints, and passes the check. It
// describes what is wrong, "" for nothing.
func (x *expect) recovered(fsys vfs.FS, config func(*Options), thorough bool) (wrong string) {
	o := Options{FS: fsys, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) {}}
	config(&o)
	e, err := Open(o)
	if err != nil {
		return fmt.Sprintf("no start: %v", err)
	}
	defer func() { _ = e.Abandon() }()
	all, err := readRows(e)
	if err != nil {
		return err.Error()
	}
	n := 0
	for i := range x.have {
		got := all.of(i)
		n += len(got)
		if !maps.Equal(got, x.have[i]) && (x.next[i] == nil || !maps.Equal(got, x.next[i])) {
			wrong = fmt.Sprintf("worker %d: against the acknowledged state %s", i, diff(got, x.have[i]))
			if x.next[i] != nil {
				wrong += "; against the one under way " + diff(got, x.next[i])
			}
			return wrong
		}
	}
	if n != len(all) {
		return fmt.Sprintf("%d rows of nobody", len(all)-n)
	}
	s := e.System().NewSession(SessionOptions{})
	for i, last := range x.number {
		if v, err := s.NextValue(testSequence+uint32(i), testSequenceSpec); err != nil || v <= last {
			s.Close()
			return fmt.Sprintf("sequence %d handed out %d and now %d, %v", i, last, v, err)
		}
	}
	s.Close()
	if !thorough {
		return ""
	}
	if err := e.System().Checkpoint(); err != nil {
		return err.Error()
	}
	if err := e.Close(); err != nil {
		return err.Error()
	}
	if wrong = checked(fsys, config); wrong != "" {
		return wrong
	}
	if e, err = Open(o); err != nil {
		return fmt.Sprintf("no start after a checkpoint: %v", err)
	}
	again, err := readRows(e)
	if err != nil || !maps.Equal(all, again) {
		return fmt.Sprintf("after a checkpoint and a restart: %v, %s", err, diff(again, all))
	}
	return ""
}

// checked runs herd check and returns its first finding.
func checked(fsys vfs.FS, config func(*Options)) (found string) {
	var o Options
	config(&o)
	_, err := Check(CheckOptions{FS: fsys, Dir: "/data", LogDir: o.LogDir, MetadataDir: o.MetadataDir}, func(p Problem) {
		if !p.Note && found == "" {
			found = fmt.Sprintf("check: %s: %s", p.Where, p.What)
		}
	})
	if err != nil {
		return fmt.Sprintf("check: %v", err)
	}
	return found
}

// key returns one of the worker's keys.
func (k *worker) key(name string) string { return fmt.Sprintf("w%d-%s", k.id, name) }

// txn is a transaction with what it would leave.
type txn struct {
	*Tx
	k    *worker
	want rows
	err  error
}

func (k *worker) begin() *txn {
	return &txn{Tx: k.s.Begin(TxOptions{}), k: k, want: maps.Clone(k.have)}
}

func (x *txn) put(tree storage.TreeID, name string, val []byte) {
	if x.err == nil {
		x.err = x.Put(tree, []byte(x.k.key(name)), val)
		x.want[fmt.Sprintf("%d/%s", tree, x.k.key(name))] = digest(val)
	}
}

func (x *txn) del(tree storage.TreeID, name string) {
	if x.err == nil {
		x.err = x.Delete(tree, []byte(x.k.key(name)))
		delete(x.want, fmt.Sprintf("%d/%s", tree, x.k.key(name)))
	}
}

// dropTree drops the worker's oldest tree.
func (x *txn) dropTree(tree storage.TreeID) {
	if x.err == nil {
		x.err = x.DropTree(tree)
		mark := fmt.Sprintf("%d/", tree)
		maps.DeleteFunc(x.want, func(k, _ string) bool { return strings.HasPrefix(k, mark) })
	}
}

// commit ends the transaction and keeps the books. It tells whether the commit was acknowledged; errors that a fault
// explains are the caller's to judge.
func (x *txn) commit() (bool, error) {
	k := x.k
	if x.err != nil {
		x.Rollback()
		return false, x.err
	}
	k.mu.Lock()
	k.next = x.want
	k.mu.Unlock()
	err := x.Commit()
	if err == nil {
		err = k.s.WaitDurable()
	} else if !unknown(err) {
		k.mu.Lock()
		k.next = nil // an error of Commit says that nothing of it is there
		k.mu.Unlock()
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.dead = true
		return false, err
	}
	k.past = append(k.past, k.have)
	k.have, k.next = k.next, nil
	return true, nil
}

// unknown tells whether an error ends the session, the fate of its transaction unknown.
func unknown(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Severity == sqlerr.SeverityFatal
}

func (k *worker) fill(n int) []byte {
	k.n++
	p := make([]byte, n)
	k.r.Read(p[:min(n, 512)])
	copy(p, fmt.Sprintf("%d.%d ", k.id, k.n))
	return p
}
