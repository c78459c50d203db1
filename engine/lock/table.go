package lock

// tableRecord is one table lock of a transaction.
type tableRecord struct {
	rel  uint32
	mode Mode
	slot int8 // >= 0: granted through this slot
}

func slotWord(rel uint32, m mask) uint64 { return uint64(rel)<<16 | uint64(m) }

func (m *Manager) part(rel uint32) int { return int(rel*0x9e3779b1>>22) % partCount }

// TableBusy tells whether somebody holds or wants a lock on table rel (or one that shares its counter) that a reader
// would have to wait for. A single-statement read that gets false needs no table lock: what it reads is immutable.
func (m *Manager) TableBusy(rel uint32) bool { return m.strong[m.part(rel)].Load() != 0 }

// Table locks table rel in one of the eight table modes. granted is false only with SkipLocked. Errors as for Row.
func (o *Owner) Table(rel uint32, m Mode, p Policy) (granted bool, err error) {
	for i := range o.tables {
		if t := &o.tables[i]; t.rel == rel && t.mode == m {
			return true, nil
		}
	}
	if o.keeps(rel, m) {
		return true, nil
	}
	if bit(m)&weakTable != 0 {
		if slot := o.fastTable(rel, m); slot >= 0 {
			o.tables = append(o.tables, tableRecord{rel, m, int8(slot)})
			return true, nil
		}
	}
	strong := bit(m)&strongTable != 0
	if strong {
		o.m.strong[o.m.part(rel)].Add(1) // closes the slots
	}
	o.m.heavyMu.Lock()
	w := o.m.heavyLock(name{classTable, uint64(rel)})
	if strong {
		o.m.moveSlots(w, rel)
	}
	granted, _, err = o.acquire(w, m, p, "relation")
	if !granted || err != nil {
		if strong {
			o.m.strong[o.m.part(rel)].Add(-1)
		}
		return false, err
	}
	o.tables = append(o.tables, tableRecord{rel, m, -1})
	return true, nil
}

// heavyLock returns the wide lock of a name. heavyMu is held.
func (m *Manager) heavyLock(n name) *wide {
	w := m.heavy[n]
	if w == nil {
		w = &wide{mu: &m.heavyMu, name: n}
		m.heavy[n] = w
	}
	return w
}

// fastTable takes a weak lock through a slot and returns its number, -1 when that is not possible.
func (o *Owner) fastTable(rel uint32, m Mode) int {
	counter := &o.m.strong[o.m.part(rel)]
	if counter.Load() != 0 {
		return -1
	}
	slot := -1
	for i := range o.fast {
		switch v := o.fast[i].Load(); {
		case v>>16 == uint64(rel) && v != 0:
			slot = i
		case v == 0 && slot < 0:
			slot = i
		}
	}
	if slot < 0 {
		return -1
	}
	old := o.fast[slot].Load()
	if old != 0 && old>>16 != uint64(rel) {
		return -1
	}
	word := slotWord(rel, mask(old&0xffff)|bit(m))
	if !o.fast[slot].CompareAndSwap(old, word) {
		return -1 // a strong locker moved the slot
	}
	if counter.Load() == 0 {
		return slot
	}
	// A strong locker came in between. Either it has moved the new word (then the lock is held), or we take it back.
	if o.fast[slot].CompareAndSwap(word, old) {
		return -1
	}
	return slot
}

// moveSlots makes every owner's slot of rel a holder of w. heavyMu is held (I3).
func (m *Manager) moveSlots(w *wide, rel uint32) {
	m.ownersMu.RLock()
	defer m.ownersMu.RUnlock()
	for _, o := range m.owners {
		if o == nil {
			continue
		}
		for i := range o.fast {
			v := o.fast[i].Load()
			if v == 0 || v>>16 != uint64(rel) {
				continue
			}
			before := w.heldBy(o)
			w.add(o, mask(v&0xffff))
			if o.fast[i].CompareAndSwap(v, 0) {
				continue
			}
			// The owner changed the slot: it released, or took its attempt back.
			if before == 0 {
				w.drop(o)
			} else {
				w.replace(o, before)
			}
			if v = o.fast[i].Load(); v != 0 && v>>16 == uint64(rel) {
				w.add(o, mask(v&0xffff))
				if !o.fast[i].CompareAndSwap(v, 0) {
					if before == 0 {
						w.drop(o)
					} else {
						w.replace(o, before)
					}
				}
			}
		}
	}
}

// releaseTable releases one lock of the transaction.
func (o *Owner) releaseTable(t tableRecord) {
	if t.mode == wholeMode {
		o.releaseWhole(t.rel)
		return
	}
	if t.slot >= 0 {
		for {
			v := o.fast[t.slot].Load()
			if v == 0 || v>>16 != uint64(t.rel) || mask(v&0xffff)&bit(t.mode) == 0 {
				break // moved
			}
			left := mask(v&0xffff) &^ bit(t.mode)
			word := uint64(0)
			if left != 0 {
				word = slotWord(t.rel, left)
			}
			if o.fast[t.slot].CompareAndSwap(v, word) {
				return
			}
		}
	}
	o.m.heavyMu.Lock()
	if w := o.m.heavy[name{classTable, uint64(t.rel)}]; w != nil {
		if left := w.heldBy(o) &^ bit(t.mode); left != 0 {
			w.replace(o, left)
		} else {
			w.drop(o)
		}
		w.grant()
		o.m.forget(w)
	}
	o.m.heavyMu.Unlock()
	if bit(t.mode)&strongTable != 0 {
		o.m.strong[o.m.part(t.rel)].Add(-1)
	}
}

// TableMode returns the owner's strongest mode of a table, None when it holds none.
func (o *Owner) TableMode(rel uint32) Mode {
	strongest := None
	for _, t := range o.tables {
		if t.rel == rel && t.mode != wholeMode {
			strongest = max(strongest, t.mode)
		}
	}
	return strongest
}
