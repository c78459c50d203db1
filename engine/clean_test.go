package engine

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/storage"
)

// TestCleanKeepsUp makes a checkpoint after every few updates, faster than the cleaner's own clock ticks, and sees that what is dead on disk stays
// below what is alive and a few segments, and that no row is lost by moving them.
func TestCleanKeepsUp(t *testing.T) {
	const rows, rounds, segment = 3000, 600, 64 << 10
	fsys := vfs.NewMem()
	small := func(o *Options) { o.segmentBytes, o.PageSize = segment, 1024 }
	e := openMem(t, fsys, small)
	db := e.System()
	s := db.NewSession(SessionOptions{PID: 1})
	newTree(t, s)
	r := rand.New(rand.NewSource(1))
	want := make([]int, rows)
	write := func(n, round int) {
		tx := s.Begin(TxOptions{})
		for i := range n {
			row := i
			if n < rows {
				row = r.Intn(rows)
			}
			want[row] = round
			must(t, tx.Put(tree1, fmt.Appendf(nil, "%08d", row), fmt.Appendf(make([]byte, 200), "%d", round)))
		}
		must(t, tx.Commit())
		must(t, s.WaitDurable())
	}
	write(rows, 0)
	worst := 0.0
	for round := 1; round <= rounds; round++ {
		write(30, round)
		before := db.Stats().Checkpoints
		db.kickCheckpoint()
		for end := time.Now().Add(20 * time.Second); db.Stats().Checkpoints == before; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatal("no checkpoint was made")
			}
		}
		st := db.Stats().Store
		worst = max(worst, float64(st.DiskBytes-st.LiveBytes-6*segment)/float64(st.LiveBytes))
	}
	st := db.Stats().Store
	t.Logf("%d bytes on disk, %d live, %d written; dead at most %.2f of the live ones besides six segments", st.DiskBytes, st.LiveBytes, db.store.Wrote(), worst)
	if worst > 1 {
		t.Errorf("dead bytes were %.2f of the live ones, besides six segments", worst)
	}
	if db.store.Wrote() < 10*st.LiveBytes {
		t.Errorf("only %d bytes were written over %d live ones: nothing is shown", db.store.Wrote(), st.LiveBytes)
	}
	s.Close()
	must(t, e.Close())
	e = openMem(t, fsys, small)
	defer e.Close()
	must(t, e.System().ReadTip(func(v storage.View) error {
		for row, round := range want {
			val, ok, err := v.Get(tree1, fmt.Appendf(nil, "%08d", row))
			if err != nil || !ok || string(val[200:]) != fmt.Sprint(round) {
				t.Fatalf("row %d: %q, %v, %v, want round %d", row, val, ok, err, round)
			}
		}
		return nil
	}))
}
