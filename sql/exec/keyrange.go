package exec

import (
	"bytes"
	"math"
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
	"herd/sql/types/key"
)

// keyCol is how one column of an index or primary key is encoded.
type keyCol struct {
	attno            int16 // 0 = expression
	typ, coll        types.OID
	desc, nullsFirst bool
}

// colType returns the type of a column's values: the base type of a domain.
func colType(rel *catalog.Relation, attno int16) types.OID { return rel.Layout().Type(int(attno) - 1) }

// indexCols returns the key columns of an index of rel.
func indexCols(rel *catalog.Relation, ix *catalog.Index) []keyCol {
	cols := make([]keyCol, len(ix.Keys))
	for i, k := range ix.Keys {
		c := keyCol{attno: k.Attno, typ: k.Type, coll: k.Collation, desc: k.Desc, nullsFirst: k.NullsFirst}
		if k.Attno > 0 {
			a := &rel.Columns[k.Attno-1]
			c.typ = colType(rel, k.Attno)
			if c.coll == 0 {
				c.coll = a.Collation
			}
		}
		cols[i] = c
	}
	return cols
}

// append adds the order-preserving encoding of d.
func (c *keyCol) append(dst []byte, d types.Datum) []byte {
	return key.AppendKey(dst, c.typ, c.coll, c.desc, c.nullsFirst, d)
}

// byteRange is [lo, hi) of a tree; nil is unbounded.
type byteRange struct{ lo, hi []byte }

// rangeSet evaluates the key ranges of a scan. Expressions in it have no Slots.
type rangeSet struct {
	cols   []keyCol
	ranges []rangeProg
	out    []byteRange
}

type rangeProg struct {
	eq     []program // nil element = IS NULL
	in     int
	inElem types.OID
	lo, hi *boundProg
}

type boundProg struct {
	exprs []program
	incl  bool
}

// ranges compiles key ranges over the given key columns; no ranges means everything.
func (c *compiler) ranges(cols []keyCol, rs []plan.KeyRange) (*rangeSet, error) {
	set := &rangeSet{cols: cols}
	for _, r := range rs {
		p := rangeProg{in: r.In}
		for i, e := range r.Eq {
			if e == nil {
				p.eq = append(p.eq, nil)
				continue
			}
			x, err := c.compile(e)
			if err != nil {
				return nil, err
			}
			if i == r.In {
				p.inElem = arrayElem(e.T().Type, cols[i].typ)
			}
			p.eq = append(p.eq, x)
		}
		var err error
		if p.lo, err = c.bound(r.Lo); err != nil {
			return nil, err
		}
		if p.hi, err = c.bound(r.Hi); err != nil {
			return nil, err
		}
		if n := len(r.Eq); n < len(cols) && cols[n].desc {
			p.lo, p.hi = p.hi, p.lo // from here on in key order
		}
		set.ranges = append(set.ranges, p)
	}
	return set, nil
}

func (c *compiler) bound(b *plan.Bound) (*boundProg, error) {
	if b == nil || len(b.Exprs) == 0 {
		return nil, nil
	}
	ps, err := c.compileAll(b.Exprs)
	return &boundProg{exprs: ps, incl: b.Inclusive}, err
}

// eval computes the ranges in key order without overlap.
func (s *rangeSet) eval(st *State) ([]byteRange, error) {
	s.out = s.out[:0]
	if len(s.ranges) == 0 {
		s.out = append(s.out, byteRange{})
		return s.out, nil
	}
	f := &frame{st: st, n: 1}
	for i := range s.ranges {
		if err := s.one(f, &s.ranges[i], nil, 0); err != nil {
			return nil, err
		}
	}
	if len(s.out) > 1 {
		s.merge()
	}
	return s.out, nil
}

// one encodes the equality columns from position k on, branching at the list column, then the bounds.
func (s *rangeSet) one(f *frame, p *rangeProg, prefix []byte, k int) error {
	for ; k < len(p.eq); k++ {
		c := &s.cols[k]
		if p.eq[k] == nil {
			prefix = c.append(prefix, types.NullDatum)
			continue
		}
		d, err := evalOne(f, p.eq[k])
		if err != nil || d.Null {
			return err
		}
		if k == p.in {
			return s.list(f, p, prefix, k, d)
		}
		if fitInt(c.typ, d.I) != 0 {
			return nil
		}
		prefix = c.append(prefix, d)
	}
	return s.bounds(f, p, prefix)
}

