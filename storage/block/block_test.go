package block

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"testing"
)

func TestClass(t *testing.T) {
	for n := 1; n < 80000; n++ {
		if n > 40000 && n%97 != 0 {
			continue
		}
		got, want := Class(n), cap(append([]byte(nil), make([]byte, n)...))
		if got != want {
			t.Fatalf("Class(%d) = %d, the allocator uses %d", n, got, want)
		}
	}
}

// rowsOf makes n sorted rows.
func rowsOf(r *rand.Rand, n int, prefix string) []Row {
	seen := map[string]bool{}
	var keys []string
	for len(keys) < n {
		k := prefix + fmt.Sprintf("%0*d", 1+r.Intn(6), r.Intn(1000000))
		if !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var rows []Row
	for _, k := range keys {
		row := Row{Kid: -1, Suf: []byte(k), Val: bytes.Repeat([]byte{byte(r.Int())}, r.Intn(40))}
		if r.Intn(5) == 0 {
			row.Kid, row.Val = 7, AppendStub(nil, 5000, r.Uint64())
		}
		rows = append(rows, row)
	}
	return rows
}

func TestLeaf(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for round := range 300 {
		prefix := ""
		if round%2 == 0 {
			prefix = "common/"
		}
		rows := rowsOf(r, 1+r.Intn(60), prefix)
		l := BuildLeaf(rows)
		if err := CheckLeaf(l); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			k := rows[i].AppendKey(nil)
			if j, found := l.Search(k); !found || j != i {
				t.Fatalf("round %d: Search(%q) = %d %v, want %d", round, k, j, found, i)
			}
			if got := l.AppendKey(nil, i); !bytes.Equal(got, k) {
				t.Fatalf("key %d is %q, want %q", i, got, k)
			}
			v, big := l.Value(i)
			if big != (rows[i].Kid >= 0) || !bytes.Equal(v[min(len(v), 2):], rows[i].Val[min(len(v), 2):]) {
				t.Fatalf("value %d differs", i)
			}
			for _, probe := range [][]byte{append(k, 0), k[:len(k)-1], []byte("a"), []byte("zz"), nil} {
				want := sort.Search(len(rows), func(x int) bool { return bytes.Compare(rows[x].AppendKey(nil), probe) >= 0 })
				if j, _ := l.Search(probe); j != want {
					t.Fatalf("Search(%q) = %d, want %d", probe, j, want)
				}
			}
		}
		checkEdits(t, r, l, rows)
		checkDamage(t, r, l)
	}
}

// checkEdits compares the short paths with building anew.
func checkEdits(t *testing.T, r *rand.Rand, l Leaf, rows []Row) {
	t.Helper()
	i := r.Intn(len(rows))
	val := bytes.Repeat([]byte{7}, r.Intn(50))
	if rows[i].Kid < 0 {
		want := append([]Row(nil), rows...)
		want[i].Val = val
		if got := l.ReplaceValue(i, val, 1<<15); !bytes.Equal(got, BuildLeaf(want)) {
			t.Fatal("ReplaceValue differs from a new leaf")
		}
	}
	key := append(rows[i].AppendKey(nil), 'x')
	j, found := l.Search(key)
	if found {
		return
	}
	if got := l.Insert(j, key, val, 1<<15); got != nil {
		want := append([]Row(nil), rows[:j]...)
		want = append(append(want, Row{Kid: -1, Suf: key, Val: val}), rows[j:]...)
		if err := CheckLeaf(got); err != nil {
			t.Fatal(err)
		}
		fresh := BuildLeaf(want)
		if len(l.Prefix()) == len(fresh.Prefix()) && !bytes.Equal(got, fresh) {
			t.Fatal("Insert differs from a new leaf")
		}
		for i := range want {
			if !bytes.Equal(got.AppendKey(nil, i), want[i].AppendKey(nil)) {
				t.Fatal("Insert: wrong key")
			}
		}
	}
}

// checkDamage sees that CheckLeaf keeps every access inside, whatever the bytes.
func checkDamage(t *testing.T, r *rand.Rand, l Leaf) {
	t.Helper()
	for range 20 {
		d := append(Leaf(nil), l...)
		d[r.Intn(len(d))] ^= 1 << r.Intn(8)
		if CheckLeaf(d) != nil {
			continue
		}
		for i := range d.Len() {
			d.AppendKey(nil, i)
			d.Value(i)
		}
	}
}

func TestFrame(t *testing.T) {
	a := MakeAddress(3, 77)
	p := BeginFrame(nil, &Frame{Kind: KindLeaf, Level: 2, Tree: 9, Key: []byte("key")})
	p = append(p, "payload"...)
	EndFrame(p, a)
	f, err := DecodeFrame(p, a)
	if err != nil || f.Kind != KindLeaf || f.Level != 2 || f.Tree != 9 || string(f.Key) != "key" || string(f.Payload) != "payload" {
		t.Fatalf("%+v %v", f, err)
	}
	for i := range p {
		for bit := range 8 {
			d := bytes.Clone(p)
			d[i] ^= 1 << bit
			if _, err := DecodeFrame(d, a); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("flip of byte %d bit %d is not seen", i, bit)
			}
		}
	}
	if _, err := DecodeFrame(p, MakeAddress(3, 78)); !errors.Is(err, ErrCorrupt) {
		t.Fatal("a frame read from another place is not seen")
	}
}

func TestInner(t *testing.T) {
	k := &Keys{Prefix: []byte("p"), Offs: []uint32{0, 2, 5}, Bytes: []byte("aabbb")}
	refs := []Ref{{MakeAddress(1, 2), 3}, {MakeAddress(1, 5), 3}, {MakeAddress(2, 2), 9}}
	stats := []Stat{{1, 2}, {3, 4}, {5, 6}}
	p := AppendInner(nil, k, refs, stats)
	k2, r2, s2, err := DecodeInner(p)
	if err != nil || string(k2.Suffix(2)) != "bbb" || string(k2.Prefix) != "p" || r2[2] != refs[2] || s2[1] != stats[1] {
		t.Fatal(err, k2, r2, s2)
	}
	for n := range p {
		if _, _, _, err := DecodeInner(p[:n]); err == nil {
			t.Fatalf("cut at %d is not seen", n)
		}
	}
}
