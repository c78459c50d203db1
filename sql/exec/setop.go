package exec

import (
	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/vec"
)

// setOperationOp is INTERSECT and EXCEPT: the right input is counted by key, the left input streams past it. When memory is
// refused, rows with keys that are not in the table go to partitions of both sides, which are done one after the other.
type setOperationOp struct {
	st          *State
	intersect   bool
	all         bool
	left, right Operator
	keys        keySide
	rkeys       keySide
	table       keyTable
	counts      []int64 // by key: right rows that still cancel or permit a left row; -1 already emitted (distinct)
	countM      account
	loaded      bool
	sel         []uint16

	codec        *tupleCodec // left rows
	full         bool        // the table takes no new keys
	lpart, rpart *partitions
	todo         []joinPart
	part         joinPart // in work
	inPart       bool
	cur          *spillReader
	batch        *tupleBatch
	rows         [][]byte
	buf          []byte
}

func (s *State) buildSetOperation(n *plan.SetOperation) (Operator, error) {
	o := &setOperationOp{st: s, intersect: n.Kind == plan.Intersect, all: n.All, codec: newTupleCodec(kindsOf(n.Left))}
	o.batch = newTupleBatch(o.codec)
	var err error
	if o.left, err = s.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = s.build(n.Right); err != nil {
		return nil, err
	}
	c := s.compiler()
	if o.keys, err = c.keySide(n.Keys, false); err != nil {
		return nil, err
	}
	o.rkeys, err = c.keySide(n.Keys, false)
	return o, err
}

func (o *setOperationOp) clear() {
	o.forget()
	for _, p := range []*partitions{o.lpart, o.rpart} {
		if p != nil {
			p.close()
		}
	}
	for _, t := range o.todo {
		t.close()
	}
	o.part.close()
	o.lpart, o.rpart, o.todo, o.part, o.inPart, o.cur = nil, nil, nil, joinPart{}, false, nil
}

// forget empties the table.
func (o *setOperationOp) forget() {
	o.loaded, o.full = false, false
	o.table.reset()
	o.countM.release()
	o.counts = o.counts[:0]
}

func (o *setOperationOp) Open(env *Env) error {
	o.clear()
	o.table.open(env)
	o.countM.open(env, mem.UseHash)
	if err := o.left.Open(env); err != nil {
		return err
	}
	return o.right.Open(env)
}

func (o *setOperationOp) Rescan() error {
	o.clear()
	if err := o.left.Rescan(); err != nil {
		return err
	}
	return o.right.Rescan()
}

func (o *setOperationOp) Close() error {
	o.clear()
	o.table.close()
	o.counts = nil
	err := o.left.Close()
	if e := o.right.Close(); err == nil {
		err = e
	}
	return err
}

// load counts the right rows.
func (o *setOperationOp) load() error {
	o.loaded = true
	if o.inPart {
		return o.loadPart()
	}
	for {
		b, err := o.right.Next(vec.MaxRows)
		if err != nil || b == nil {
			return err
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		if err := o.rkeys.eval(o.st, b); err != nil {
			return err
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				k, _ := o.rkeys.row2(i)
				err = o.count(k)
			}
		})
		if err != nil {
			return err
		}
	}
}

// loadPart counts the right rows of a partition.
func (o *setOperationOp) loadPart() error {
	if o.part.right == nil {
		return nil
	}
	r, err := o.part.right.reader()
	if err != nil {
		return err
	}
	for {
		rec, err := r.next()
		if err != nil || rec == nil {
			return err
		}
		_, k, _, _ := splitPart(rec)
		if err := o.count(k); err != nil {
			return err
		}
	}
}

// count counts a right row, here or in a partition.
func (o *setOperationOp) count(k []byte) error {
	h := hashKey(k)
	n, err := o.number(h, k)
	if err == nil {
		o.counts[n]++
	}
	if err != errSpillRow {
		return err
	}
	if o.rpart == nil {
		o.rpart = newPartitions(o.st.env, o.level())
	}
	return o.rpart.write(h, k, true, nil)
}

// level is that of partitions made now.
func (o *setOperationOp) level() int {
	if o.inPart {
		return o.part.level + 1
	}
	return 0
}

