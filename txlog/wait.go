package txlog

import (
	"fmt"
	"sync"

	"herd/internal/vfs"
)

// waiter is somebody who waits for an entry.
type waiter struct {
	seq  Seq
	done chan struct{} // holds one token once the entry is durable or the log has failed
}

// waiterPool gives waiters that are used again. Each log has its own: a channel may not leave the simulated time that it was made in.
type waiterPool struct{ pool sync.Pool }

func (p *waiterPool) get() *waiter {
	if w, ok := p.pool.Get().(*waiter); ok {
		return w
	}
	return &waiter{done: make(chan struct{}, 1)}
}

func (p *waiterPool) put(w *waiter) { p.pool.Put(w) }

// Wait implements Log.
func (l *Local) Wait(seq Seq, stop <-chan struct{}) error {
	for Seq(l.durable.Load()) < seq {
		l.mu.Lock()
		err, last := l.err, l.last
		if err != nil || seq > last || Seq(l.durable.Load()) >= seq {
			l.mu.Unlock()
			if err == nil && seq > last {
				err = fmt.Errorf("wait for entry %d, last appended is %d", seq, last)
			}
			return err
		}
		if !l.writing && len(l.ends) > 0 && !l.closed && l.o.Mode == SyncAlways {
			if stop == nil {
				l.writeAwaited()
				l.mu.Unlock()
				continue
			}
			l.tellWriter() // a write cannot be left
		}
		w := l.waiters.get()
		w.seq = seq
		l.waiting = append(l.waiting, w)
		l.mu.Unlock()
		if stop == nil {
			<-w.done
			l.waiters.put(w)
			continue
		}
		select {
		case <-w.done:
			l.waiters.put(w)
		case <-stop:
			l.leave(w)
			return ErrInterrupted
		}
	}
	return nil
}

// writeAwaited writes what has gathered on the goroutine of who waits for it: with few sessions, handing that to the writer and
// being told of its end would take as long as the write. What gathers meanwhile is the writer's. l.mu is held.
func (l *Local) writeAwaited() {
	l.writeGroup(vfs.Blocked)
	if len(l.ends) > 0 || l.closed || l.wantSync || l.err != nil {
		l.tellWriter()
	}
}

// tellWriter wakes the writer goroutine. l.mu is held.
func (l *Local) tellWriter() {
	l.told = true
	l.work.Signal()
}

// leave takes w off the list. One that is woken at the same moment is left to the collector.
func (l *Local) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.waiting {
		if x == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
}

// wake wakes those who wait for entries up to seq. l.mu is held.
func (l *Local) wake(seq Seq) {
	rest := l.waiting[:0]
	for _, w := range l.waiting {
		if w.seq <= seq {
			w.done <- struct{}{}
		} else {
			rest = append(rest, w)
		}
	}
	clear(l.waiting[len(rest):])
	l.waiting = rest
}
