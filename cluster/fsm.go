package cluster

import (
	"errors"
	"fmt"
	"io"
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
	index := logs[len(logs)-1].Index
	g.noteMembers(logs)
	err := g.logs.waitSynced(index)
	if err == nil {
		if g.postpone(index) {
			return out
		}
		err = g.applyLogs(logs)
	}
	if err != nil {
		if !errors.Is(err, txlog.ErrClosed) {
			g.fatal(fmt.Errorf("apply Raft entries up to %d of database %q: %w", index, g.opening.Name, err))
		}
		for i := range out {
			out[i] = err
		}
	}
	return out
}

// noteMembers remembers the memberships among entries.
func (g *Group) noteMembers(logs []*raft.Log) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range logs {
		if l.Type == raft.LogConfiguration {
			g.configs = append(g.configs, configAt{l.Index, raft.DecodeConfiguration(l.Data)})
		}
	}
}

// applyLogs hands what was agreed on to the database.
func (g *Group) applyLogs(logs []*raft.Log) error {
	var es []txlog.Entry
	var err error
	for _, l := range logs {
		if l.Type != raft.LogCommand {
			continue
		}
		if es, err = decodeBatch(es, l.Data); err != nil {
			return fmt.Errorf("entry %d: %w", l.Index, err)
		}
	}
	return g.apply(es, logs[len(logs)-1].Index)
}

// apply hands entries to the database and says that they are safe.
func (g *Group) apply(es []txlog.Entry, index uint64) error {
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
	g.waiters.Release(applied, nil)
	g.advanced()
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

// Snapshot implements raft.FSM.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) { return nil, errNoSnapshots }

// Restore implements raft.FSM: the leader has sent a descriptor, its entries are no more. Raft goes on behind the descriptor; unless the
// state is there already it is fetched beside it (see catchup.go), and what is agreed on meanwhile waits in the log. Entries that the state
// contains already are void then.
func (f *fsm) Restore(r io.ReadCloser) error {
	g := (*Group)(f)
	defer r.Close()
	g.snaps.mu.Lock()
	p := g.snaps.pending
	g.snaps.mu.Unlock()
	if p == nil {
		return errors.New("restore a Raft group: nothing was received")
	}
	if err := g.snaps.arrived(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.configs = append(g.configs[:0], configAt{p.ConfigIndex, raft.DecodeConfiguration(p.Config)})
	if !g.missing && g.applied.Load() >= p.Index {
		g.marks.reset(g.replica.Applied(), p.Index)
		g.applied.Store(p.Index)
	} else {
		g.missing, g.needs, g.agreed, g.source = true, p.Index, p.Index, p.from
	}
	g.changed()
	return nil
}
