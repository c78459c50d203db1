package storage

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// TestLongKeys uses keys up to the limit, with and without long common prefixes.
func TestLongKeys(t *testing.T) {
	for _, page := range []int{256, 8192, 1 << 20} {
		f := newFixture(t, int64(page), page)
		f.apply(ChangeSet{{Tree: 1024, Op: OpCreateTree}})
		f.model[1024] = rowsModel{}
		for round := range 12 {
			m := rowsModel{}
			for range 60 {
				k := bytes.Repeat([]byte{byte('a' + f.r.Intn(3))}, f.r.Intn(MaxKey-8))
				k = append(k, fmt.Sprint(f.r.Intn(1000))...)
				m[string(k)] = string(f.val())
			}
			var cs ChangeSet
			for _, k := range m.sorted() {
				if round%3 == 2 {
					break
				}
				cs = append(cs, Change{Tree: 1024, Op: OpPut, Key: []byte(k), Val: []byte(m[k])})
				f.model[1024][k] = m[k]
			}
			if round%3 == 2 {
				for i, k := range f.model[1024].sorted() {
					if i%2 == 0 {
						cs = append(cs, Change{Tree: 1024, Op: OpDelete, Key: []byte(k)})
						delete(f.model[1024], k)
					}
				}
			}
			f.apply(cs)
			f.compare(View{Snap: f.tip}, f.model)
			f.checkpoint()
			f.st.Evict(1 << 30)
		}
		f.reopen()
	}
}

// TestOrders loads and empties a tree in ascending, descending and interleaved order, one row a commit.
func TestOrders(t *testing.T) {
	const n = 3000
	orders := map[string]func(i int) int{
		"ascending":   func(i int) int { return i },
		"descending":  func(i int) int { return n - 1 - i },
		"interleaved": func(i int) int { return i * 1999 % n },
	}
	for name, load := range orders {
		for drain, del := range orders {
			t.Run(name+"/"+drain, func(t *testing.T) {
				f := newFixture(t, 1, 512)
				f.apply(ChangeSet{{Tree: 1024, Op: OpCreateTree}})
				f.model[1024] = rowsModel{}
				for i := range n {
					k := fmt.Sprintf("key%06d", load(i))
					f.apply(ChangeSet{{Tree: 1024, Op: OpPut, Key: []byte(k), Val: []byte("value")}})
					f.model[1024][k] = "value"
				}
				f.compare(View{Snap: f.tip}, f.model)
				full := f.st.Stats().Blocks
				for i := range n {
					k := fmt.Sprintf("key%06d", del(i))
					f.apply(ChangeSet{{Tree: 1024, Op: OpDelete, Key: []byte(k)}})
					delete(f.model[1024], k)
					if i == n*9/10 {
						f.compare(View{Snap: f.tip}, f.model)
						f.st.release()
						if b := f.st.Stats().Blocks; b > full*2/3 {
							t.Errorf("%d blocks for a tenth of the rows, %d for all", b, full)
						}
					}
				}
				f.compare(View{Snap: f.tip}, f.model)
				f.st.release()
				if b := f.st.Stats().Blocks; b != 0 {
					t.Errorf("an empty tree has %d blocks", b)
				}
			})
		}
	}
}

