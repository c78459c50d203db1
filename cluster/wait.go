package cluster

import "herd/txlog"

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
	w := g.waiters.Add(seq)
	g.mu.Unlock()
	return g.waiters.Await(w, &g.mu, stop)
}
