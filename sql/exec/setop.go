package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// setOperationOp is INTERSECT and EXCEPT: the right input is counted by key, the left input streams past it.
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
}

func (s *State) buildSetOperation(n *plan.SetOperation) (Operator, error) {
	o := &setOperationOp{st: s, intersect: n.Kind == plan.Intersect, all: n.All}
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

func (o *setOperationOp) Open(env *Env) error {
	o.loaded = false
	o.table.open(env)
	o.countM.release()
	o.countM.acct = env.Acct
	if err := o.left.Open(env); err != nil {
		return err
	}
	return o.right.Open(env)
}

func (o *setOperationOp) Rescan() error {
	o.loaded = false
	o.table.reset()
	o.countM.release()
	if err := o.left.Rescan(); err != nil {
		return err
	}
	return o.right.Rescan()
}

func (o *setOperationOp) Close() error {
	o.table.close()
	o.countM.release()
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
	o.counts = o.counts[:0]
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
				var n int
				n, err = o.number(&o.rkeys, i)
				if err == nil {
					o.counts[n]++
				}
			}
		})
		if err != nil {
			return errMemory(err)
		}
	}
}

// number returns the key number of row i, adding the key.
func (o *setOperationOp) number(ks *keySide, i int) (int, error) {
	k, _ := ks.row2(i)
	n, added, err := o.table.insert(hashKey(k), k)
	if err != nil || !added {
		return n, err
	}
	if len(o.counts) == cap(o.counts) {
		if err := o.countM.grow(int64(8 * max(16, cap(o.counts)))); err != nil {
			return n, err
		}
	}
	o.counts = append(o.counts, 0)
	return n, nil
}

func (o *setOperationOp) Next(want int) (*vec.Batch, error) {
	if !o.loaded {
		if err := o.load(); err != nil {
			return nil, err
		}
	}
	for {
		b, err := o.left.Next(want)
		if err != nil || b == nil {
			return nil, err
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
			if pass, err = o.pass(i); pass {
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

// pass decides on left row i.
func (o *setOperationOp) pass(i int) (bool, error) {
	k, _ := o.keys.row2(i)
	if o.intersect || o.all {
		n := o.table.find(hashKey(k), k)
		if n < 0 || o.counts[n] <= 0 {
			return !o.intersect, nil
		}
		o.counts[n]--
		if !o.all {
			o.counts[n] = 0
		}
		return o.intersect, nil
	}
	n, err := o.number(&o.keys, i)
	if err != nil || o.counts[n] != 0 {
		return false, err
	}
	o.counts[n] = -1
	return true, nil
}
