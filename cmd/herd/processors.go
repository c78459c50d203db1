package main

import (
	"runtime"
	"sync"
	"time"

	"herd/engine"
)

// A goroutine in a system call keeps its processor for a while, as Go counts processors, so a server that waits for its disk
// needs more of them than cores. One that does not is slowed down by them: idle ones look for work on the cores that
// clients could use (point reads of 8 clients on 2 cores: 5-10 % with 4 instead of 2).
const (
	extraProcessors  = 2                      // beyond the cores while the disk is waited for
	processorsPeriod = 250 * time.Millisecond // between two looks
	diskBusyShare    = 0.10                   // of the time in syncs of logs that counts as waiting for the disk
	diskBusyReads    = 500                    // blocks read a second that do, too
	diskCalmLooks    = 8                      // looks in a row without either before the extra processors go
)

// diskUse counts what the process has waited for since it began.
type diskUse struct {
	syncs time.Duration // in all logs together
	reads int64         // blocks
}

// diskUse sums up the databases.
func (in *instance) diskUse() (u diskUse) {
	for _, d := range in.engine.Databases() {
		db, err := in.engine.Database(d.Name)
		if err != nil {
			continue // dropped since the list was made
		}
		u.add(db.Stats())
	}
	return u
}

func (u *diskUse) add(s engine.Stats) {
	u.syncs += time.Duration(s.SyncNanos)
	u.reads += int64(s.Store.Loads)
}

// processorChoice decides on the number of processors from look to look.
type processorChoice struct {
	cores int
	last  diskUse
	calm  int
	extra bool
}

// next returns the number for the time until the next look, period after the last one.
func (p *processorChoice) next(u diskUse, period time.Duration) int {
	busy := float64(u.syncs-p.last.syncs) > diskBusyShare*float64(period) ||
		float64(u.reads-p.last.reads) > diskBusyReads*period.Seconds()
	p.last = u
	p.calm++
	if busy {
		p.calm, p.extra = 0, true
	}
	if p.calm >= diskCalmLooks {
		p.extra = false
	}
	if p.extra {
		return p.cores + extraProcessors
	}
	return p.cores
}

// tuneProcessors starts to set GOMAXPROCS to what the work asks for; the returned function ends it. A change stops the
// process for some microseconds, so it happens only when the kind of work changes.
func (in *instance) tuneProcessors() (stop func()) {
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		choice := processorChoice{cores: runtime.NumCPU()}
		ticker := time.NewTicker(processorsPeriod)
		defer ticker.Stop()
		for now := runtime.GOMAXPROCS(0); ; {
			if n := choice.next(in.diskUse(), processorsPeriod); n != now {
				runtime.GOMAXPROCS(n)
				now = n
			}
			select {
			case <-ticker.C:
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); done.Wait() }
}
