package exec

import (
	"errors"

	"herd/internal/mem"
	"herd/sql/vec"
)

// partitionLeft divides the left input like the right one.
func (o *hashJoinOp) partitionLeft() error {
	var buf []byte
	for {
		b, err := o.left.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			return o.nextPart()
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		if err := o.lkeys.eval(o.st, b); err != nil {
			return err
		}
		each(b.N, b.Sel, func(i int) {
			if err != nil {
				return
			}
			k, ok := o.lkeys.row(i)
			buf = o.lcodec.encode(buf[:0], cols, i)
			err = o.parts.left.write(hashKey(k), k, ok, buf)
		})
		if err != nil {
			return err
		}
	}
}

// joinParts are the partition files of both sides, and the stack of partitions still to join.
type joinParts struct {
	env         *Env
	left, right *partitions
	todo        []joinPart
	cur         joinPart
}

func newJoinParts(env *Env, level int) (*joinParts, error) {
	return &joinParts{env: env, left: newPartitions(env, level), right: newPartitions(env, level)}, nil
}

func (p *joinParts) close() {
	if p == nil {
		return
	}
	p.left.close()
	p.right.close()
	for _, t := range p.todo {
		t.close()
	}
	p.cur.close()
	p.todo, p.cur = nil, joinPart{}
}

// stack moves the finished partitions to the list of work.
func (p *joinParts) stack() (err error) {
	p.todo, err = stackPairs(p.todo, p.left, p.right)
	return err
}

// morePart goes on with the next partition; false when there is none.
func (o *hashJoinOp) morePart() (bool, error) {
	if o.parts == nil || len(o.parts.todo) == 0 {
		o.over = true
		return false, nil
	}
	if err := o.nextPart(); err != nil {
		return false, err
	}
	return true, nil
}

// nextPart loads the next partition's right side and prepares to read its left side. A right side that does not fit is
// divided again by other bits of the hash.
func (o *hashJoinOp) nextPart() error {
	p := o.parts
	if err := p.stack(); err != nil {
		return err
	}
	for len(p.todo) > 0 {
		p.cur.close()
		p.cur = p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		split, err := o.loadPart(p.cur)
		if err != nil {
			return err
		}
		if split {
			continue
		}
		o.ended, o.lrows, o.read = false, nil, &spillReader{s: &spillFile{}}
		if p.cur.left != nil {
			o.read, err = p.cur.left.reader()
		}
		return err
	}
	o.ended = true
	o.table.open(o.st.env)
	return nil
}

func (o *hashJoinOp) loadPart(part joinPart) (split bool, err error) {
	o.table.open(o.st.env)
	if part.right == nil {
		return false, nil
	}
	r, err := part.right.reader()
	if err != nil {
		return false, err
	}
	for {
		rec, err := r.next()
		if err != nil || rec == nil {
			return false, err
		}
		_, k, ok, tuple := splitPart(rec)
		err = o.table.add(k, ok, tuple)
		if err == nil {
			continue
		}
		if !errors.Is(err, mem.ErrLimit) || part.level >= maxSpillLevel {
			return false, errMemory(err)
		}
		return true, o.repartition(part)
	}
}

// repartition divides both sides of a partition one level deeper.
func (o *hashJoinOp) repartition(part joinPart) error {
	p := o.parts
	o.table.open(o.st.env)
	p.left, p.right = newPartitions(p.env, part.level+1), newPartitions(p.env, part.level+1)
	for side, src := range []*spillFile{part.left, part.right} {
		if src == nil {
			continue
		}
		dst := p.left
		if side == 1 {
			dst = p.right
		}
		r, err := src.reader()
		if err != nil {
			return err
		}
		for {
			rec, err := r.next()
			if err != nil {
				return err
			}
			if rec == nil {
				break
			}
			h, k, ok, tuple := splitPart(rec)
			if err := dst.write(h, k, ok, tuple); err != nil {
				return err
			}
		}
	}
	return p.stack()
}
