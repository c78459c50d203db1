package exec

import (
	"errors"

	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// hashJoinOp builds a hash table of its right input and probes it with its left input. When memory is refused both inputs
// are divided by hash into partition files, which are then joined one after the other.
type hashJoinOp struct {
	st          *State
	typ         plan.JoinType
	left, right Operator
	lkeys       keySide
	rkeys       keySide
	cond        *filterProg
	nLeft       int
	nRight      int
	lcodec      *tupleCodec

	table hashRows
	built bool
	fixed bool // the right input does not depend on exec params: Rescan keeps the table
	parts *joinParts

	lb     *vec.Batch
	lrows  []uint16
	lbuf   []uint16
	ended  bool // no more left rows (of this partition)
	over   bool // everything is given
	cands  candidates
	pair   vec.Batch
	pairV  []vec.Vector
	tail   bool
	tailAt int
	// A left row whose chain was cut carries over whether it has matched: row number, -1 none.
	carryRow int
	carryHit bool
	outB     *outRows
	probe    *tupleBatch // left rows read back from a partition
	probeR   [][]byte
	read     *spillReader
}

// keySide evaluates one side's hash keys.
type keySide struct {
	progs []program
	vs    []*vec.Vector
	key   eqKey
	nulls []bool // NULL equals NULL in this column
}

func (c *compiler) keySide(keys []plan.HashKey, right bool) (keySide, error) {
	k := keySide{key: eqKey{cols: eqCols(keys)}}
	for _, h := range keys {
		e := h.Left
		if right {
			e = h.Right
		}
		p, err := c.compile(e)
		if err != nil {
			return k, err
		}
		k.progs, k.nulls = append(k.progs, p), append(k.nulls, h.NullsEqual)
	}
	k.vs = make([]*vec.Vector, len(k.progs))
	return k, nil
}

// eval computes the key columns of b.
func (k *keySide) eval(st *State, b *vec.Batch) error {
	f := frame{st: st, b: b, n: b.N}
	var err error
	for i, p := range k.progs {
		if k.vs[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	return nil
}

// row returns the key of row i; ok is false when a NULL keeps it from ever matching.
func (k *keySide) row(i int) (key []byte, ok bool) {
	ok = true
	b := k.key.buf[:0]
	for c := range k.key.cols {
		if !k.nulls[c] && k.vs[c].IsNull(i) {
			ok = false
		}
		b = k.key.cols[c].append(b, k.vs[c], i)
	}
	k.key.buf = b
	return b, ok
}

// hashRows is the build side: rows chained by key.
type hashRows struct {
	rows  *rowStore
	keys  keyTable
	head  []int32 // by key number: first row + 1
	next  []int32 // by row: next row with the same key + 1
	seen  []bool  // by row: matched (right and full joins, and right rows already emitted)
	extra account
}

func (h *hashRows) open(env *Env) {
	h.rows.open(env)
	h.keys.open(env)
	h.extra.release()
	h.extra.acct = env.Acct
	h.head, h.next, h.seen = h.head[:0], h.next[:0], h.seen[:0]
}

func (h *hashRows) close() {
	h.rows.close()
	h.keys.close()
	h.extra.release()
	h.head, h.next, h.seen = nil, nil, nil
}

// add stores a tuple under a key; without one (ok false) it never matches.
func (h *hashRows) add(hash uint64, k []byte, ok bool, tuple []byte) error {
	if len(h.next) == cap(h.next) {
		if err := h.extra.grow(int64(9 * max(64, cap(h.next)))); err != nil {
			return err
		}
	}
	n := -1
	if ok {
		var err error
		if n, _, err = h.keys.insert(hash, k); err != nil {
			return err
		}
	}
	if err := h.rows.addTuple(tuple); err != nil {
		return err
	}
	h.next, h.seen = append(h.next, 0), append(h.seen, false)
	if n >= 0 {
		if n == len(h.head) {
			h.head = append(h.head, 0)
		}
		h.next[len(h.next)-1] = h.head[n]
		h.head[n] = int32(len(h.next))
	}
	return nil
}

// first returns the first row with the key, -1 when there is none; then next[row]-1.
func (h *hashRows) first(hash uint64, k []byte) int32 {
	n := h.keys.find(hash, k)
	if n < 0 || n >= len(h.head) {
		return -1
	}
	return h.head[n] - 1
}

// candidates are pairs of left rows and build rows with equal keys, before the residual condition.
type candidates struct {
	left  []uint16
	right []int32
	start []int // for each left row in work: where its pairs begin
	rows  []uint16
	chain int32 // rest of the last left row's chain when the pairs were full, -1 none
}

func (s *State) buildHashJoin(n *plan.HashJoin) (Operator, error) {
	o := &hashJoinOp{st: s, typ: n.Type, fixed: !dependent(n.Right), nLeft: len(n.Left.Base().Cols), nRight: len(n.Right.Base().Cols)}
	var err error
	if o.left, err = s.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = s.build(n.Right); err != nil {
		return nil, err
	}
	c := s.compiler()
	if o.lkeys, err = c.keySide(n.Keys, false); err != nil {
		return nil, err
	}
	if o.rkeys, err = c.keySide(n.Keys, true); err != nil {
		return nil, err
	}
	if o.cond, err = c.filter(n.Cond); err != nil {
		return nil, err
	}
	lk, rk := kindsOf(n.Left), kindsOf(n.Right)
	o.lcodec = newTupleCodec(lk)
	o.table.rows = newRowStore(rk)
	o.pairV = make([]vec.Vector, o.nLeft+o.nRight)
	o.pair.Cols = make([]*vec.Vector, o.nLeft+o.nRight)
	kinds := append(append([]types.Kind{}, lk...), rk...)
	if n.Type == plan.JoinSemi || n.Type == plan.JoinAnti {
		kinds = lk
	}
	o.outB = newOutRows(kinds)
	o.probe = newTupleBatch(o.lcodec)
	o.pair.Src = (*pairSource)(o)
	return o, nil
}

func (o *hashJoinOp) clear() {
	o.lb, o.lrows, o.ended, o.over, o.tail, o.tailAt, o.read = nil, nil, false, false, false, 0, nil
	o.carry(-1, false)
	o.cands = candidates{left: o.cands.left[:0], right: o.cands.right[:0], start: o.cands.start[:0], rows: o.cands.rows[:0], chain: -1}
	o.built = false
	o.parts.close()
	o.parts = nil
}

func (o *hashJoinOp) Open(env *Env) error {
	o.clear()
	if err := o.right.Open(env); err != nil {
		return err
	}
	return o.left.Open(env)
}

func (o *hashJoinOp) Rescan() error {
	if keep := o.fixed && o.built && o.parts == nil; keep {
		o.clear()
		o.built = true
		clear(o.table.seen)
		return o.left.Rescan()
	}
	o.clear()
	if err := o.right.Rescan(); err != nil {
		return err
	}
	return o.left.Rescan()
}

func (o *hashJoinOp) Close() error {
	o.clear()
	o.table.close()
	err := o.left.Close()
	if e := o.right.Close(); err == nil {
		err = e
	}
	return err
}

// build reads the right input into the table.
func (o *hashJoinOp) build() error {
	o.built = true
	o.table.open(o.st.env)
	for {
		b, err := o.right.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		if err := o.rkeys.eval(o.st, b); err != nil {
			return err
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.addRight(cols, i)
			}
		})
		if err != nil {
			return errMemory(err)
		}
	}
	if o.parts != nil {
		return o.partitionLeft()
	}
	return nil
}

func (o *hashJoinOp) addRight(cols []*vec.Vector, i int) error {
	k, ok := o.rkeys.row(i)
	if !ok && o.typ != plan.JoinRight && o.typ != plan.JoinFull {
		return nil
	}
	h := hashKey(k)
	t := o.table.rows
	t.buf = t.codec.encode(t.buf[:0], cols, i)
	if o.parts == nil {
		err := o.table.add(h, k, ok, t.buf)
		if !errors.Is(err, mem.ErrLimit) || o.st.env.SpillFS == nil {
			return err
		}
		if o.parts, err = newJoinParts(o.st.env, 0); err != nil {
			return err
		}
		if err := o.spillTable(); err != nil {
			return err
		}
	}
	return o.parts.right.write(h, k, ok, t.buf)
}

// spillTable moves the rows that are in memory to partitions.
func (o *hashJoinOp) spillTable() error {
	t := &o.table
	owner := make([]int32, len(t.next))
	for i := range owner {
		owner[i] = -1
	}
	for n, r := range t.head {
		for ; r > 0; r = t.next[r-1] {
			owner[r-1] = int32(n)
		}
	}
	for r, tuple := range t.rows.rows {
		var k []byte
		if owner[r] >= 0 {
			k = t.keys.keys[owner[r]]
		}
		if err := o.parts.right.write(hashKey(k), k, owner[r] >= 0, tuple); err != nil {
			return err
		}
	}
	t.open(o.st.env)
	return nil
}

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

// Next collects joined rows.
func (o *hashJoinOp) Next(want int) (*vec.Batch, error) {
	if !o.built {
		if err := o.build(); err != nil {
			return nil, err
		}
	}
	o.outB.start(min(want, vec.MaxRows))
	for !o.outB.full() {
		more, err := o.step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return o.outB.batch(), nil
}

func (o *hashJoinOp) step() (bool, error) {
	switch {
	case o.over:
		return false, nil
	case o.tail:
		if o.unmatchedRight() {
			return true, nil
		}
		o.tail = false
		return o.morePart()
	case len(o.lrows) > 0:
		return true, o.joinRows()
	case o.ended:
		if o.typ == plan.JoinRight || o.typ == plan.JoinFull {
			o.tail, o.tailAt = true, 0
			return true, nil
		}
		return o.morePart()
	}
	if err := o.st.interrupt(); err != nil {
		return false, err
	}
	b, err := o.nextLeft()
	if err != nil {
		return false, err
	}
	if b == nil {
		o.ended = true
		return true, nil
	}
	o.lb = b
	if err := o.lkeys.eval(o.st, b); err != nil {
		return false, err
	}
	o.lbuf = fullSel(o.lbuf, b.N, b.Sel)
	o.lrows = o.lbuf
	o.cands.chain = -1
	return true, nil
}

// nextLeft reads probe rows: from the left input, or from the partition in work.
func (o *hashJoinOp) nextLeft() (*vec.Batch, error) {
	if o.parts == nil {
		return o.left.Next(o.outB.room())
	}
	o.probeR = o.probeR[:0]
	for len(o.probeR) < o.outB.room() {
		r, err := o.read.next()
		if err != nil {
			return nil, err
		}
		if r == nil {
			break
		}
		_, _, _, tuple := splitPart(r)
		o.probeR = append(o.probeR, tuple)
	}
	if len(o.probeR) == 0 {
		return nil, nil
	}
	return o.probe.set(o.probeR), nil
}

// joinRows takes left rows until the candidate pairs fill a batch, applies the condition and emits.
func (o *hashJoinOp) joinRows() error {
	limit := o.outB.room()
	c := &o.cands
	resume := c.chain
	c.left, c.right, c.start, c.rows, c.chain = c.left[:0], c.right[:0], c.start[:0], c.rows[:0], -1
	single := o.cond == nil && (o.typ == plan.JoinSemi || o.typ == plan.JoinAnti)
	used := 0 // output rows that the rows taken so far may need: a left row without partner may need one
	for len(o.lrows) > 0 && used < limit {
		i := o.lrows[0]
		r := resume
		if r < 0 {
			r = -1
			if k, ok := o.lkeys.row(int(i)); ok {
				r = o.table.first(hashKey(k), k)
			}
		}
		resume = -1
		c.rows, c.start = append(c.rows, i), append(c.start, len(c.left))
		if r < 0 {
			used++
		}
		for r >= 0 && used < limit {
			used++
			c.left, c.right = append(c.left, i), append(c.right, r)
			r = o.table.next[r] - 1
			if single {
				r = -1
			}
		}
		if r >= 0 { // more partners than fit: continue with this row next time
			c.chain = r
			break
		}
		o.lrows = o.lrows[1:]
	}
	return o.emit()
}

// emit applies the condition to the candidates and adds what joins to the output.
func (o *hashJoinOp) emit() error {
	c := &o.cands
	var sel []uint16
	n := len(c.left)
	if o.cond != nil && n > 0 {
		clear(o.pair.Cols)
		o.pair.N, o.pair.Sel = n, nil
		var err error
		if sel, err = o.cond.run(&frame{st: o.st, b: &o.pair, n: n}, nil); err != nil {
			return err
		}
	} else if n == 0 {
		sel = emptySel
	}
	lcols, err := allCols(o.lb)
	if err != nil {
		return err
	}
	at := 0 // position in sel
	for k, i := range c.rows {
		end := n
		if k+1 < len(c.start) {
			end = c.start[k+1]
		}
		hit := false
		for p := c.start[k]; p < end; p++ {
			if sel != nil {
				if at >= len(sel) || int(sel[at]) != p {
					continue
				}
				at++
			}
			hit = true
			o.joined(lcols, int(i), c.right[p])
			if o.typ == plan.JoinSemi || o.typ == plan.JoinAnti {
				for sel != nil && at < len(sel) && int(sel[at]) < end {
					at++
				}
				break
			}
		}
		o.finishRow(lcols, int(i), hit, k == len(c.rows)-1 && c.chain >= 0)
	}
	return nil
}

// joined adds one pair to the output.
func (o *hashJoinOp) joined(lcols []*vec.Vector, i int, r int32) {
	switch o.typ {
	case plan.JoinAnti, plan.JoinSemi:
		return
	case plan.JoinRight, plan.JoinFull:
		o.table.seen[r] = true
	}
	k := o.outB.addTuple(o.table.rows.codec, o.table.rows.rows[r], o.nLeft)
	for c, v := range lcols {
		o.outB.cols[c].Copy(k, v, i)
	}
}

// finishRow decides on a left row when all of its candidates were looked at (more false). A row whose chain goes on and that
// has matched carries this over in lmatched.
func (o *hashJoinOp) finishRow(lcols []*vec.Vector, i int, hit, more bool) {
	hit = hit || o.carried(i)
	switch {
	case more && o.typ == plan.JoinSemi && hit, more && o.typ == plan.JoinAnti && hit:
		o.cands.chain = -1 // decided: the rest of the chain does not matter
		o.lrows = o.lrows[1:]
	case more:
		o.carry(i, hit)
		return
	}
	o.carry(-1, false)
	switch {
	case o.typ == plan.JoinSemi && hit,
		o.typ == plan.JoinAnti && !hit:
		r := o.outB.grow()
		for c, v := range lcols {
			o.outB.cols[c].Copy(r, v, i)
		}
	case (o.typ == plan.JoinLeft || o.typ == plan.JoinFull) && !hit:
		r := o.outB.grow()
		for c, v := range lcols {
			o.outB.cols[c].Copy(r, v, i)
		}
		for c := range o.nRight {
			o.outB.cols[o.nLeft+c].SetNull(r)
		}
	}
}

// carried says whether left row i matched in an earlier part of its chain.
func (o *hashJoinOp) carried(i int) bool { return o.carryRow == i && o.carryHit }

func (o *hashJoinOp) carry(i int, hit bool) { o.carryRow, o.carryHit = i, hit }

// unmatchedRight adds build rows that no left row matched; false when all are done.
func (o *hashJoinOp) unmatchedRight() bool {
	t := &o.table
	for ; o.tailAt < len(t.seen) && !o.outB.full(); o.tailAt++ {
		if t.seen[o.tailAt] {
			continue
		}
		r := o.outB.addTuple(t.rows.codec, t.rows.rows[o.tailAt], o.nLeft)
		for c := range o.nLeft {
			o.outB.cols[c].SetNull(r)
		}
	}
	return o.tailAt < len(t.seen)
}

// pairSource decodes columns of candidate pairs for the residual condition.
type pairSource hashJoinOp

// DecodeColumn implements vec.Source.
func (p *pairSource) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	v := &p.pairV[col]
	if col < p.nLeft {
		src, err := p.lb.Col(col)
		if err != nil {
			return nil, err
		}
		v.Gather(src, len(p.cands.left), p.cands.left)
		return v, nil
	}
	c := p.table.rows.codec
	v.Reset(c.kinds[col-p.nLeft], b.N)
	for i, r := range p.cands.right {
		c.fill(v, i, p.table.rows.rows[r], col-p.nLeft)
	}
	return v, nil
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
		h, k, ok, tuple := splitPart(rec)
		err = o.table.add(h, k, ok, tuple)
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
