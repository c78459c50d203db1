package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage"
)

// TestNetChanges compares with a map: keys that are prefixes of others, zero bytes, trees that come and go.
func TestNetChanges(t *testing.T) {
	type name struct {
		tree storage.TreeID
		key  string
	}
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		prefix := strings.Repeat("p", r.Intn(12))
		last := map[name]storage.Change{}
		made, dropped := map[storage.TreeID]bool{}, map[storage.TreeID]bool{}
		var sets []storage.ChangeSet
		for range r.Intn(20) {
			var cs storage.ChangeSet
			tree := storage.TreeID(1 + r.Intn(4))
			if seed%3 == 0 && r.Intn(4) == 0 {
				cs, made[tree] = append(cs, storage.Change{Tree: tree, Op: storage.OpCreateTree}), true
			}
			for range r.Intn(12) {
				k := make([]byte, r.Intn(12))
				for i := range k {
					k[i] = byte(r.Intn(2))
				}
				c := storage.Change{Tree: tree, Op: storage.OpPut, Key: append([]byte(prefix), k...), Val: []byte{byte(len(sets))}}
				if r.Intn(4) == 0 {
					c.Op, c.Val = storage.OpDelete, nil
				}
				cs = append(cs, c)
				last[name{tree, string(c.Key)}] = c
			}
			if seed%3 == 0 && r.Intn(6) == 0 {
				cs, dropped[tree] = append(cs, storage.Change{Tree: tree, Op: storage.OpDropTree}), true
			}
			sets = append(sets, cs)
		}
		rows, creates, drops := 0, 0, 0
		var before storage.Change
		for i, c := range netChanges(sets, 1+r.Intn(3)) {
			if i > 0 && (c.Tree < before.Tree || c.Tree == before.Tree && bytes.Compare(c.Key, before.Key) <= 0 && before.Op != storage.OpCreateTree) {
				t.Fatalf("seed %d: %v follows %v", seed, c, before)
			}
			before = c
			switch c.Op {
			case storage.OpCreateTree:
				creates++
				if !made[c.Tree] || dropped[c.Tree] {
					t.Fatalf("seed %d: tree %d is made", seed, c.Tree)
				}
			case storage.OpDropTree:
				drops++
				if made[c.Tree] || !dropped[c.Tree] {
					t.Fatalf("seed %d: tree %d is dropped", seed, c.Tree)
				}
			default:
				rows++
				want := last[name{c.Tree, string(c.Key)}]
				if dropped[c.Tree] || c.Op != want.Op || !bytes.Equal(c.Val, want.Val) {
					t.Fatalf("seed %d: %v, want %v", seed, c, want)
				}
			}
		}
		for n := range last {
			if dropped[n.tree] {
				delete(last, n)
			}
		}
		for id := range made {
			if !dropped[id] {
				creates--
			}
		}
		for id := range dropped {
			if !made[id] {
				drops--
			}
		}
		if rows != len(last) || creates != 0 || drops != 0 {
			t.Fatalf("seed %d: %d rows of %d, %d and %d trees too many", seed, rows, len(last), creates, drops)
		}
	}
}

// TestReplayTellsItsProgress looks for the lines of a replay, and that their figures ascend up to the end.
func TestReplayTellsItsProgress(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	loadRows(t, s, tr, 8000, 1000)
	sum := e.System().tip.Load().Checksum(tr)
	s.Close()
	must(t, e.Abandon())
	var said bytes.Buffer
	e = openMem(t, m, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&said, nil))
		o.replayReport, o.replayBytes = time.Nanosecond, 1<<20
	})
	defer e.Abandon()
	if got := e.System().tip.Load().Checksum(tr); got != sum {
		t.Fatal("the rows are not those that were there")
	}
	lines := regexp.MustCompile(`msg="replaying the log" database="?\S*"? done_bytes=(\d+) of_at_most=(\d+) percent=(\d+) entries=(\d+)`).FindAllStringSubmatch(said.String(), -1)
	if len(lines) < 4 {
		t.Fatalf("%d lines of progress in:\n%s", len(lines), &said)
	}
	for i, l := range lines[1:] {
		if len(l[1]) < len(lines[i][1]) || len(l[1]) == len(lines[i][1]) && l[1] <= lines[i][1] || l[2] != lines[0][2] {
			t.Fatalf("no progress from %q to %q", lines[i][0], l[0])
		}
	}
	if !regexp.MustCompile(`msg="replayed the log" .* bytes=8\d{6} seconds=\S+ mib_per_second=\d+`).MatchString(said.String()) {
		t.Fatalf("no line at the end:\n%s", &said)
	}
}

