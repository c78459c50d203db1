package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// A node whose state is older than what its log begins with fetches it from another one, beside Raft: entries go on arriving, are stored and
// are agreed on, and none is applied until the state has come and those that it lacks were taken from the log.

// catchUpBatch is how many entries are taken from the log at a time.
const catchUpBatch = 64

// postpone tells whether the state is missing, so that entries up to index are for catchUp to apply.
func (g *Group) postpone(index uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing {
		g.agreed = max(g.agreed, index)
		g.cond.Broadcast()
	}
	return g.missing
}

// catchUp is the goroutine that fetches the state when it is missing.
func (g *Group) catchUp() {
	defer g.done.Done()
	for {
		g.mu.Lock()
		for !g.missing && !g.closed {
			g.cond.Wait()
		}
		needs, source, closed := g.needs, g.source, g.closed
		g.mu.Unlock()
		if closed {
			return
		}
		_, leader := g.raft.LeaderWithID()
		from := cmp.Or(string(leader), source)
		if from == "" || from == g.o.Node {
			g.pause()
			continue
		}
		if err := g.fetchAside(from, needs); err != nil {
			g.log.Warn("the database's state could not be fetched", "from", from, "error", err)
			g.pause()
			continue
		}
		if err := g.catchUpFrom(needs); err != nil {
			if !errors.Is(err, txlog.ErrClosed) {
				g.fatal(fmt.Errorf("apply the log of database %q behind entry %d: %w", g.opening.Name, needs, err))
			}
			return
		}
	}
}

// catchUpFrom applies what was agreed on since the state was needed. It returns when nothing is left, or another state is needed.
func (g *Group) catchUpFrom(needs uint64) error {
	for next := needs + 1; ; {
		g.mu.Lock()
		switch {
		case g.closed:
			g.mu.Unlock()
			return txlog.ErrClosed
		case g.needs != needs: // the log that follows is gone
			g.mu.Unlock()
			return nil
		case next > g.agreed:
			g.missing = false
			g.changed()
			g.mu.Unlock()
			g.log.Info("the database has caught up", "entry", next-1)
			return nil
		}
		agreed := g.agreed
		g.mu.Unlock()
		logs, err := g.read(next, min(agreed, next+catchUpBatch-1))
		if errors.Is(err, raft.ErrLogNotFound) { // another state has just come to be needed, or is about to
			g.pause()
			continue
		}
		if err == nil {
			err = g.applyLogs(logs)
		}
		if err != nil {
			return err
		}
		next += uint64(len(logs))
	}
}

// read returns entries of the log.
func (g *Group) read(from, to uint64) ([]*raft.Log, error) {
	logs := make([]*raft.Log, 0, to-from+1)
	for i := from; i <= to; i++ {
		l := new(raft.Log)
		if err := g.logs.GetLog(i, l); err != nil {
			return nil, err
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// fetchAside is fetch in a goroutine that gives way to all others.
func (g *Group) fetchAside(node string, needs uint64) error {
	done := make(chan error)
	go func() {
		inBackground()
		done <- g.fetch(node, needs)
	}()
	return <-done
}

// fetch makes the database's state that of another node, which has applied at least entry needs.
func (g *Group) fetch(node string, needs uint64) error {
	if g.o.Fetch == nil {
		return errors.New("no way to fetch a database's state is configured")
	}
	began, before := time.Now(), g.counts.fetched.Load()
	conn, err := g.o.Fetch(node)
	if err != nil {
		return fmt.Errorf("from node %s: %w", node, err)
	}
	stop := g.closeOnStop(conn)
	defer stop()
	var head [8]byte
	if _, err = io.ReadFull(conn, head[:]); err == nil && le.Uint64(head[:]) < needs {
		err = fmt.Errorf("it has applied entry %d, needed is %d", le.Uint64(head[:]), needs)
	}
	if err != nil {
		conn.Close()
		return fmt.Errorf("from node %s: %w", node, err)
	}
	g.counts.fetching.Store(true)
	defer g.counts.fetching.Store(false)
	err = g.replica.Fetch(&countingConn{conn, &g.counts.fetched}, func(done, total int64) {
		g.counts.fetchDone.Store(done)
		g.counts.fetchTotal.Store(total)
	})
	if err != nil {
		return fmt.Errorf("from node %s: %w", node, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.history.reset()
	g.marks.reset(g.replica.Applied(), needs)
	g.applied.Store(needs)
	g.durable.Store(uint64(g.replica.Applied()))
	g.waiters.Release(g.replica.Applied(), nil)
	g.changed()
	g.log.Info("fetched the database's state", "from", node, "bytes", g.counts.fetched.Load()-before, "seconds", time.Since(began).Seconds())
	return nil
}

// closeOnStop closes a connection when the group is closed. The function that is returned ends that.
func (g *Group) closeOnStop(c io.Closer) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-g.stop:
			c.Close()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// Serve gives the database's state to another node. What it says first is at most what the state contains.
func (g *Group) Serve(conn io.ReadWriter) error {
	g.mu.Lock()
	missing, applied := g.missing, g.applied.Load()
	g.mu.Unlock()
	if missing {
		return errors.New("it is not here yet")
	}
	if _, err := conn.Write(le.AppendUint64(nil, applied)); err != nil {
		return err
	}
	return g.replica.Serve(conn)
}

// countingConn counts what is read.
type countingConn struct {
	io.ReadWriteCloser
	bytes *atomic.Int64
}

// Read implements io.Reader.
func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}
