package lock

// Info is one line of pg_locks.
type Info struct {
	PID      int32
	Kind     string // "relation", "advisory", "tuple", "transactionid", "virtualxid"
	Relation uint32 // table number; of a tuple the tree of the row
	Key      []byte // of a tuple, nil when it stands for all rows of the tree
	XID      uint64 // of a transactionid
	Virtual  int32  // of a virtualxid: the process number of its session
	VirtualN uint64 // and the number of the transaction within it
	Advisory AdvisoryKey
	Mode     Mode
	Granted  bool
	FastPath bool
	Since    int64  // of a wait, on Now's clock
	Session  uint64 // number of the holder's transaction within its session
}

// List returns the locks held on tables and transactions, advisory locks, and everything that is waited for. Row locks
// are shown as PostgreSQL does: who has rows holds its transaction; the first that waits for a row has the row and waits
// for that transaction; the next wait for the row.
func (m *Manager) List() []Info {
	var out []Info
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for _, w := range s.wide {
			out = w.appendRow(out)
		}
		s.mu.Unlock()
	}
	m.heavyMu.Lock()
	for _, w := range m.heavy {
		if w.name.class == classTree {
			out = w.appendRow(out)
			continue
		}
		for _, h := range w.holders {
			for mode := None + 1; mode < modeCount; mode++ {
				if h.held&bit(mode) != 0 && w.name.class != classTransaction {
					out = append(out, w.info(h.o, mode, true))
				}
			}
		}
		for _, q := range w.queue {
			out = append(out, w.info(q, q.wait.mode, false))
		}
	}
	m.heavyMu.Unlock()
	m.ownersMu.RLock()
	defer m.ownersMu.RUnlock()
	for _, o := range m.owners {
		if o == nil {
			continue
		}
		n := o.ended.Load() + 1
		for i := range o.fast {
			v := o.fast[i].Load()
			for mode := AccessShare; v != 0 && mode <= RowExclusive; mode++ {
				if mask(v&0xffff)&bit(mode) != 0 {
					out = append(out, Info{PID: o.pid, Kind: "relation", Relation: uint32(v >> 16), Mode: mode, Granted: true, FastPath: true, Session: n})
				}
			}
		}
		if xid := o.xid.Load(); xid != 0 {
			out = append(out, Info{PID: o.pid, Kind: "transactionid", XID: xid, Mode: Exclusive, Granted: true, Session: n})
		}
	}
	return out
}

// appendRow adds the lines of a row that is waited for. w.mu is held.
func (w *wide) appendRow(out []Info) []Info {
	for i, q := range w.queue {
		tuple := w.info(q, q.wait.mode, i == 0)
		if i > 0 {
			tuple.Since = q.wait.since
			out = append(out, tuple)
			continue
		}
		out = append(out, tuple)
		x := Info{PID: q.pid, Kind: "transactionid", Mode: TableShare, Since: q.wait.since, Session: q.ended.Load() + 1}
		for _, h := range w.holders {
			if h.o != q && h.held&conflicts[q.wait.mode] != 0 {
				x.XID = h.o.xid.Load()
				break
			}
		}
		out = append(out, x)
	}
	return out
}

func (w *wide) info(o *Owner, mode Mode, granted bool) Info {
	x := Info{PID: o.pid, Mode: mode, Granted: granted, Session: o.ended.Load() + 1}
	if !granted {
		x.Since = o.wait.since
	}
	switch w.name.class {
	case classTable:
		x.Kind, x.Relation = "relation", uint32(w.name.id)
	case classRow:
		x.Kind, x.Relation, x.Key = "tuple", w.tree, w.key
	case classTree:
		x.Kind, x.Relation = "tuple", uint32(w.name.id)
	case classTransaction:
		x.Kind = "virtualxid"
		for _, h := range w.holders {
			if h.o != o {
				x.Virtual, x.VirtualN = h.o.pid, h.o.ended.Load()+1
			}
		}
	default:
		x.Kind = "advisory"
		x.Advisory = AdvisoryKey{Hi: uint32(w.name.id >> 32), Lo: uint32(w.name.id), TwoInts: w.name.class == classAdvisoryTwo}
	}
	return x
}