// TestRefused sees that what cannot be applied is refused and changes nothing.
func TestRefused(t *testing.T) {
	f := newFixture(t, 1, 512)
	f.apply(ChangeSet{{Tree: 1024, Op: OpCreateTree}})
	key := []byte("k")
	for name, c := range map[string]struct {
		cs   ChangeSet
		want error
	}{
		"unknown tree":   {ChangeSet{{Tree: 1025, Op: OpPut, Key: key}}, ErrNoTree},
		"drop unknown":   {ChangeSet{{Tree: 1025, Op: OpDropTree}}, ErrNoTree},
		"long key":       {ChangeSet{{Tree: 1024, Op: OpPut, Key: make([]byte, MaxKey+1)}}, ErrTooLong},
		"long value":     {ChangeSet{{Tree: 1024, Op: OpPut, Key: key, Val: make([]byte, MaxValue+1)}}, ErrTooLong},
		"tree exists":    {ChangeSet{{Tree: 1024, Op: OpCreateTree}}, nil},
		"tree 0":         {ChangeSet{{Tree: 0, Op: OpCreateTree}}, nil},
		"descending":     {ChangeSet{{Tree: 1024, Op: OpPut, Key: []byte("b")}, {Tree: 1024, Op: OpPut, Key: []byte("a")}}, nil},
		"twice":          {ChangeSet{{Tree: 1024, Op: OpPut, Key: key}, {Tree: 1024, Op: OpPut, Key: key}}, nil},
		"unknown change": {ChangeSet{{Tree: 1024, Op: 77, Key: key}}, nil},
	} {
		s, err := f.st.Apply(f.tip, 9, c.cs)
		if err == nil || s != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.st.Stats().Blocks != 0 || f.tip.Count(1024) != 0 {
		t.Error("a refused change left something behind")
	}
	o := NewOverlay(f.acct)
	if err := o.Put(1024, make([]byte, MaxKey+1), nil, 1); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	f.acct.SetLimit(1)
	if err := o.Put(1024, key, make([]byte, 1000), 1); err == nil || o.Len() != 0 {
		t.Errorf("a put over the memory limit: %v", err)
	}
}

// TestManyTrees makes ten thousand trees; a commit to one of them stays cheap, as does a checkpoint.
func TestManyTrees(t *testing.T) {
	f := newFixture(t, 1, 1024)
	var cs ChangeSet
	const n = 10000
	for i := range TreeID(n) {
		cs = append(cs, Change{Tree: 1024 + i*3, Op: OpCreateTree}, Change{Tree: 1024 + i*3, Op: OpPut, Key: []byte("k"), Val: []byte("v")})
		f.model[1024+i*3] = rowsModel{"k": "v"}
	}
	f.apply(cs)
	f.checkpoint()
	one := ChangeSet{{Tree: 1024 + 3*4711, Op: OpPut, Key: []byte("k"), Val: []byte("v")}}
	if a := testing.AllocsPerRun(100, func() { f.apply(one) }); a > 12 {
		t.Errorf("a commit to one of %d trees allocates %v times", n, a)
	}
	before := f.st.Stats().DiskBytes
	f.checkpoint()
	if grown := f.st.Stats().DiskBytes - before; grown > 1000 {
		t.Errorf("a checkpoint after one change wrote %d bytes", grown)
	}
	if f.tip.TreeCount() != n {
		t.Errorf("%d trees", f.tip.TreeCount())
	}
	f.reopen()
}

// TestSplitBorders cuts ranges into morsels of about equal size.
func TestSplitBorders(t *testing.T) {
	st, s, _ := loaded(t, 50000, 20, false)
	defer st.Close()
	for _, parts := range []int{1, 2, 7, 64} {
		for _, r := range [][2]uint64{{0, 50000}, {1000, 2000}, {49990, 49999}} {
			lo, hi := benchKey(nil, r[0]), benchKey(nil, r[1])
			borders, err := s.Split(benchTree, lo, hi, parts)
			must(t, err)
			if len(borders) >= parts {
				t.Fatalf("%d borders for %d parts", len(borders), parts)
			}
			total, last, biggest := int64(0), lo, int64(0)
			for _, b := range append(borders, hi) {
				if bytes.Compare(b, last) <= 0 {
					t.Fatal("borders do not ascend")
				}
				n, err := s.RangeCount(benchTree, last, b)
				must(t, err)
				total, last, biggest = total+n, b, max(biggest, n)
			}
			if total != int64(r[1]-r[0]) {
				t.Fatalf("parts have %d rows, the range %d", total, r[1]-r[0])
			}
			if parts > 1 && r[0] == 0 && biggest > total/int64(parts)*2 {
				t.Fatalf("the biggest of %d parts has %d of %d rows", parts, biggest, total)
			}
		}
	}
}