// list branches over the elements of the array in column k.
func (s *rangeSet) list(f *frame, p *rangeProg, prefix []byte, k int, arr types.Datum) error {
	elems, err := arrayElems(p.inElem, arr.B)
	if err != nil {
		return err
	}
	c := &s.cols[k]
	for _, d := range elems {
		if d.Null || fitInt(c.typ, d.I) != 0 {
			continue
		}
		if err := s.one(f, p, c.append(prefix[:len(prefix):len(prefix)], d), k+1); err != nil {
			return err
		}
	}
	return nil
}

// bounds adds the range below prefix that the bounds leave.
func (s *rangeSet) bounds(f *frame, p *rangeProg, prefix []byte) error {
	prefix = prefix[:len(prefix):len(prefix)]
	r := byteRange{lo: prefix, hi: successor(prefix)}
	if len(prefix) == 0 {
		r = byteRange{}
	}
	if p.lo == nil && p.hi == nil {
		s.out = append(s.out, r)
		return nil
	}
	next := &s.cols[len(p.eq)]
	null := next.append(prefix, types.NullDatum)
	if next.nullsFirst {
		r.lo = successor(null)
	} else {
		r.hi = null
	}
	if p.lo != nil {
		enc, cut, err := s.encodeBound(f, p, p.lo, prefix)
		if err != nil || cut == cutNull || cut == cutAfter {
			return err
		}
		if cut == cutNone {
			if r.lo = enc; !p.lo.incl {
				r.lo = successor(enc)
			}
		}
	}
	if p.hi != nil {
		enc, cut, err := s.encodeBound(f, p, p.hi, prefix)
		if err != nil || cut == cutNull || cut == cutBefore {
			return err
		}
		if cut == cutNone {
			if r.hi = enc; p.hi.incl {
				r.hi = successor(enc)
			}
		}
	}
	if r.hi == nil || bytes.Compare(r.lo, r.hi) < 0 {
		s.out = append(s.out, r)
	}
	return nil
}

// Where a bound's value lies outside of what the column's type can hold, in key order.
const (
	cutNone = iota
	cutBefore
	cutAfter
	cutNull
)

func (s *rangeSet) encodeBound(f *frame, p *rangeProg, b *boundProg, prefix []byte) ([]byte, int, error) {
	enc := prefix
	for i, e := range b.exprs {
		c := &s.cols[len(p.eq)+i]
		d, err := evalOne(f, e)
		if err != nil {
			return nil, 0, err
		}
		if d.Null {
			return nil, cutNull, nil
		}
		if fit := fitInt(c.typ, d.I); fit != 0 {
			if (fit < 0) != c.desc {
				return nil, cutBefore, nil
			}
			return nil, cutAfter, nil
		}
		enc = c.append(enc, d)
	}
	return enc, cutNone, nil
}

// fitInt is -1 or 1 when v is below or above what integer type t holds; 0 when it fits or t is no narrow integer.
func fitInt(t types.OID, v int64) int {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch t {
	case types.Int2OID:
		lo, hi = math.MinInt16, math.MaxInt16
	case types.Int4OID:
		lo, hi = math.MinInt32, math.MaxInt32
	case types.OIDOID:
		lo, hi = 0, math.MaxUint32
	default:
		return 0
	}
	switch {
	case v < lo:
		return -1
	case v > hi:
		return 1
	}
	return 0
}

// successor returns the first key that is greater than all keys with prefix p; nil when there is none.
func successor(p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			s := append([]byte(nil), p[:i+1]...)
			s[i]++
			return s
		}
	}
	return nil
}

// merge sorts the ranges and joins those that overlap or touch.
func (s *rangeSet) merge() {
	slices.SortFunc(s.out, func(a, b byteRange) int { return bytes.Compare(a.lo, b.lo) })
	w := 0
	for _, r := range s.out[1:] {
		last := &s.out[w]
		if last.hi == nil {
			break
		}
		if bytes.Compare(r.lo, last.hi) <= 0 {
			if r.hi == nil || bytes.Compare(r.hi, last.hi) > 0 {
				last.hi = r.hi
			}
			continue
		}
		w++
		s.out[w] = r
	}
	s.out = s.out[:w+1]
}

// evalOne evaluates an expression without input columns.
func evalOne(f *frame, p program) (types.Datum, error) {
	v, err := p.eval(f, nil)
	if err != nil {
		return types.NullDatum, err
	}
	return v.Datum(0), nil
}
