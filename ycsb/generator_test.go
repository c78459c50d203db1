package ycsb

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// The keys that every hashed YCSB load begins with.
func TestKeys(t *testing.T) {
	for n, want := range []string{"user6284781860667377211", "user8517097267634966620", "user1820151046732198393"} {
		if got := string(appendKey(nil, int64(n), false)); got != want {
			t.Errorf("key of record %d is %s, want %s", n, got, want)
		}
	}
	if got := string(appendKey(nil, 42, true)); got != "user42" {
		t.Errorf("ordered key is %s", got)
	}
}

// The constant that YCSB knows for 10^10 items agrees with the sum it stands for.
func TestScrambledZeta(t *testing.T) {
	const exact = 1_000_000
	// Beyond a million terms the sum is an integral to many digits.
	a := 1 - zipfTheta
	approx := zeta(0, exact, 0) + (math.Pow(scrambledItems, a)-math.Pow(exact, a))/a
	if math.Abs(approx-scrambledZeta) > 1e-3 {
		t.Fatalf("zeta of 10^10 items is %v, constant %v", approx, scrambledZeta)
	}
}

func TestZipfShares(t *testing.T) {
	const items, draws = 1000, 400_000
	z := newZipf(items)
	r := rand.New(rand.NewPCG(1, 2))
	counts := make([]int, items)
	for range draws {
		counts[z.next(r.Float64(), items)]++
	}
	for _, rank := range []int{0, 1} { // exact in Gray's method; the others are approximate
		want := draws / math.Pow(float64(rank+1), zipfTheta) / zeta(0, items, 0)
		if got := float64(counts[rank]); math.Abs(got-want) > 0.05*want {
			t.Errorf("rank %d drawn %v times, want about %v", rank, got, want)
		}
	}
}

// A zipf that has grown gives the same as one made at the larger size.
func TestZipfGrows(t *testing.T) {
	grown, fresh := newZipf(100), newZipf(5000)
	for i := range 1000 {
		u := float64(i) / 1000
		if a, b := grown.next(u, 5000), fresh.next(u, 5000); a != b {
			t.Fatalf("u=%v: grown %d, fresh %d", u, a, b)
		}
	}
}

func TestChoosersStayInside(t *testing.T) {
	for _, kind := range []Chooser{Zipfian, Latest, Uniform} {
		last := int64(999)
		c := newChooser(&Workload{Chooser: kind, Insert: 0.05}, 1000, 10_000, func() int64 { return last })
		r := rand.New(rand.NewPCG(3, 4))
		high := int64(0)
		for i := range 20_000 {
			if i%20 == 0 {
				last++
			}
			n := c.next(r)
			if n < 0 || n > last {
				t.Fatalf("%s gave %d of %d", kind, n, last)
			}
			high = max(high, n)
		}
		if high < 1000 {
			t.Errorf("%s never chose a new record", kind)
		}
	}
}

func TestAckedCounter(t *testing.T) {
	c := newAckedCounter(10)
	if c.last() != 9 {
		t.Fatalf("last %d", c.last())
	}
	a, b, d := c.next(), c.next(), c.next()
	c.acknowledge(b)
	c.acknowledge(d)
	if c.last() != 9 {
		t.Fatalf("last %d before the first is acknowledged", c.last())
	}
	c.acknowledge(a)
	if c.last() != 12 {
		t.Fatalf("last %d", c.last())
	}
	var group sync.WaitGroup
	const workers, each = 8, 50_000
	for range workers {
		group.Go(func() {
			for range each {
				if !c.acknowledge(c.next()) {
					t.Error("window full")
					return
				}
			}
		})
	}
	group.Wait()
	if want := int64(12 + workers*each); c.last() != want {
		t.Fatalf("last %d, want %d", c.last(), want)
	}
	n := c.next()
	if c.acknowledge(n + ackWindow) {
		t.Fatal("acknowledged a number outside the window")
	}
}

func TestWorkloadsAddUp(t *testing.T) {
	for _, name := range Names() {
		w, err := Find("workload" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := w.Read + w.Update + w.Insert + w.Scan + w.ReadModifyWrite; math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: shares add up to %v", name, sum)
		}
		r := rand.New(rand.NewPCG(5, 6))
		var counts [opCount]float64
		const draws = 200_000
		for range draws {
			counts[w.choose(r.Float64())]++
		}
		for op, share := range map[Op]float64{OpRead: w.Read, OpUpdate: w.Update, OpInsert: w.Insert, OpScan: w.Scan, OpReadModifyWrite: w.ReadModifyWrite} {
			if math.Abs(counts[op]/draws-share) > 0.01 {
				t.Errorf("%s: %s has share %v, want %v", name, op, counts[op]/draws, share)
			}
		}
	}
	if _, err := Find("g"); err == nil {
		t.Error("workload g: no error")
	}
}

func TestFillValue(t *testing.T) {
	b := make([]byte, 1003)
	fillValue(b, rand.New(rand.NewPCG(7, 8)))
	seen := map[byte]bool{}
	for _, c := range b {
		if c < '0' || c > '~' || c == '\\' {
			t.Fatalf("byte %q", c)
		}
		seen[c] = true
	}
	if len(seen) < 60 {
		t.Fatalf("only %d different characters", len(seen))
	}
}
