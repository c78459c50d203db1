package txlog

import (
	"fmt"

	"herd/internal/vfs"
)

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
		w := l.waiting.Add(seq)
		l.mu.Unlock()
		if err := l.waiting.Await(w, &l.mu, stop); err != nil {
			return err
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
