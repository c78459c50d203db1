package exec

import (
	"bytes"
	"errors"

	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/vec"
)

// distinctOp is plan.Distinct: the first row of every key. Hashed, it spills rows with keys that no longer fit to partitions
// and does those afterwards.
type distinctOp struct {
	st     *State
	in     Operator
	keys   keySide
	sorted bool
	seen   keyTable
	last   []byte
	any    bool
	sel    []uint16
	ended  bool
	full   bool // the table takes no new keys
	codec  *tupleCodec
	parts  *partitions
	todo   []distinctPart
	part   distinctPart // being read
	cur    *spillReader
	batch  *tupleBatch
	rows   [][]byte
	buf    []byte
}

type distinctPart struct {
	f     *spillFile
	level int
}

func (s *State) buildDistinct(n *plan.Distinct) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	ks, err := s.compiler().keySide(n.Keys, false)
	codec := newTupleCodec(kindsOf(n.Input))
	return &distinctOp{st: s, in: in, keys: ks, sorted: n.Sorted, codec: codec, batch: newTupleBatch(codec)}, err
}

func (o *distinctOp) clear() {
	o.any, o.ended, o.full, o.cur = false, false, false, nil
	if o.parts != nil {
		o.parts.close()
		o.parts = nil
	}
	for _, t := range o.todo {
		t.f.close()
	}
	o.part.f.close()
	o.todo, o.part = nil, distinctPart{}
}

func (o *distinctOp) Open(env *Env) error {
	o.clear()
	o.seen.open(env)
	return o.in.Open(env)
}

func (o *distinctOp) Rescan() error {
	o.clear()
	o.seen.reset()
	return o.in.Rescan()
}

func (o *distinctOp) Close() error {
	o.clear()
	o.seen.close()
	return o.in.Close()
}

func (o *distinctOp) Next(want int) (*vec.Batch, error) {
	for {
		if err := o.st.interrupt(); err != nil {
			return nil, err
		}
		b, err := o.input(want)
		if err != nil || b == nil {
			return nil, err
		}
		if err := o.keys.eval(o.st, b); err != nil {
			return nil, err
		}
		keep := reuse(o.sel, b.N)
		var cols []*vec.Vector
		each(b.N, b.Sel, func(i int) {
			if err != nil {
				return
			}
			var first bool
			if first, err = o.first(i); first {
				keep = append(keep, uint16(i))
			}
			if errors.Is(err, errSpillRow) {
				if cols == nil {
					if cols, err = allCols(b); err != nil {
						return
					}
				}
				o.buf = o.codec.encode(o.buf[:0], cols, i)
				k, _ := o.keys.row(i)
				err = o.parts.write(hashKey(k), nil, true, o.buf)
			}
		})
		if err != nil {
			return nil, errMemory(err)
		}
		o.sel = keep
		if len(keep) > 0 {
			b.Sel = keep
			return b, nil
		}
	}
}

var errSpillRow = errors.New("row belongs to a spilled partition")

// first says whether row i is the first with its key; errSpillRow sends it to a partition.
func (o *distinctOp) first(i int) (bool, error) {
	k, _ := o.keys.row(i)
	if o.sorted {
		if o.any && bytes.Equal(k, o.last) {
			return false, nil
		}
		o.any = true
		o.last = append(o.last[:0], k...)
		return true, nil
	}
	h := hashKey(k)
	if o.full {
		if o.seen.find(h, k) >= 0 {
			return false, nil
		}
		return false, errSpillRow
	}
	_, added, err := o.seen.insert(h, k)
	if errors.Is(err, mem.ErrLimit) && o.st.env.SpillFS != nil && o.seen.len() > 0 {
		level := 0
		if o.part.f != nil {
			level = o.part.level + 1
		}
		if level > maxSpillLevel {
			return false, err
		}
		o.full = true
		o.parts = newPartitions(o.st.env, level)
		return false, errSpillRow
	}
	return added, err
}

// input reads the next rows: from the input operator, then from partitions one after the other.
func (o *distinctOp) input(want int) (*vec.Batch, error) {
	if !o.ended {
		b, err := o.in.Next(want)
		if err != nil || b != nil {
			return b, err
		}
		o.ended = true
	}
	want = min(want, vec.MaxRows)
	if len(o.rows) < want {
		o.rows = make([][]byte, vec.MaxRows)
	}
	for {
		n := 0
		for o.cur != nil && n < want {
			rec, err := o.cur.next()
			if err != nil {
				return nil, err
			}
			if rec == nil {
				o.cur = nil
				break
			}
			_, _, _, o.rows[n] = splitPart(rec)
			n++
		}
		if n > 0 {
			return o.batch.set(o.rows[:n]), nil
		}
		if more, err := o.nextPart(); err != nil || !more {
			return nil, err
		}
	}
}

// nextPart opens the next partition with an empty table.
func (o *distinctOp) nextPart() (bool, error) {
	o.part.f.close()
	o.part = distinctPart{}
	if o.parts != nil {
		var err error
		if o.todo, err = o.parts.stack(o.todo); err != nil {
			return false, err
		}
		o.parts = nil
	}
	if len(o.todo) == 0 {
		return false, nil
	}
	o.part = o.todo[len(o.todo)-1]
	o.todo = o.todo[:len(o.todo)-1]
	r, err := o.part.f.reader()
	if err != nil {
		return false, err
	}
	o.seen.reset()
	o.full, o.cur = false, r
	return true, nil
}
