package exec

import (
	"encoding/binary"

	"herd/internal/mem"
	"herd/sql/vec"
)

// hashRows is the build side of a hash join: rows chained by key.
type hashRows struct {
	rows   *rowStore
	single bool // the key is one integer, in ints
	ints   intTable
	keys   keyTable
	head   []int32 // by key number: first row + 1
	next   []int32 // by row: next row with the same key + 1
	seen   []bool  // by row: matched (right and full joins)
	direct bool    // every row has a key of its own: key n is that of row n
	extra  account
}

func (h *hashRows) open(env *Env) {
	h.rows.open(env)
	h.keys.open(env)
	h.ints.open(env)
	h.extra.release()
	h.rows.bytes.mem.use = mem.UseHash
	h.extra.open(env, mem.UseHash)
	h.direct = true
	h.head, h.next, h.seen = h.head[:0], h.next[:0], h.seen[:0]
}

func (h *hashRows) close() {
	h.rows.close()
	h.keys.close()
	h.ints.close()
	h.extra.release()
	h.head, h.next, h.seen = nil, nil, nil
}

// borrow makes h a reader of another table, which owns all of it and outlives h's use; what reading needs is h's own.
func (h *hashRows) borrow(from *hashRows) {
	h.rows.rows = from.rows.rows
	h.single, h.direct = from.single, from.direct
	h.ints.slots, h.ints.keys = from.ints.slots, from.ints.keys
	h.keys.slots, h.keys.keys, h.keys.hash = from.keys.slots, from.keys.keys, from.keys.hash
	h.head, h.next, h.seen = from.head, from.next, nil
}

// add stores a tuple under a key; without one (ok false) it never matches.
func (h *hashRows) add(k []byte, ok bool, tuple []byte) error {
	if !ok {
		return h.addTuple(tuple)
	}
	if h.single {
		return h.addInt(int64(binary.LittleEndian.Uint64(k[1:])), tuple)
	}
	n, _, err := h.keys.insert(hashKey(k), k)
	if err == nil {
		err = h.addTuple(tuple)
	}
	if err == nil {
		h.chain(n)
	}
	return err
}

// addInt is add for a key that is one integer.
func (h *hashRows) addInt(k int64, tuple []byte) error {
	n, _, err := h.ints.insert(k)
	if err == nil {
		err = h.addTuple(tuple)
	}
	if err == nil {
		h.chain(n)
	}
	return err
}

// addTuple stores a tuple that no key leads to.
func (h *hashRows) addTuple(tuple []byte) error {
	if len(h.next) == cap(h.next) {
		if err := h.extra.grow(int64(9 * max(64, cap(h.next)))); err != nil {
			return err
		}
	}
	if err := h.rows.addTuple(tuple); err != nil {
		return err
	}
	h.next, h.seen = append(h.next, 0), append(h.seen, false)
	return nil
}

// chain puts the last row under key n.
func (h *hashRows) chain(n int) {
	r := len(h.next) - 1
	if n != r {
		h.direct = false
	}
	if n == len(h.head) {
		h.head = append(h.head, 0)
	}
	h.next[r] = h.head[n]
	h.head[n] = int32(r + 1)
}

// key appends key number n as keySide.row makes it.
func (h *hashRows) key(dst []byte, n int) []byte {
	if !h.single {
		return h.keys.keys[n]
	}
	return binary.LittleEndian.AppendUint64(append(dst, 1), uint64(h.ints.keys[n]))
}

// owners returns the key number of each row, -1 for none.
func (h *hashRows) owners() []int32 {
	owner := make([]int32, len(h.next))
	for i := range owner {
		owner[i] = -1
	}
	for n, r := range h.head {
		for ; r > 0; r = h.next[r-1] {
			owner[r-1] = int32(n)
		}
	}
	return owner
}

// first returns the first row with the key, -1 when there is none; then next[row]-1.
func (h *hashRows) first(k []byte) int32 {
	n := h.keys.find(hashKey(k), k)
	if n < 0 || n >= len(h.head) {
		return -1
	}
	return h.head[n] - 1
}

// firstInts sets out to the first rows with the keys in v.
func (h *hashRows) firstInts(out []int32, v *vec.Vector, n int, sel []uint16) {
	if v.HasNulls || v.Const {
		each(n, sel, func(i int) {
			out[i] = -1
			if !v.IsNull(i) {
				out[i] = int32(h.ints.find(v.Int[v.At(i)]))
			}
		})
	} else if sel == nil {
		for i, k := range v.Int[:n] {
			out[i] = int32(h.ints.find(k))
		}
	} else {
		for _, i := range sel {
			out[i] = int32(h.ints.find(v.Int[i]))
		}
	}
	if h.direct {
		return
	}
	each(n, sel, func(i int) {
		if out[i] >= 0 {
			out[i] = h.head[out[i]] - 1
		}
	})
}
