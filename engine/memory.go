package engine

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// memoryKeeper keeps the process within its budget: it evicts before the limit is reached, asks for checkpoints when
// what could go has no disk copy, and tunes Go's collector.
type memoryKeeper struct {
	e    *Engine
	quit chan struct{}
	kick chan struct{} // look now
	done sync.WaitGroup
	idle idleHeap
	room heapRoom
	// limitSet and percentSet are what tune has set last, 0 nothing yet.
	limitSet, percentSet int64
	// budget is how far the books may fill before blocks are evicted and writers slowed: the account's limit, or less by
	// what room takes off. What statements ask for is refused at the account's limit only.
	budget atomic.Int64

	mu    sync.Mutex
	freed chan struct{} // guarded by mu; closed when something was evicted
}

// Memory is kept below highWater of the limit by evicting down to lowWater.
const (
	highWater = 0.90
	lowWater  = 0.85
)

func (k *memoryKeeper) start(e *Engine) {
	k.budget.Store(e.o.Memory.Limit())
	k.e, k.quit, k.kick, k.freed = e, make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	e.o.Memory.SetReclaim(k.reclaim)
	if e.o.TuneCollector {
		k.tune()
	}
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
	for n := 0; ; {
		select {
		case <-k.quit:
			return
		case <-k.kick:
			k.keep()
			continue
		case <-t.C:
		}
		k.fit()
		k.keep()
		n++
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
	beside uint64 // what Go needs beside the heap: stacks, tables of the collector and of the allocator
}

// besideHeap are what Go's limit counts, and no object is in.
var besideHeap = []string{"/memory/classes/heap/stacks:bytes", "/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes", "/memory/classes/os-stacks:bytes", "/memory/classes/other:bytes", "/memory/classes/profiling/buckets:bytes"}

func readHeap() (h heapFigures) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	for _, name := range besideHeap {
		s = append(s, metrics.Sample{Name: name})
	}
	metrics.Read(s)
	for _, b := range s[4:] {
		if b.Value.Kind() == metrics.KindUint64 {
			h.beside += b.Value.Uint64()
		}
	}
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

// soon has the keeper look now and not only at its next turn.
func (k *memoryKeeper) soon() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// nextFreed returns a channel that is closed when something is evicted.
func (k *memoryKeeper) nextFreed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.freed
}

// tellFreed wakes those that wait for memory.
func (k *memoryKeeper) tellFreed() {
	k.mu.Lock()
	close(k.freed)
	k.freed = make(chan struct{})
	k.mu.Unlock()
}

// heapRoom lowers the budget of the books when the heap shows that much is alive that they do not know: the collector
// needs room to work in, or it takes all processors and Go's limit is exceeded nevertheless.
type heapRoom struct {
	base int64 // the budget as configured
	less int64 // taken off it
	live int64 // when it was last looked at
}

const liveShare = 0.70 // of what Go's limit leaves to the heap may be alive

// next returns the budget for a heap with live bytes of limit. It comes down fast and goes up slowly, at each collection.
func (r *heapRoom) next(live, limit int64) int64 {
	if live == r.live {
		return r.base - r.less
	}
	r.live = live
	if over := live - int64(liveShare*float64(limit)); over > 0 {
		r.less = min(r.less+over/2, r.base/2)
	} else {
		r.less = max(r.less+over/8, 0)
	}
	return r.base - r.less
}

// fit sets the budget of the books to what the heap has room for.
func (k *memoryKeeper) fit() {
	o := &k.e.o
	if !o.TuneCollector || o.MemLimit == 0 || o.Memory.Limit() == 0 {
		return
	}
	k.room.base = o.Memory.Limit()
	h, limit := readHeap(), k.goLimit()
	budget := k.room.next(int64(h.live), max(limit-int64(h.beside), limit/2))
	if k.budget.Swap(budget) != budget {
		k.e.each(func(db *Database) { db.store.SetMemLimit(blocksLimit(budget)) })
	}
}

// blocksLimit returns how much of the budget blocks may take.
func blocksLimit(budget int64) int64 { return budget / 10 * 8 }

// goLimit returns the memory that Go may use: the process's limit without what Go does not count, the program's own
// pages, and a little reserve.
func (k *memoryKeeper) goLimit() int64 {
	limit, mapped := k.e.o.MemLimit, int64(0)
	if f := k.e.o.MappedBytes; f != nil {
		mapped = min(f(), limit/3)
	}
	return limit - mapped - limit/32
}

