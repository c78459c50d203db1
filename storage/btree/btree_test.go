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
			keys []string
		}
		var old []version
		for i := range 300 {
			m := map[string]*string{}
			for range 1 + r.Intn(40) {
				k := fmt.Sprintf("%0*d", 1+r.Intn(9), r.Intn(400))
				if r.Intn(3) == 0 {
					m[k] = nil
				} else {
					v := fmt.Sprint(r.Intn(1000), string(make([]byte, r.Intn(page/2))))
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
			if i%20 == 0 {
				old = append(old, version{root, slices.Sorted(maps.Keys(model))})
			}
			for k, want := range model {
				got, ok, err := Get(noLoad{}, 1, root.H, []byte(k))
				if err != nil || !ok || string(got) != want {
					t.Fatalf("%q: %q %v %v", k, got, ok, err)
				}
			}
		}
		for _, v := range old {
			verify(t, v.root)
			i := 0
			var it Iter
			it.Init(noLoad{}, 1, v.root.H, nil, nil, false)
			for it.NextLeaf() {
				for j := it.From; j < it.To; j++ {
					if got := string(it.Block.Leaf().AppendKey(nil, j)); got != v.keys[i] {
						t.Fatalf("an old version changed: %q, want %q", got, v.keys[i])
					}
					i++
				}
			}
			if i != len(v.keys) {
				t.Fatalf("%d rows of %d", i, len(v.keys))
			}
		}
	}
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
