package vec

import (
	"sync"

	"herd/sql/types"
)

// poolArenaMax is the largest arena in bytes that goes back to the pool with its vector.
const poolArenaMax = 1 << 16

var pool = sync.Pool{New: func() any { return &Vector{arena: -1} }}

// Get returns a vector from the pool, reset to n rows of the kind.
func Get(kind types.Kind, n int) *Vector {
	v := pool.Get().(*Vector)
	v.Reset(kind, n)
	return v
}

// Put gives v back to the pool. Nobody may use it afterwards. Shared memory and large arenas are not kept.
func Put(v *Vector) {
	if v == nil {
		return
	}
	if v.borrowed {
		v.Drop()
	}
	v.Kind = types.KindBytes
	v.Const, v.HasNulls, v.Dec, v.lazy = false, false, false, false
	v.Var = v.Var[:0]
	v.resetBufs()
	if v.hasArena && cap(v.Bufs[0]) > poolArenaMax {
		v.Bufs, v.hasArena, v.arena = nil, false, -1
	}
	pool.Put(v)
}
