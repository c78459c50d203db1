package lock

// Info is one line of pg_locks.
type Info struct {
	PID      int32
	Kind     string // "relation", "advisory", "tuple"
	Relation uint32 // table number, or the tree of a row
	Advisory AdvisoryKey
	Mode     Mode
	Granted  bool
	FastPath bool
	Since    int64 // of a wait, on Now's clock
}

// List returns the table and advisory locks held and everything that is waited for. Uncontended row locks are not
// listed, as in PostgreSQL.
func (m *Manager) List() []Info {
	var out []Info
	add := func(w *wide) {
		for _, h := range w.holders {
			for mode := None + 1; mode < modeCount; mode++ {
				if h.held&bit(mode) != 0 {
					out = append(out, w.info(h.o, mode, true))
				}
			}
		}
		for _, q := range w.queue {
			out = append(out, w.info(q, q.wait.mode, false))
		}
	}
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for _, w := range s.wide {
			if len(w.queue) > 0 {
				add(w)
			}
		}
		s.mu.Unlock()
	}
	m.heavyMu.Lock()
	for _, w := range m.heavy {
		add(w)
	}
	m.heavyMu.Unlock()
	m.ownersMu.RLock()
	defer m.ownersMu.RUnlock()
	for _, o := range m.owners {
		if o == nil {
			continue
		}
		for i := range o.fast {
			v := o.fast[i].Load()
			for mode := AccessShare; v != 0 && mode <= RowExclusive; mode++ {
				if mask(v&0xffff)&bit(mode) != 0 {
					out = append(out, Info{PID: o.pid, Kind: "relation", Relation: uint32(v >> 16), Mode: mode, Granted: true, FastPath: true})
				}
			}
		}
	}
	return out
}

func (w *wide) info(o *Owner, mode Mode, granted bool) Info {
	x := Info{PID: o.pid, Mode: mode, Granted: granted}
	if !granted {
		x.Since = o.wait.since
	}
	switch w.name.class {
	case classTable:
		x.Kind, x.Relation = "relation", uint32(w.name.id)
	case classRow:
		x.Kind, x.Relation = "tuple", w.tree
	case classTree:
		x.Kind, x.Relation = "tuple", uint32(w.name.id)
	case classTransaction:
		x.Kind = "virtualxid"
	default:
		x.Kind = "advisory"
		x.Advisory = AdvisoryKey{Hi: uint32(w.name.id >> 32), Lo: uint32(w.name.id), TwoInts: w.name.class == classAdvisoryTwo}
	}
	return x
}
