package engine

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// memoryKeeper keeps the process within its budget: it evicts before the limit is reached, asks for checkpoints when
// what could go has no disk copy, and tunes Go's collector.
type memoryKeeper struct {
	e    *Engine
	quit chan struct{}
	done sync.WaitGroup
}

// Memory is kept below highWater of the limit by evicting down to lowWater.
const (
	highWater = 0.90
	lowWater  = 0.85
)

func (k *memoryKeeper) start(e *Engine) {
	k.e, k.quit = e, make(chan struct{})
	e.o.Memory.SetReclaim(k.reclaim)
	k.done.Add(1)
	go k.run()
}

func (k *memoryKeeper) stop() {
	if k.quit == nil {
		return
	}
	close(k.quit)
	k.done.Wait()
}

func (k *memoryKeeper) run() {
	defer k.done.Done()
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-k.quit:
			return
		case <-t.C:
		}
		k.keep()
		if n%10 == 0 && k.e.o.TuneCollector {
			k.tune()
		}
	}
}

// keep evicts when more than highWater of the limit is used.
func (k *memoryKeeper) keep() {
	root := k.e.o.Memory
	limit := root.Limit()
	if limit == 0 {
		return
	}
	used := root.Used()
	if float64(used) < highWater*float64(limit) {
		return
	}
	want := used - int64(lowWater*float64(limit))
	if k.evict(want) >= want/2 {
		return
	}
	k.e.each(func(db *Database) {
		st := db.store.Stats()
		if st.Dirty > limit/20 {
			db.kickCheckpoint()
		}
		if st.Retired > limit/20 {
			k.spill(db, want)
		}
	})
}

// spill moves replaced blocks that old pins keep to the scratch segment, so that they can be evicted.
func (k *memoryKeeper) spill(db *Database, want int64) {
	slot := db.spare.get(db.store)
	defer db.spare.put(slot)
	snap := db.durable.Load()
	for !slot.Pin(snap) {
		snap = db.durable.Load()
	}
	n, err := db.store.Spill(snap, want)
	if err != nil {
		k.e.o.Logger.Error("moving old versions to the scratch segment failed", "database", db.Name(), "error", err)
		return
	}
	db.store.Evict(n)
}

// reclaim is asked when an account would be refused: need bytes must go.
func (k *memoryKeeper) reclaim(need int64) bool {
	return k.evict(need+need/8+1<<20) > 0
}

// evict frees want bytes of blocks, taking from each database by its share.
func (k *memoryKeeper) evict(want int64) (freed int64) {
	total := int64(0)
	k.e.each(func(db *Database) { total += db.store.Stats().Resident })
	if total == 0 {
		return 0
	}
	k.e.each(func(db *Database) {
		share := float64(db.store.Stats().Resident) / float64(total)
		freed += db.store.Evict(int64(share * float64(want)))
	})
	return freed
}

// tune sets GOMEMLIMIT to 95 % of the limit and GOGC so that the heap may grow by 25 % or 32 MiB, whichever is more.
func (k *memoryKeeper) tune() {
	limit := k.e.o.MemLimit
	if limit > 0 {
		debug.SetMemoryLimit(limit / 100 * 95)
	}
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	live := float64(max(s[0].Value.Uint64(), 1<<20))
	debug.SetGCPercent(int(math.Max(25, math.Min(32*(1<<20)/live*100, 800))))
}

// slowWriter holds a commit back for up to 200 ms while the budget is used up by blocks that only a checkpoint can
// release: writers must not outrun the disk.
func (db *Database) slowWriter(s *Session) {
	root := db.eng.o.Memory
	limit := root.Limit()
	full := func() bool { return root.Used() >= limit/100*95 }
	if limit == 0 || !full() || db.store.Stats().Dirty < limit/10 {
		return
	}
	db.stats.slowed.Add(1)
	db.kickCheckpoint()
	for range 100 {
		time.Sleep(2 * time.Millisecond)
		if s.intr.Pending() || !full() {
			return
		}
	}
}
