package engine

import (
	"encoding/binary"
	"slices"
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
	big   []bigMoves       // of big commits
}

// bigMoves are the moves of one big commit, put together before it has its place: others wait while it gets that.
type bigMoves struct {
	to  map[string][]byte // by tree and old key
	seq storage.Seq
}

// gatherMoves returns the moves of a big commit by tree and old key.
func gatherMoves(list []move) map[string][]byte {
	if len(list) == 0 {
		return nil
	}
	to := make(map[string][]byte, len(list))
	for _, v := range list {
		to[moveKey(v.tree, v.old)] = v.now
	}
	return to
}

// addBig records the moves of a big commit.
func (m *moves) addBig(to map[string][]byte, seq storage.Seq) {
	if len(to) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.big = append(m.big, bigMoves{to, seq})
	m.recount()
}

// recount sets count. mu is held.
func (m *moves) recount() {
	n := len(m.to)
	for _, b := range m.big {
		n += len(b.to)
	}
	m.count.Store(int64(n))
}

// find returns the newest move of a key. mu is held.
func (m *moves) find(key string) (newest moved, found bool) {
	newest, found = m.to[key]
	for _, b := range m.big {
		if now, ok := b.to[key]; ok && (!found || b.seq > newest.seq) {
			newest, found = moved{now, b.seq}, true
		}
	}
	return newest, found
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
	m.recount()
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
	m.big = slices.DeleteFunc(m.big, func(b bigMoves) bool { return b.seq <= oldest })
	m.recount()
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
	m.big = slices.DeleteFunc(m.big, func(b bigMoves) bool { return b.seq > after })
	m.recount()
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
	for range m.count.Load() {
		v, found := m.find(moveKey(tree, key))
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
