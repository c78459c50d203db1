package btree

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"herd/storage/block"
)

// noLoad is the loader of trees that are wholly in memory.
type noLoad struct{}

func (noLoad) LoadBlock(block.TreeID, *Handle) (*Block, error) {
	return nil, errors.New("nothing should be loaded")
}

func verify(t *testing.T, r Root) {
	t.Helper()
	v := Verifier{
		Get:    func(h *Handle) (*Block, error) { return h.Block(), nil },
		Report: func(_ *Handle, what string) { t.Error(what) },
	}
	v.Tree(r)
}

// TestEdits applies random changes, verifies each version, and sees that older versions do not change.
func TestEdits(t *testing.T) {
	for _, page := range []int{256, 2048} {
		r := rand.New(rand.NewSource(int64(page)))
		ed := &Editor{Page: page}
		var root Root
		model := map[string]string{}
		type version struct {
			root Root
			rows map[string]string
		}
		var old []version
		patched := 0
		for i := range 900 {
			m := map[string]*string{}
			n := 1
			if i%3 == 0 {
				n += r.Intn(40)
			}
			for range n {
				k := fmt.Sprintf("%0*d", 1+r.Intn(9), r.Intn(400))
				if r.Intn(3) == 0 {
					m[k] = nil
				} else {
					v := fmt.Sprint(r.Intn(1000), string(make([]byte, r.Intn(page/2))))
					if r.Intn(3) > 0 {
						v = fmt.Sprintf("%08d", r.Intn(1000))
					}
					m[k] = &v
				}
			}
			var cs []Change
			for _, k := range slices.Sorted(maps.Keys(m)) {
				if m[k] == nil {
					cs = append(cs, Change{Op: OpDelete, Key: []byte(k)})
					delete(model, k)
				} else {
					cs = append(cs, Change{Op: OpPut, Key: []byte(k), Val: []byte(*m[k])})
					model[k] = *m[k]
				}
			}
			ed.Reset(uint64(i + 1))
			before := root
			var err error
			if root, err = ed.Apply(1, root, cs); err != nil {
				t.Fatal(err)
			}
			checkLists(t, ed, before.H, root.H)
			verify(t, root)
			for _, c := range cs {
				val, ok, had, err := GetBoth(noLoad{}, 1, root.H, before.H, c.Key)
				if want, has := model[string(c.Key)]; err != nil || ok != has || string(val) != want {
					t.Fatalf("GetBoth(%q): %q %v %v, want %q", c.Key, val, ok, err, want)
				}
				if _, was, _ := Get(noLoad{}, 1, before.H, c.Key); was != had {
					t.Fatalf("GetBoth(%q): had is %v", c.Key, had)
				}
			}
			if i%20 == 0 {
				old = append(old, version{root, maps.Clone(model)})
			}
			patched += patches(root.H)
			for k, want := range model {
				got, ok, err := Get(noLoad{}, 1, root.H, []byte(k))
				if err != nil || !ok || string(got) != want {
					t.Fatalf("%q: %q %v %v", k, got, ok, err)
				}
			}
		}
		if patched == 0 {
			t.Fatal("no leaf was patched")
		}
		for _, v := range old {
			verify(t, v.root)
			keys := slices.Sorted(maps.Keys(v.rows))
			i := 0
			var it Iter
			it.Init(noLoad{}, 1, v.root.H, nil, nil, false)
			for it.NextLeaf() {
				for j := it.From; j < it.To; j++ {
					if got := string(it.Block.Leaf().AppendKey(nil, j)); got != keys[i] {
						t.Fatalf("an old version changed: %q, want %q", got, keys[i])
					}
					got, big := it.Block.Value(j)
					if big {
						var err error
						if got, err = BigValue(noLoad{}, 1, it.Block, got); err != nil {
							t.Fatal(err)
						}
					}
					if string(got) != v.rows[keys[i]] {
						t.Fatalf("an old version changed: %q is %q, want %q", keys[i], got, v.rows[keys[i]])
					}
					i++
				}
			}
			if i != len(keys) {
				t.Fatalf("%d rows of %d", i, len(keys))
			}
		}
	}
}

// patches returns the number of patched leaves below h.
func patches(h *Handle) (n int) {
	if h == nil {
		return 0
	}
	b := h.Block()
	if len(b.Patch()) > 0 {
		return 1
	}
	if b.Kind == block.KindInner {
		for _, k := range b.Children() {
			n += patches(k)
		}
	}
	return n
}

// reachable collects the handles below h.
func reachable(h *Handle, m map[*Handle]bool) map[*Handle]bool {
	if h != nil && !m[h] {
		m[h] = true
		for _, k := range h.Block().Children() {
			reachable(k, m)
		}
	}
	return m
}

// checkLists compares Created and Retired with what the two versions really have.
func checkLists(t *testing.T, ed *Editor, before, after *Handle) {
	t.Helper()
	a, b := reachable(before, map[*Handle]bool{}), reachable(after, map[*Handle]bool{})
	made, gone := map[*Handle]bool{}, map[*Handle]bool{}
	for _, h := range ed.Created {
		if !h.Flag(FlagDead) {
			made[h] = true
		}
	}
	for _, h := range ed.Retired {
		if gone[h] {
			t.Fatal("a handle is retired twice")
		}
		gone[h] = true
	}
	for h := range b {
		if made[h] == a[h] {
			t.Fatal("Created is not what the new version has more")
		}
	}
	for h := range made {
		if !b[h] {
			t.Fatal("a created handle is not reached")
		}
	}
	for h := range a {
		if gone[h] == b[h] {
			t.Fatal("Retired is not what the new version lacks")
		}
	}
	if len(gone) > len(a) {
		t.Fatal("a retired handle was not reached")
	}
}

// TestAbsentAt says which change needs a block that is not in memory.
func TestAbsentAt(t *testing.T) {
	ed := &Editor{Page: 256}
	ed.Reset(1)
	var cs []Change
	for i := range 200 {
		cs = append(cs, Change{Op: OpPut, Key: fmt.Appendf(nil, "%04d", i), Val: []byte("0123456789")})
	}
	root, err := ed.Apply(1, Root{}, cs)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < 200; at += 7 {
		var leaf *Handle
		if err := Path(noLoad{}, 1, root.H, cs[at].Key, func(h *Handle) { leaf = h }); err != nil {
			t.Fatal(err)
		}
		first := leaf.Block().Leaf().AppendKey(nil, 0)
		b := leaf.Block()
		leaf.DropBlock(b)
		ed.Reset(2)
		_, err := ed.Apply(1, root, cs)
		if !errors.Is(err, ErrAbsent) || string(cs[ed.AbsentAt].Key) != string(first) {
			t.Fatalf("absent at %d (%v), the leaf begins with %q", ed.AbsentAt, err, first)
		}
		leaf.SetBlock(b)
		verify(t, root)
	}
}
