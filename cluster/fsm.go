package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// fsm is the group as Raft's state machine.
type fsm Group

var _ raft.BatchingFSM = (*fsm)(nil)

// Apply implements raft.FSM.
func (f *fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch implements raft.BatchingFSM.
func (f *fsm) ApplyBatch(logs []*raft.Log) []any {
	g := (*Group)(f)
	out := make([]any, len(logs))
	var es []txlog.Entry
	var err error
	index := uint64(0)
	for _, l := range logs {
		index = l.Index
		if l.Type == raft.LogConfiguration {
			g.mu.Lock()
			g.configs = append(g.configs, configAt{l.Index, raft.DecodeConfiguration(l.Data)})
			g.mu.Unlock()
		}
		if l.Type != raft.LogCommand {
			continue
		}
		if es, err = decodeBatch(es, l.Data); err != nil {
			g.fatal(fmt.Errorf("Raft entry %d of database %q: %w", l.Index, g.opening.Name, err))
			return out
		}
	}
	if err := g.apply(es, index); err != nil {
		if !errors.Is(err, txlog.ErrClosed) {
			g.fatal(fmt.Errorf("apply Raft entry %d of database %q: %w", index, g.opening.Name, err))
		}
		for i := range out {
			out[i] = err
		}
	}
	return out
}

// apply hands entries to the database and says that they are safe.
func (g *Group) apply(es []txlog.Entry, index uint64) error {
	if err := g.completeState(index); err != nil {
		return err
	}
	if err := g.stepDown(es); err != nil {
		return err
	}
	if len(es) > 0 {
		if err := g.replica.Apply(es); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	applied := g.replica.Applied()
	g.marks.add(applied, index)
	g.history.add(time.Now(), applied)
	g.applied.Store(index)
	g.durable.Store(uint64(applied))
	g.changed()
	return nil
}

// stepDown waits until the database follows when an entry opens an epoch that is not its own (I2).
func (g *Group) stepDown(es []txlog.Entry) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range es {
		if es[i].Kind != txlog.Open || g.engine == 0 || es[i].Epoch <= g.engine {
			continue
		}
		for g.engine != 0 && g.engine < es[i].Epoch {
			if g.closed {
				return txlog.ErrClosed
			}
			g.loseLocked()
			g.cond.Broadcast()
			g.cond.Wait()
		}
	}
	return nil
}

// completeState fetches the state from the leader when the node's own is older than what its log begins with.
func (g *Group) completeState(index uint64) error {
	for {
		g.mu.Lock()
		missing, closed := g.missing, g.closed
		g.mu.Unlock()
		if closed {
			return txlog.ErrClosed
		}
		if !missing {
			return nil
		}
		_, leader := g.raft.LeaderWithID()
		if leader == "" || string(leader) == g.o.Node {
			g.pause()
			continue
		}
		if err := g.fetch(string(leader)); err != nil {
			g.log.Warn("the database's state could not be fetched", "from", string(leader), "error", err)
			g.pause()
			continue
		}
		g.mu.Lock()
		g.missing = false
		g.history.reset()
		g.marks.reset(g.replica.Applied(), index-1)
		g.mu.Unlock()
	}
}

// fetch replaces the database's state by that of another node.
func (g *Group) fetch(node string) error {
	if g.o.Fetch == nil {
		return errors.New("no way to fetch a database's state is configured")
	}
	began := time.Now()
	r, err := g.o.Fetch(node)
	if err != nil {
		return fmt.Errorf("fetch database %q from node %s: %w", g.opening.Name, node, err)
	}
	defer r.Close()
	g.counts.fetching.Store(true)
	defer g.counts.fetching.Store(false)
	if err := g.replica.Restore(countingReader{r, &g.counts.fetched}); err != nil {
		return fmt.Errorf("fetch database %q from node %s: %w", g.opening.Name, node, err)
	}
	g.log.Info("fetched the database's state", "from", node, "seconds", time.Since(began).Seconds())
	return nil
}

// countingReader counts what is read.
type countingReader struct {
	r     io.Reader
	bytes *atomic.Int64
}

// Read implements io.Reader.
func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// Snapshot implements raft.FSM.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) { return nil, errNoSnapshots }

// Restore implements raft.FSM: the leader has sent a descriptor, its entries are no more. The state is fetched and Raft goes
// on behind the descriptor; entries that the state contains already are void then.
func (f *fsm) Restore(r io.ReadCloser) error {
	g := (*Group)(f)
	defer r.Close()
	g.snaps.mu.Lock()
	p := g.snaps.pending
	g.snaps.mu.Unlock()
	if p == nil {
		return errors.New("restore a Raft group: nothing was received")
	}
	g.mu.Lock()
	missing := g.missing
	g.mu.Unlock()
	if missing || g.applied.Load() < p.Index {
		if err := g.fetch(p.from); err != nil {
			g.snaps.failed()
			g.log.Warn("the database's state could not be fetched", "from", p.from, "error", err)
			return err
		}
	}
	if err := g.snaps.arrived(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missing = false
	g.configs = append(g.configs[:0], configAt{p.ConfigIndex, raft.DecodeConfiguration(p.Config)})
	g.history.reset()
	g.marks.reset(g.replica.Applied(), p.Index)
	g.applied.Store(p.Index)
	g.durable.Store(uint64(g.replica.Applied()))
	g.changed()
	return nil
}

// writeState writes the database's state for another node.
func (g *Group) writeState(w io.Writer) error { return g.replica.Snapshot(w) }
