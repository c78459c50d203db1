package cluster

import (
	"sync"

	"herd/txlog"
)

// waiter is somebody who waits for an entry.
type waiter struct {
	seq  txlog.Seq
	done chan error // gets the outcome
}

// waiters are those who wait. The group's mutex guards the list. Each group has a pool of its own: a channel may not leave the simulated
// time that it was made in.
type waiters struct {
	list []*waiter
	pool sync.Pool
}

func (ws *waiters) get(seq txlog.Seq) *waiter {
	w, ok := ws.pool.Get().(*waiter)
	if !ok {
		w = &waiter{done: make(chan error, 1)}
	}
	w.seq = seq
	return w
}

// release tells an outcome to all who wait for entries up to seq.
func (ws *waiters) release(seq txlog.Seq, outcome error) {
	rest := ws.list[:0]
	for _, w := range ws.list {
		if w.seq <= seq {
			w.done <- outcome
		} else {
			rest = append(rest, w)
		}
	}
	clear(ws.list[len(rest):])
	ws.list = rest
}

// leave takes w off the list. One that is told at the same moment is left to the collector.
func (ws *waiters) leave(w *waiter) {
	for i, x := range ws.list {
		if x == w {
			ws.list = append(ws.list[:i], ws.list[i+1:]...)
			return
		}
	}
}

// Wait implements txlog.Log.
func (g *Group) Wait(seq txlog.Seq, stop <-chan struct{}) error {
	g.mu.Lock()
	switch {
	case txlog.Seq(g.durable.Load()) >= seq:
		g.mu.Unlock()
		return nil
	case g.closed:
		g.mu.Unlock()
		return txlog.ErrClosed
	case g.epoch == 0:
		g.mu.Unlock()
		return txlog.ErrLost
	}
	w := g.waiters.get(seq)
	g.waiters.list = append(g.waiters.list, w)
	g.mu.Unlock()
	if stop == nil {
		err := <-w.done
		g.waiters.pool.Put(w)
		return err
	}
	select {
	case err := <-w.done:
		g.waiters.pool.Put(w)
		return err
	case <-stop:
		g.mu.Lock()
		g.waiters.leave(w)
		g.mu.Unlock()
		return txlog.ErrInterrupted
	}
}
