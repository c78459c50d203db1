package txlog

import "sync"

// Waiters are those who wait for entries of one log. Whoever has them guards them with a mutex, which is held for each call but where
// it says otherwise. The zero value is empty.
type Waiters struct {
	list []*Waiter
	// pool has waiters that are used again. It is not shared: a channel may not leave the simulated time that it was made in.
	pool sync.Pool
}

// Waiter is somebody who waits for an entry.
type Waiter struct {
	seq  Seq
	done chan error // gets the outcome
}

// Add returns a new one that waits for entry seq; Await follows.
func (ws *Waiters) Add(seq Seq) *Waiter {
	w, ok := ws.pool.Get().(*Waiter)
	if !ok {
		w = &Waiter{done: make(chan error, 1)}
	}
	w.seq = seq
	ws.list = append(ws.list, w)
	return w
}

// Await returns what w is told, or ErrInterrupted when stop (which may be nil) is closed or delivers first. The mutex, mu, is not held.
func (ws *Waiters) Await(w *Waiter, mu sync.Locker, stop <-chan struct{}) error {
	if stop == nil {
		err := <-w.done
		ws.pool.Put(w)
		return err
	}
	select {
	case err := <-w.done:
		ws.pool.Put(w)
		return err
	case <-stop:
		mu.Lock()
		ws.leave(w)
		mu.Unlock()
		return ErrInterrupted
	}
}

// Release tells an outcome to all who wait for entries up to seq.
func (ws *Waiters) Release(seq Seq, outcome error) {
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
func (ws *Waiters) leave(w *Waiter) {
	for i, x := range ws.list {
		if x == w {
			ws.list = append(ws.list[:i], ws.list[i+1:]...)
			return
		}
	}
}
