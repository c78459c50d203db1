package engine

import (
	"fmt"
	"maps"
	"math/rand"
	"net"
	"strings"
	"testing"
)

// tamper is a connection whose writes are changed: f gets what goes out and its place, and returns what goes and whether it may go on.
type tamper struct {
	net.Conn
	at int
	f  func(at int, p []byte) ([]byte, bool)
}

func (c *tamper) Write(p []byte) (int, error) {
	if c.f == nil {
		c.at += len(p)
		return c.Conn.Write(p)
	}
	out, more := c.f(c.at, p)
	c.at += len(p)
	if !more {
		c.Close()
		return 0, net.ErrClosed
	}
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fetchFrom has a node fetch another one's state; f may be nil.
func fetchFrom(from, to *node, f func(at int, p []byte) ([]byte, bool)) error {
	_, err := fetchCounted(from, to, f)
	return err
}

// fetchCounted is fetchFrom and tells how many bytes the state took.
func fetchCounted(from, to *node, f func(at int, p []byte) ([]byte, bool)) (int, error) {
	here, there := net.Pipe()
	conn := &tamper{Conn: there, f: f}
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer there.Close()
		_ = from.replica.Serve(conn) // the other end sees that it is not whole
	}()
	done, total := int64(0), int64(0)
	err := to.replica.Fetch(here, func(d, n int64) { done, total = d, n })
	<-served
	if err == nil && done < total*9/10 {
		err = fmt.Errorf("all is fetched and %d of %d bytes are told", done, total)
	}
	return conn.at, err
}

// A node fetches again and again while the other changes: what differs is sent and not much more, and then nothing differs.
func TestFetchDifferences(t *testing.T) {
	g := &group{}
	a := g.join(t)
	a.lead(t, 1)
	s := a.e.System().NewSession(SessionOptions{PID: 1})
	defer s.Close()
	late := (&group{}).join(t)
	r := rand.New(rand.NewSource(7))
	commit := func(f func(tx *Tx)) {
		t.Helper()
		tx := s.Begin(TxOptions{})
		f(tx)
		must(t, tx.Commit())
		must(t, s.WaitDurable())
	}
	big, small := newTree(t, s), newTree(t, s)
	const rows = 40000
	key := func(i int) []byte { return fmt.Appendf(nil, "key%08d", i) }
	commit(func(tx *Tx) {
		for i := range rows {
			must(t, tx.Put(big, key(i), fmt.Appendf(nil, "%d%s", i, strings.Repeat("x", 90))))
		}
		must(t, tx.Put(small, []byte("k"), []byte("v")))
	})
	fetch := func(what string, most int) {
		t.Helper()
		n, err := fetchCounted(a, late, nil)
		must(t, err)
		late.applied()
		if n > most {
			t.Errorf("%s: %d bytes were sent, expected %d at most", what, n, most)
		}
		want, got := treeSums(a.e.System().tip.Load()), treeSums(late.e.System().tip.Load())
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s: the trees are %v, not %v", what, got, want)
		}
		if w, h := contents(t, a.e.System()), contents(t, late.e.System()); !maps.Equal(w, h) {
			t.Errorf("%s: %d rows, expected %d", what, len(h), len(w))
		}
		t.Logf("%s: %d bytes", what, n)
	}
	fetch("everything", 6<<20)
	fetch("nothing", 4<<10)
	commit(func(tx *Tx) { must(t, tx.Put(big, key(77), []byte("other"))) })
	fetch("one row", 200<<10)
	for round := range 12 {
		what := ""
		commit(func(tx *Tx) {
			from, n := r.Intn(rows), 1+r.Intn(3000)
			switch round % 6 {
			case 0:
				what = "a range is deleted"
				for i := from; i < from+n; i++ {
					must(t, tx.Delete(big, key(i)))
				}
			case 1:
				what = "a range is inserted"
				for i := from; i < from+n; i++ {
					must(t, tx.Put(big, append(key(i), 'a'+byte(round)), []byte("new")))
				}
			case 2:
				what = "rows here and there"
				for range 50 {
					must(t, tx.Put(big, key(r.Intn(rows)), fmt.Append(nil, r.Int())))
				}
			case 3:
				what = "long values"
				for range 5 {
					must(t, tx.Put(big, key(r.Intn(rows)), make([]byte, 100<<10)))
				}
			case 4:
				what = "a tree goes, another comes"
				must(t, tx.DropTree(small))
				id, err := tx.NewTree()
				must(t, err)
				small = id
				must(t, tx.Put(small, []byte("k"), []byte("v")))
			case 5:
				what = "a tree is emptied"
				must(t, tx.Delete(small, []byte("k")))
			}
		})
		if round%3 == 2 {
			must(t, a.e.System().Checkpoint())
			must(t, late.e.System().Checkpoint())
		}
		fetch(what, 4<<20)
	}
	g.nodes = append(g.nodes, late)
	put(t, s, big, "k0", "later")
	g.same(t)
}
