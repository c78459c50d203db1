package storage

import (
	"fmt"
	"slices"

	"herd/storage/btree"
)

// ownMove is a move of an overlay's tree to private blocks that goes on in a goroutine of its own, while the overlay takes
// new changes into another tree. Until settle the goroutine alone uses the overlay's mover, writer and pinned.
type ownMove struct {
	top   *ownNode
	base  *ownBase // what had moved before; nil at first
	bytes int64    // booked for what is moved
	count int      // of Root.count, what next takes the place of

	pinned int // of Overlay.pinned, those of the moves before

	done  chan struct{}
	next  *ownBase // the result, in the place of top and base
	err   error
	panic any
}

// moveAhead begins to move all changes in memory to private blocks, when the move before it is done. On error they are in memory
// as before.
func (o *Overlay) moveAhead() error {
	if err := o.settle(); err != nil {
		return err
	}
	if o.root.mid != nil { // a move failed, or it was undone: what is newer must wait
		o.begin(o.root.mid, o.root.base.rows())
		if err := o.settle(); err != nil {
			return err
		}
	}
	if o.root.top == nil && o.root.base == nil {
		o.toTree()
	}
	if o.root.top == nil { // what was there has been rolled back
		o.acct.Shrink(o.bytes)
		o.bytes = 0
		o.fresh()
		return nil
	}
	if err := o.report(); err != nil {
		return err
	}
	top := o.root.top
	o.root.top, o.root.mid = nil, top
	o.fresh()
	o.begin(top, o.root.count)
	return nil
}

// fresh lets new changes use new memory: the old is the move's, and captured roots may point there.
func (o *Overlay) fresh() {
	o.slab, o.arena, o.chunk = nil, nil, nil
	o.stamp++
}

// begin starts the goroutine that moves top, which nobody changes any more. count is at most how many entries of Root.count are
// those of top and of what moved before.
func (o *Overlay) begin(top *ownNode, count int) {
	if o.mover == nil {
		o.mover = &btree.Editor{Page: o.st.page, Loader: o.st}
	}
	m := &ownMove{top: top, base: o.root.base, bytes: o.bytes, count: count, pinned: len(o.pinned), done: make(chan struct{})}
	o.moving = m
	go func() {
		defer close(m.done)
		defer func() { m.panic = recover() }()
		m.err = o.run(m)
	}()
}

// run makes m.next. It is the move's goroutine.
func (o *Overlay) run(m *ownMove) error {
	m.next = &ownBase{st: o.st}
	if m.base != nil {
		*m.next = *m.base
		m.next.runs = slices.Clone(m.base.runs)
	}
	o.mover.Reset(o.st.ver.Add(1))
	if err := o.moveAll(m); err != nil {
		return err
	}
	return o.adopt(m.next)
}

// settle waits for the move that goes on, if one does, and makes its result the contents. Its error is that of the move:
// the changes are then in memory as before.
func (o *Overlay) settle() error {
	m := o.moving
	if m == nil {
		return nil
	}
	o.takeOver()
	if m.panic != nil {
		panic(m.panic) // on the goroutine of the session, which knows what to do with it
	}
	if r := &o.root; r.mid != m.top || r.base != m.base { // it was rolled back meanwhile: nobody wants the result, and Reset drops the blocks
		return nil
	}
	if m.err != nil {
		return fmt.Errorf("move a transaction's changes to private blocks: %w", m.err)
	}
	o.acct.Shrink(m.bytes)
	o.bytes -= m.bytes
	o.root.count += m.next.rows() - m.count
	o.root.mid, o.root.base = nil, m.next
	return nil
}

// takeOver waits for the move that goes on and makes its blocks the overlay's. Those of one that failed go at once: it may be tried again
// many times.
func (o *Overlay) takeOver() {
	m := o.moving
	<-m.done
	o.moving = nil
	created := appendAlive(nil, o.mover.Created)
	o.mover.Created, o.mover.Retired = nil, nil
	if m.err == nil && m.panic == nil {
		o.private = append(o.private, created...)
		return
	}
	for _, h := range o.pinned[m.pinned:] {
		h.Unpin()
	}
	o.pinned = o.pinned[:m.pinned]
	o.st.dropPrivate(created)
}

// move moves all changes to private blocks. On error nothing has changed.
func (o *Overlay) move() error {
	if err := o.moveAhead(); err != nil {
		return err
	}
	return o.settle()
}
