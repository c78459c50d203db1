package engine

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"herd/storage"
)

// move says that a row's primary key changed.
type move struct {
	tree     storage.TreeID
	old, now []byte
}

// moves remembers the primary-key updates that a transaction with an older snapshot may still stumble over.
type moves struct {
	count atomic.Int64 // entries, so that the usual look-up costs one load
	mu    sync.Mutex
	to    map[string]moved // by tree and old key
}

type moved struct {
	now []byte
	seq storage.Seq
}

func moveKey(tree storage.TreeID, key []byte) string {
	b := make([]byte, 4, 4+len(key))
	binary.BigEndian.PutUint32(b, uint32(tree))
	return string(append(b, key...))
}

// add records the moves of a commit.
func (m *moves) add(list []move, seq storage.Seq) {
	if len(list) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.to == nil {
		m.to = map[string]moved{}
	}
	for _, v := range list {
		m.to[moveKey(v.tree, v.old)] = moved{v.now, seq}
	}
	m.count.Store(int64(len(m.to)))
}

// prune forgets what every open snapshot contains.
func (m *moves) prune(oldest storage.Seq) {
	if m.count.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, v := range m.to {
		if v.seq <= oldest {
			delete(m.to, k)
		}
	}
	m.count.Store(int64(len(m.to)))
}

// drop forgets what came after an entry: it never was.
func (m *moves) drop(after storage.Seq) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, v := range m.to {
		if v.seq > after {
			delete(m.to, k)
		}
	}
	m.count.Store(int64(len(m.to)))
}

// MovedTo follows the primary-key update of a row since the statement's snapshot: the key the row has now, through
// several updates if need be.
func (t *Tx) MovedTo(tree storage.TreeID, key []byte) (newKey []byte, ok bool) {
	m := &t.s.db.moves
	if m.count.Load() == 0 {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for range len(m.to) {
		v, found := m.to[moveKey(tree, key)]
		if !found || t.snap != nil && v.seq <= t.snap.Seq() {
			break
		}
		key, ok = v.now, true
	}
	if !ok {
		return nil, false
	}
	return key, true
}

// NoteMove records that the row with key old has key now once the transaction commits.
func (t *Tx) NoteMove(tree storage.TreeID, old, now []byte) {
	t.moves = append(t.moves, move{tree, append([]byte(nil), old...), append([]byte(nil), now...)})
}
