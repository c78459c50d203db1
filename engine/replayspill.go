package engine

import (
	"errors"
	"fmt"

	"herd/storage"
	"herd/txlog"
)

// A replay of more than fits into memory makes checkpoints on its way, beside the reading and applying of what follows. What they contain stays in the log
// until the next ordinary checkpoint.

// place is a place of the log that a state was brought to.
type place struct {
	pos  txlog.Position // where reading has to go on
	last txlog.Seq
	meta []byte // for a manifest; nil: parts wait that would have to be read again, so none may be made
}

// here returns the place of what was gathered.
func (a *applier) here() place {
	p := place{pos: a.pos, last: a.last}
	done := map[uint64]uint32{}
	for tx, t := range a.parts {
		if len(t.sets) > 0 {
			return p
		}
		if t.applied > 0 {
			done[tx] = t.applied
		}
	}
	p.meta = a.db.encodeMeta(a.last, a.epoch, done)
	return p
}

// spilling is a checkpoint on its way.
type spilling struct {
	at   place
	done chan struct{}
	err  error
}

// spill has what was replayed written when memory is short, and waits for that only when there is no room for another batch meanwhile.
func (a *applier) spill() error {
	limit, st := a.db.eng.acctBlocks.Limit(), a.db.store
	if limit == 0 {
		return nil
	}
	st.Evict(st.Resident() - limit)
	if a.spilling != nil {
		select {
		case <-a.spilling.done:
		default:
			if st.Dirty() < limit/2 {
				return nil
			}
		}
		if err := a.spilled(); err != nil {
			return err
		}
	}
	if st.Dirty() < limit/4 || a.at.meta == nil || a.at.last == a.done {
		return nil
	}
	w, slot, snap := &spilling{at: a.at, done: make(chan struct{})}, st.NewSlot(), a.snap
	slot.Pin(snap) // a.slot has it
	a.spilling = w
	go func() { // ends with spilled
		defer close(w.done)
		defer slot.Close()
		w.err = st.Checkpoint(snap, storage.Meta{LogPosition: uint64(w.at.pos), Opaque: w.at.meta}, storage.CheckpointOptions{Written: slot.Unpin})
	}()
	if st.Dirty() < limit/2 {
		return nil
	}
	return a.spilled()
}

// spilled waits for the checkpoint that is on its way.
func (a *applier) spilled() error {
	w := a.spilling
	if w == nil {
		return nil
	}
	<-w.done
	a.spilling = nil
	if w.err != nil {
		return fmt.Errorf("checkpoint during replay: %w", w.err)
	}
	a.done = w.at.last
	a.db.stats.spills.Add(1)
	return nil
}

// finish applies what is left, at the end of a replay, and leaves half of memory to those that come.
func (a *applier) finish() error {
	if err := errors.Join(a.flush(), a.rest()); err != nil {
		return err
	}
	if limit := a.db.eng.acctBlocks.Limit(); limit == 0 || a.db.store.Dirty() < limit/2 {
		return nil
	}
	if err := a.spill(); err != nil {
		return err
	}
	return a.spilled()
}

// rest waits for all that is on its way.
func (a *applier) rest() error {
	err := a.drain()
	if e := a.spilled(); err == nil {
		err = e
	}
	return err
}