// number returns the number of a key, adding it; errSpillRow says that there is no memory for new ones.
func (o *setOperationOp) number(h uint64, k []byte) (int, error) {
	if o.full {
		if n := o.table.find(h, k); n >= 0 {
			return n, nil
		}
		return 0, errSpillRow
	}
	n, added, err := o.table.insert(h, k)
	if err == nil && added {
		if len(o.counts) == cap(o.counts) {
			err = o.countM.grow(int64(8 * max(16, cap(o.counts))))
		}
		if err == nil {
			o.counts = append(o.counts, 0)
			return n, nil
		}
		o.table.dropLast()
	}
	if err != nil && o.st.env.canSpill(err) && o.level() <= maxSpillLevel {
		o.full = true
		return 0, errSpillRow
	}
	return n, err
}

func (o *setOperationOp) Next(want int) (*vec.Batch, error) {
	for {
		if !o.loaded {
			if err := o.load(); err != nil {
				return nil, errMemory(err)
			}
		}
		b, err := o.input(want)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if more, err := o.nextPart(); err != nil || !more {
				return nil, err
			}
			continue
		}
		if err := o.keys.eval(o.st, b); err != nil {
			return nil, err
		}
		keep := reuse(o.sel, b.N)
		each(b.N, b.Sel, func(i int) {
			if err != nil {
				return
			}
			var pass bool
			if pass, err = o.pass(b, i); pass {
				keep = append(keep, uint16(i))
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

// input reads left rows: from the input operator, or from the partition in work.
func (o *setOperationOp) input(want int) (*vec.Batch, error) {
	if err := o.st.interrupt(); err != nil {
		return nil, err
	}
	if !o.inPart {
		return o.left.Next(want)
	}
	want = min(want, vec.MaxRows)
	o.rows = o.rows[:0]
	for len(o.rows) < want {
		rec, err := o.cur.next()
		if err != nil {
			return nil, err
		}
		if rec == nil {
			break
		}
		_, _, _, t := splitPart(rec)
		o.rows = append(o.rows, t)
	}
	if len(o.rows) == 0 {
		return nil, nil
	}
	return o.batch.set(o.rows), nil
}

// pass decides on left row i; a row that the table cannot decide goes to a partition.
func (o *setOperationOp) pass(b *vec.Batch, i int) (bool, error) {
	k, _ := o.keys.row2(i)
	h := hashKey(k)
	if o.intersect || o.all {
		n := o.table.find(h, k)
		if n < 0 && o.rpart != nil && o.rpart.of(h) != nil {
			return false, o.divert(b, i, h)
		}
		if n < 0 || o.counts[n] <= 0 {
			return !o.intersect, nil
		}
		o.counts[n]--
		if !o.all {
			o.counts[n] = 0
		}
		return o.intersect, nil
	}
	n, err := o.number(h, k)
	if err == errSpillRow {
		return false, o.divert(b, i, h)
	}
	if err != nil || o.counts[n] != 0 {
		return false, err
	}
	o.counts[n] = -1
	return true, nil
}

func (o *setOperationOp) divert(b *vec.Batch, i int, h uint64) error {
	cols, err := allCols(b)
	if err != nil {
		return err
	}
	if o.lpart == nil {
		o.lpart = newPartitions(o.st.env, o.level())
	}
	o.buf = o.codec.encode(o.buf[:0], cols, i)
	return o.lpart.write(h, nil, true, o.buf)
}

// nextPart goes on with the next partition; false when there is none.
func (o *setOperationOp) nextPart() (bool, error) {
	if o.lpart != nil {
		var err error
		if o.todo, err = stackPairs(o.todo, o.lpart, o.rpart); err != nil {
			return false, err
		}
	} else if o.rpart != nil {
		o.rpart.close() // nothing on the left asks for it
	}
	o.lpart, o.rpart = nil, nil
	o.part.close()
	o.part = joinPart{}
	if len(o.todo) == 0 {
		return false, nil
	}
	o.part = o.todo[len(o.todo)-1]
	o.todo = o.todo[:len(o.todo)-1]
	o.inPart = true
	o.forget()
	o.cur = &spillReader{s: &spillFile{}}
	var err error
	if o.part.left != nil {
		o.cur, err = o.part.left.reader()
	}
	return true, err
}
