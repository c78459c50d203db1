package exec

import (
	"bytes"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"herd/internal/mem"
)

// keyTable numbers distinct keys 0, 1, 2 ... in the order of their first appearance: an open-addressed table over
// computed hashes; keys live in an arena.
type keyTable struct {
	mem   arena
	slots []uint64 // hash's upper 32 bits, then key number + 1; 0 is free
	keys  [][]byte
	hash  []uint64 // by key number: growing the slots does not hash again
	slotM account
	keyM  account
}

func (t *keyTable) open(env *Env) {
	t.reset()
	for _, a := range []*account{&t.mem.mem, &t.slotM, &t.keyM} {
		a.open(env, mem.UseHash)
	}
}

// must makes the table take memory without asking: it holds the keys of one batch.
func (t *keyTable) must() {
	const any = 1 << 40
	t.mem.mem.floor, t.slotM.floor, t.keyM.floor = any, any, any
}

// reset empties the table; small memory is kept.
func (t *keyTable) reset() {
	t.mem.reset()
	t.slotM.release()
	t.keyM.release()
	if len(t.slots) <= 64 {
		clear(t.slots)
	} else {
		t.slots = nil
	}
	if cap(t.keys) > 64 {
		t.keys, t.hash = nil, nil
	}
	clear(t.keys)
	t.keys, t.hash = t.keys[:0], t.hash[:0]
}

// close gives all memory back.
func (t *keyTable) close() {
	t.mem.mem.release()
	t.slotM.release()
	t.keyM.release()
	t.mem.chunks, t.slots, t.keys, t.hash = nil, nil, nil, nil
}

func (t *keyTable) len() int { return len(t.keys) }

func hashKey(k []byte) uint64 { return xxhash.Sum64(k) }

// find returns the number of key k, -1 when absent.
func (t *keyTable) find(h uint64, k []byte) int {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	tag := h &^ 0xffffffff
	for p := h & mask; ; p = (p + 1) & mask {
		s := t.slots[p]
		if s == 0 {
			return -1
		}
		if s&^0xffffffff == tag {
			if n := int(uint32(s)) - 1; bytes.Equal(t.keys[n], k) {
				return n
			}
		}
	}
}

// insert returns the number of key k, adding it if absent. The error is mem.ErrLimit; nothing was added then.
func (t *keyTable) insert(h uint64, k []byte) (n int, added bool, err error) {
	if (len(t.keys)+1)*4 > len(t.slots)*3 {
		if err := t.rehash(); err != nil {
			if n := t.find(h, k); n >= 0 {
				return n, false, nil
			}
			return 0, false, err
		}
	}
	mask := uint64(len(t.slots) - 1)
	tag := h &^ 0xffffffff
	p := h & mask
	for ; t.slots[p] != 0; p = (p + 1) & mask {
		if s := t.slots[p]; s&^0xffffffff == tag {
			if n := int(uint32(s)) - 1; bytes.Equal(t.keys[n], k) {
				return n, false, nil
			}
		}
	}
	b, err := t.mem.save(k)
	if err != nil {
		return 0, false, err
	}
	if len(t.keys) == cap(t.keys) {
		if err := t.keyM.grow(int64(32 * max(16, cap(t.keys)))); err != nil {
			return 0, false, err
		}
	}
	t.keys, t.hash = append(t.keys, b), append(t.hash, h)
	t.slots[p] = tag | uint64(len(t.keys))
	return len(t.keys) - 1, true, nil
}

// rehash doubles the slots.
func (t *keyTable) rehash() error {
	size := max(64, 1<<bits.Len(uint(len(t.slots))))
	if err := t.slotM.grow(int64(8 * size)); err != nil {
		return err
	}
	old := t.slots
	t.slots = make([]uint64, size)
	mask := uint64(size - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		n := int(uint32(s)) - 1
		p := t.hash[n] & mask
		for t.slots[p] != 0 {
			p = (p + 1) & mask
		}
		t.slots[p] = s
	}
	return nil
}

// dropLast removes the key added last.
func (t *keyTable) dropLast() {
	n := uint32(len(t.keys))
	mask := uint64(len(t.slots) - 1)
	for p := t.hash[n-1] & mask; ; p = (p + 1) & mask {
		if uint32(t.slots[p]) == n {
			t.slots[p] = 0 // the last key added ends every probe chain it is on
			break
		}
	}
	t.keys, t.hash = t.keys[:n-1], t.hash[:n-1]
}
