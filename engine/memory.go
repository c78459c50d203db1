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
	idle idleHeap
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

// heapFigures are bytes of Go's heap.
type heapFigures struct {
	live   uint64 // at the end of the last collection
	used   uint64 // by objects, dead ones not yet collected included
	free   uint64 // by nothing, and not given back to the system
	allocs uint64 // allocated since the process began
}

func readHeap() (h heapFigures) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	for i, p := range []*uint64{&h.live, &h.used, &h.free, &h.allocs} {
		if s[i].Value.Kind() == metrics.KindUint64 {
			*p = s[i].Value.Uint64()
		}
	}
	return h
}

// idleHeap decides when to collect what a load has left behind. Go collects only as the program allocates, so after a
// COPY a quarter of the heap could be garbage for as long as nothing happens.
type idleHeap struct {
	allocs uint64
	quiet  int       // seconds in a row with few allocations
	last   time.Time // of the last collection asked for
}

const (
	idleRate    = 8 << 20  // bytes allocated a second that count as few
	idleSeconds = 3        // so many such seconds in a row are idle
	idleGain    = 32 << 20 // bytes that make it worth while, if they are a twentieth of the heap too
	idlePause   = 30 * time.Second
)

// due is asked once a second.
func (i *idleHeap) due(now time.Time, h heapFigures) bool {
	few := h.allocs-i.allocs < idleRate
	i.allocs = h.allocs
	if i.quiet++; !few {
		i.quiet = 0
	}
	gain := h.free
	if h.used > h.live {
		gain += h.used - h.live
	}
	if i.quiet < idleSeconds || gain < max(idleGain, h.live/20) || now.Sub(i.last) < idlePause {
		return false
	}
	i.quiet, i.last = 0, now
	return true
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

// tune sets GOMEMLIMIT to 95 % of the limit and GOGC so that the heap may grow by 25 % or heapStep, whichever is more.
// When the process has become idle it gives back what nobody uses.
func (k *memoryKeeper) tune() {
	limit := k.e.o.MemLimit
	if limit > 0 {
		debug.SetMemoryLimit(limit / 100 * 95)
	}
	h := readHeap()
	live := float64(max(h.live, 1<<20))
	debug.SetGCPercent(int(math.Max(25, math.Min(float64(heapStep(k.e.o.MemLimit))/live*100, 1600))))
	if k.idle.due(time.Now(), h) {
		debug.FreeOSMemory()
	}
}

// heapStep is how much a small heap may grow between two collections: between 32 and 128 MiB, by the memory limit. With 128
// instead of 32 MiB a one-row UPDATE costs about 1 us less of 28.
func heapStep(limit int64) int64 {
	const share = 32
	if limit == 0 {
		return 128 << 20
	}
	return min(max(limit/share, 32<<20), 128<<20)
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