// TestReplayLargerThanMemory replays a log over data of several times the memory, compares with a map, and does so again from what is on disk at
// every sync of that replay.
func TestReplayLargerThanMemory(t *testing.T) {
	const bytes = 4 << 20
	small := func(o *Options) { o.LogSegmentBytes, o.LogSegmentBytesMax, o.PageSize = 3<<20, 3<<20, 2048 }
	m := vfs.NewMem()
	e := openMem(t, m, small)
	s := e.System().NewSession(SessionOptions{})
	want := changeMuch(t, s)
	s.Close()
	must(t, e.Abandon())
	replay := func(fsys *vfs.Mem, what string) {
		e := openMem(t, fsys, small, func(o *Options) { o.Memory, o.replayBytes = mem.NewRoot(bytes), 256<<10 })
		defer e.Abandon()
		st := e.System().store
		if limit := e.acctBlocks.Limit(); st.LeavesAtOnce() == 0 || st.Resident() > limit || st.Dirty() > limit/2 {
			t.Errorf("%s: %d at once, %d bytes in memory, %d not on disk; the limit is %d", what, st.LeavesAtOnce(), st.Resident(), st.Dirty(), limit)
		}
		if what == "replay" && e.System().stats.spills.Load() < 3 {
			t.Errorf("%d checkpoints in the middle", e.System().stats.spills.Load())
		}
		if got, err := readRows(e); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %s", what, err, diff(got, want))
		}
	}
	var clones []*vfs.Mem
	m.SetSyncHook(func(n int, l vfs.Label) {
		if l == "storage.manifest" || n%5 == 0 {
			clones = append(clones, m.CrashClone(vfs.CrashOptions{}))
		}
	})
	replay(m, "replay")
	m.SetSyncHook(nil)
	for i, c := range clones {
		replay(c, fmt.Sprintf("crash %d of the replay", i))
		if i%8 == 0 {
			checkFolder(t, c)
		}
	}
	if len(clones) < 6 {
		t.Errorf("%d crashes", len(clones))
	}
}

// changeMuch makes two trees, checkpoints them, and leaves in the log: changes at random, deletes, a transaction with parts, one that is given
// up, trees that are made and dropped. It returns what is there.
func changeMuch(t *testing.T, s *Session) rows {
	const n = 20_000
	r, want := rand.New(rand.NewSource(9)), rows{}
	have := func(tr storage.TreeID, key []byte, val string) {
		want[fmt.Sprintf("%d/%s", tr, key)] = digest([]byte(val))
	}
	val := func() string { return fmt.Sprintf("%d-%0*d", r.Int63(), 100+r.Intn(300), 1) }
	trees := []storage.TreeID{newTree(t, s), newTree(t, s)}
	extra := newTree(t, s)
	change := func(tx *Tx, tr storage.TreeID, del bool) {
		key := rowKey(nil, r.Intn(n))
		if del {
			must(t, tx.Delete(tr, key))
			delete(want, fmt.Sprintf("%d/%s", tr, key))
			return
		}
		v := val()
		must(t, tx.Put(tr, key, []byte(v)))
		have(tr, key, v)
	}
	for i := 0; i < n; i += 1000 {
		tx := s.Begin(TxOptions{})
		for range 1000 {
			change(tx, trees[r.Intn(2)], false)
		}
		must(t, tx.Commit())
	}
	put(t, s, extra, "a", "b")
	must(t, s.db.Checkpoint())
	for i := range 4000 {
		tx := s.Begin(TxOptions{})
		for range 1 + r.Intn(4) {
			change(tx, trees[r.Intn(2)], r.Intn(6) == 0)
		}
		switch i {
		case 1000, 3000: // parts
			for range 5000 {
				change(tx, trees[0], false)
			}
		case 2000:
			must(t, tx.DropTree(extra))
		case 2500:
			made, err := tx.NewTree()
			must(t, err)
			must(t, tx.Put(made, []byte("k"), []byte("v")))
			have(made, []byte("k"), "v")
		}
		must(t, tx.Commit())
		if i == 1500 {
			tx := s.Begin(TxOptions{})
			for range 8000 {
				must(t, tx.Put(trees[1], rowKey(nil, r.Intn(n)), []byte(val())))
			}
			_, err := tx.encodeAll()
			must(t, err)
			tx.Rollback()
		}
	}
	must(t, s.WaitDurable())
	return want
}
