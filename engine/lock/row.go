package lock

import (
	"bytes"
	"hash/maphash"
	"sync"

	"herd/internal/mem"
)

// entry is an uncontended row lock, or the sign of a wide one.
type entry struct {
	hash  uint64 // 0 = free
	owner uint32 // ownerWide: look into shard.wide
	mode  Mode
}

const ownerWide = ^uint32(0)

// shard is one part of the row locks: linear probing, at most 3/4 full.
type shard struct {
	mu   sync.Mutex // guards everything here and the wide locks in wide
	tab  []entry
	n    int
	wide map[uint64]*wide
	_    [16]byte // to 64 bytes
}

// hash names a row. The tree's number goes in by multiplication, so that equal keys of two trees differ.
func (m *Manager) hash(tree uint32, key []byte) uint64 {
	h := maphash.Bytes(m.seed, key) + uint64(tree)*0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	if h == 0 {
		return 1
	}
	return h
}

func (m *Manager) shardOf(h uint64) *shard { return &m.shards[h>>(64-shardBits)] }

// find returns the index of h's entry, or -1. s.mu is held.
func (s *shard) find(h uint64) int {
	if s.n == 0 {
		return -1
	}
	msk := uint64(len(s.tab) - 1)
	for i := h & msk; ; i = (i + 1) & msk {
		switch s.tab[i].hash {
		case h:
			return int(i)
		case 0:
			return -1
		}
	}
}

// insert adds an entry that is not there. s.mu is held.
func (s *shard) insert(e entry) {
	if (s.n+1)*4 > len(s.tab)*3 {
		s.resize(max(16, len(s.tab)*2))
	}
	s.put(e)
	s.n++
}

func (s *shard) put(e entry) {
	msk := uint64(len(s.tab) - 1)
	i := e.hash & msk
	for s.tab[i].hash != 0 {
		i = (i + 1) & msk
	}
	s.tab[i] = e
}

func (s *shard) resize(size int) {
	old := s.tab
	s.tab = make([]entry, size)
	for _, e := range old {
		if e.hash != 0 {
			s.put(e)
		}
	}
}

// remove deletes entry i, moving later entries of its run back. s.mu is held.
func (s *shard) remove(i int) {
	msk := len(s.tab) - 1
	s.n--
	for j := i; ; {
		j = (j + 1) & msk
		e := s.tab[j]
		if e.hash == 0 {
			break
		}
		home := int(e.hash) & msk
		if (j-home)&msk >= (j-i)&msk {
			s.tab[i] = e
			i = j
		}
	}
	s.tab[i] = entry{}
	if len(s.tab) > 1024 && s.n*8 < len(s.tab) {
		s.resize(len(s.tab) / 4)
	}
}

// Row locks the row (tree, key) in mode m, one of the four row modes. granted is false only with SkipLocked; waited
// says that the row may have changed since the caller looked. An owner's modes add up to the strongest.
// err: 40P01, 55P03, 57014, 53200, or what ends the session.
func (o *Owner) Row(tree uint32, key []byte, m Mode, p Policy) (granted, waited bool, err error) {
	h := o.m.hash(tree, key)
	s := o.m.shardOf(h)
	for {
		s.mu.Lock()
		i := s.find(h)
		if i >= 0 {
			g, w, err := o.contended(s, i, tree, key, m, p) // unlocks
			return g, w || waited, err
		}
		if len(o.whole) > 0 && o.hasWhole(tree) {
			s.mu.Unlock()
			return true, waited, nil
		}
		s.insert(entry{h, o.id, m})
		s.mu.Unlock()
		if o.m.wholeTrees.Load() != 0 {
			busy, err := o.yield(h, tree, m, p)
			if err != nil || busy && p == SkipLocked {
				return false, waited, err
			}
			if busy {
				waited = true
				continue
			}
		}
		return true, waited, o.recordFresh(h, tree)
	}
}

// contended is Row for a row that has an entry, number i. It is called with s.mu held and returns without it.
func (o *Owner) contended(s *shard, i int, tree uint32, key []byte, m Mode, p Policy) (granted, waited bool, err error) {
	h := s.tab[i].hash
	if e := &s.tab[i]; e.owner == o.id {
		prev := e.mode
		if m > prev {
			e.mode = m
		}
		s.mu.Unlock()
		if m <= prev {
			return true, false, nil
		}
		return o.recordRow(h, prev)
	}
	w := s.widen(o.m, i)
	w.tree = tree
	if w.key == nil {
		w.key = bytes.Clone(key)
	}
	prev := w.heldBy(o).strongest()
	if m <= prev {
		s.mu.Unlock()
		return true, false, nil
	}
	granted, waited, err = o.acquire(w, m, p, "row") // unlocks
	if !granted || err != nil {
		return false, waited, err
	}
	_, _, err = o.recordRow(h, prev)
	return err == nil, waited, err
}

// recordRow notes the step; the lock is given back when there is no memory to note it.
func (o *Owner) recordRow(h uint64, prev Mode) (granted, waited bool, err error) {
	if err := o.account(); err != nil {
		if len(o.whole) == 0 {
			o.m.setRow(o, h, prev)
			return false, false, err
		}
		o.acct.Note(mem.UseLocks, accountStep*rowLockBytes)
		o.acct.Force(accountStep * rowLockBytes) // few rows of a whole tree are contended
	}
	o.rows = append(o.rows, rowRecord{h, prev})
	return true, false, nil
}

// widen turns entry i into a wide lock, unless it is one. s.mu is held.
func (s *shard) widen(m *Manager, i int) *wide {
	e := &s.tab[i]
	if e.owner == ownerWide {
		return s.wide[e.hash]
	}
	if s.wide == nil {
		s.wide = map[uint64]*wide{}
	}
	w := &wide{mu: &s.mu, name: name{class: classRow, id: e.hash}}
	w.holders = append(w.holders, holder{m.ownerOf(e.owner), bit(e.mode)})
	s.wide[e.hash] = w
	e.owner = ownerWide
	return w
}

// setRow makes mode the owner's mode of a row it has locked; None releases it.
func (m *Manager) setRow(o *Owner, h uint64, mode Mode) {
	s := m.shardOf(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(h)
	if i < 0 {
		return
	}
	e := &s.tab[i]
	if e.owner == o.id {
		if mode == None {
			s.remove(i)
		} else {
			e.mode = mode
		}
		return
	}
	if e.owner != ownerWide {
		return
	}
	w := s.wide[h]
	if mode == None {
		w.drop(o)
	} else {
		w.replace(o, bit(mode))
	}
	w.grant()
	if w.idle() {
		delete(s.wide, h)
		s.remove(s.find(h))
	}
}

// RowMode returns the owner's mode of a row, None when it holds none.
func (o *Owner) RowMode(tree uint32, key []byte) Mode {
	h := o.m.hash(tree, key)
	s := o.m.shardOf(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(h)
	if i < 0 {
		if o.hasWhole(tree) {
			return Update
		}
		return None
	}
	if e := s.tab[i]; e.owner != ownerWide {
		if e.owner == o.id {
			return e.mode
		}
		return None
	}
	return s.wide[h].heldBy(o).strongest()
}