// keep evicts when more than highWater of the limit is used.
func (k *memoryKeeper) keep() {
	root := k.e.o.Memory
	limit := k.budget.Load()
	if limit == 0 {
		return
	}
	if float64(root.Used()) < highWater*float64(limit) {
		return
	}
	k.e.each(func(db *Database) { db.store.Release() })
	used := root.Used()
	if float64(used) < highWater*float64(limit) {
		k.tellFreed()
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

// reclaim is asked when an account would be refused: need bytes must go. When nothing can go but what a checkpoint has
// to write first, it waits for that a while: who asks for little must not be refused because others have written much.
func (k *memoryKeeper) reclaim(need int64) bool {
	const patience = time.Second
	want := need + need/8 + 1<<20
	if k.evict(want) > 0 {
		return true
	}
	dirty := int64(0)
	freed := k.nextFreed()
	k.e.each(func(db *Database) {
		db.store.Release()
		if n := db.store.Dirty(); n > 0 {
			dirty += n
			db.kickCheckpoint()
		}
	})
	if dirty < need {
		return k.evict(want) > 0
	}
	select {
	case <-freed:
		return true
	case <-time.After(patience):
		return false
	}
}

// evict frees want bytes of blocks, taking from each database by its share.
func (k *memoryKeeper) evict(want int64) (freed int64) {
	total := int64(0)
	k.e.each(func(db *Database) { total += db.store.Resident() })
	if total == 0 {
		return 0
	}
	k.e.each(func(db *Database) {
		share := float64(db.store.Resident()) / float64(total)
		freed += db.store.Evict(int64(share * float64(want)))
	})
	if freed > 0 {
		k.tellFreed()
	}
	return freed
}

// tune sets GOMEMLIMIT to goLimit and GOGC so that the heap may grow by 25 % or heapStep, whichever is more. When the
// process has become idle it gives back what nobody uses. Either call stops the process for a moment, so they are made only
// when the figure has changed by more than a thirtieth.
func (k *memoryKeeper) tune() {
	h := readHeap()
	if n := crowdedLimit(k.goLimit(), int64(h.live)); k.e.o.MemLimit > 0 && differ(n, k.limitSet) {
		debug.SetMemoryLimit(n)
		k.limitSet = n
	}
	live := float64(max(h.live, 1<<20))
	percent := int64(math.Max(25, math.Min(float64(heapStep(k.e.o.MemLimit))/live*100, 1600)))
	if differ(percent, k.percentSet) {
		debug.SetGCPercent(int(percent))
		k.percentSet = percent
	}
	if k.idle.due(time.Now(), h) {
		debug.FreeOSMemory()
	}
}

// crowdedLimit returns Go's limit for a heap with live bytes: up to a fifth more than the usual one when more than three quarters of it are alive. What is
// evicted cannot make up for what is not booked then, and a collector without room takes half of the processors for nothing: all sessions would
// stand still, and the limit be exceeded nevertheless.
func crowdedLimit(limit, live int64) int64 {
	return min(max(limit, live/3*4), limit/5*6)
}

func differ(a, b int64) bool { return 30*max(a-b, b-a) > b }

// heapStep is how much a small heap may grow between two collections: between 32 and 128 MiB, by the memory limit. With 128
// instead of 32 MiB a one-row UPDATE costs about 1 us less of 28.
func heapStep(limit int64) int64 {
	const share = 32
	if limit == 0 {
		return 128 << 20
	}
	return min(max(limit/share, 32<<20), 128<<20)
}

// slowWriter holds a commit back while the budget is used up by blocks that only a checkpoint can release: writers must
// not outrun the disk. It waits for what the checkpoint's writing lets go, bit by bit, and not for ever: what keeps the
// memory may be a snapshot of the waiting session itself.
func (db *Database) slowWriter(s *Session) {
	root, k := db.eng.o.Memory, &db.eng.keeper
	full := func() bool { return root.Used() >= k.budget.Load()/100*95 }
	if k.budget.Load() == 0 || !full() || db.store.Dirty() < k.budget.Load()/10 {
		return
	}
	db.stats.slowed.Add(1)
	db.kickCheckpoint()
	s.statement.Unpin() // all that waits here would else keep what was replaced since it began
	s.newest.Unpin()
	end := time.NewTimer(slowPatience(root.Used(), root.Limit()))
	defer end.Stop()
	k.soon()
	for {
		freed := k.nextFreed()
		if s.intr.Pending() || !full() {
			return
		}
		select {
		case <-freed:
		case <-s.intr.Woken():
		case <-end.C:
			return
		}
	}
}

// slowPatience returns how long a commit waits at most: the longer the more the budget is exceeded.
func slowPatience(used, limit int64) time.Duration {
	switch {
	case used < limit:
		return 200 * time.Millisecond
	case used < limit/10*11:
		return 2 * time.Second
	}
	return 10 * time.Second
}
