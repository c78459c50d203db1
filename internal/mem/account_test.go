package mem

import (
	"errors"
	"math/rand"
	"sync"
	"testing"
)

func TestGrowStopsAtTheLimitOfAnAncestor(t *testing.T) {
	root := NewRoot(10 * Step)
	stmt := root.Child("session").Child("statement")
	if err := stmt.Grow(9 * Step); err != nil {
		t.Fatal(err)
	}
	if err := stmt.Grow(2 * Step); !errors.Is(err, ErrLimit) {
		t.Fatalf("got %v, want ErrLimit", err)
	}
	if stmt.Used() != 9*Step || root.Used() > 10*Step {
		t.Fatalf("a refused request left used=%d root=%d", stmt.Used(), root.Used())
	}
	stmt.Close()
	if root.Used() > Step {
		t.Fatalf("root still holds %d after Close", root.Used())
	}
}

// TestSmallAccountsReserveLittle has many sessions with little each.
func TestSmallAccountsReserveLittle(t *testing.T) {
	root := NewRoot(0)
	for range 100 {
		a := root.Child("session").Child("statement")
		if err := a.Grow(1000); err != nil {
			t.Fatal(err)
		}
		a.Reset()
		if err := a.Grow(1000); err != nil {
			t.Fatal(err)
		}
	}
	if used := root.Used(); used > 100*smallStep {
		t.Fatalf("100 accounts of 1000 bytes reserve %d", used)
	}
}

// TestGrowTakesTheRest gets what is left below a limit, though it is less than a step.
func TestGrowTakesTheRest(t *testing.T) {
	root := NewRoot(3 * Step / 2)
	a := root.Child("a")
	for _, n := range []int64{Step, Step / 4, Step / 8} {
		if err := a.Grow(n); err != nil {
			t.Fatalf("%d more than %d of %d: %v", n, a.Used(), root.Limit(), err)
		}
	}
	if err := a.Grow(Step); err != ErrLimit {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestReclaimIsAskedBeforeRefusal(t *testing.T) {
	root := NewRoot(4 * Step)
	cache, query := root.Child("cache"), root.Child("query")
	if err := cache.Grow(4 * Step); err != nil {
		t.Fatal(err)
	}
	root.SetReclaim(func(need int64) bool { cache.Shrink(4 * Step); return true })
	if err := query.Grow(2 * Step); err != nil {
		t.Fatal(err)
	}
}

func TestConcurrentUseBalances(t *testing.T) {
	root := NewRoot(0)
	a := root.Child("shared")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(g)))
			for range 5000 {
				n := r.Int63n(3 * Step)
				if a.Grow(n) == nil {
					a.Shrink(n)
				}
			}
		})
	}
	wg.Wait()
	if a.Used() != 0 {
		t.Fatalf("used %d", a.Used())
	}
	a.Close()
	if root.Used() != 0 {
		t.Fatalf("root used %d after Close", root.Used())
	}
}

func TestGrowWithinTheGrantDoesNotAllocate(t *testing.T) {
	a := NewRoot(0).Child("x")
	if n := testing.AllocsPerRun(1000, func() { _ = a.Grow(100); a.Shrink(100) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
