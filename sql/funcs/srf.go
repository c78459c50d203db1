package funcs

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// SetFunc is a running set-returning function.
type SetFunc interface {
	// Next sets up to want rows of out (one vector a column, reset to want rows) and returns their number, 0 at the end.
	Next(c *Ctx, want int, out []*vec.Vector) (n int, err error)
	Close()
}

// setStart starts a set-returning function for one row of arguments, which belong to the function.
type setStart = func(c *Ctx, args []types.Datum) (SetFunc, error)

// setMaker makes the starter of a call site; nil when the types are not supported.
type setMaker func(ci *CallInfo) setStart

// setFuncs maps the C symbol of a set-returning function, or its name when it is written in SQL, to its implementation.
var setFuncs = map[string]setMaker{}

func regSet(m setMaker, symbols ...string) {
	for _, s := range symbols {
		setFuncs[s] = m
	}
}

// LookupSet returns the starter of a call of a set-returning function, false when there is no implementation. A NULL
// argument of a strict function gives no rows.
func LookupSet(ci CallInfo) (func(*Ctx, []types.Datum) (SetFunc, error), bool) {
	p := pgdata.FuncByOID(ci.Func)
	if p == nil {
		return nil, false
	}
	m := setFuncs[p.Src]
	if m == nil {
		m = setFuncs[p.Name]
	}
	if m == nil {
		return nil, false
	}
	f := m(&ci)
	if f == nil {
		return nil, false
	}
	if !p.Strict {
		return f, true
	}
	return func(c *Ctx, args []types.Datum) (SetFunc, error) {
		for _, a := range args {
			if a.Null {
				return emptySet{}, nil
			}
		}
		return f(c, args)
	}, true
}

// SetExists says whether a set-returning function has an implementation.
func SetExists(fn types.OID) bool {
	p := pgdata.FuncByOID(fn)
	return p != nil && (setFuncs[p.Src] != nil || setFuncs[p.Name] != nil)
}

// emptySet gives no rows.
type emptySet struct{}

func (emptySet) Next(*Ctx, int, []*vec.Vector) (int, error) { return 0, nil }
func (emptySet) Close()                                     {}

// genSet calls a function for one row at a time.
type genSet struct {
	next func(c *Ctx, i int, out []*vec.Vector) (bool, error)
	done bool
}

func (s *genSet) Next(c *Ctx, want int, out []*vec.Vector) (int, error) {
	n := 0
	for n < want && !s.done {
		ok, err := s.next(c, n, out)
		if err != nil {
			return 0, err
		}
		if !ok {
			s.done = true
			break
		}
		n++
	}
	return n, nil
}

func (s *genSet) Close() { s.next = nil; s.done = true }

// listSet gives rows that are all there.
func listSet(rows int, set func(c *Ctx, row, i int, out []*vec.Vector) error) SetFunc {
	at := 0
	return &genSet{next: func(c *Ctx, i int, out []*vec.Vector) (bool, error) {
		if at >= rows {
			return false, nil
		}
		at++
		return true, set(c, at-1, i, out)
	}}
}

func init() {
	ints := func(ci *CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) {
			step := int64(1)
			if len(a) > 2 {
				step = a[2].I
			}
			if step == 0 {
				return nil, invalidParam("step size cannot equal zero")
			}
			return &intSeries{at: a[0].I, stop: a[1].I, step: step}, nil
		}
	}
	regSet(ints, "generate_series_int4", "generate_series_step_int4", "generate_series_int8", "generate_series_step_int8")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return unnestSet(a[0].B), nil }
	}, "array_unnest")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return subscripts(a) }
	}, "generate_subscripts", "generate_subscripts_nodir")
}

// intSeries is generate_series over integers.
type intSeries struct {
	at, stop, step int64
	done           bool
}

func (s *intSeries) Next(_ *Ctx, want int, out []*vec.Vector) (int, error) {
	n := 0
	for n < want && !s.done && (s.step > 0 && s.at <= s.stop || s.step < 0 && s.at >= s.stop) {
		out[0].Int[n] = s.at
		n++
		next := s.at + s.step
		s.done = (next > s.at) != (s.step > 0) // overflow ends the series
		s.at = next
	}
	return n, nil
}

func (s *intSeries) Close() { s.done = true }

// unnestSet gives the elements of an array in storage order.
func unnestSet(b []byte) SetFunc {
	a := types.ReadArray(b)
	it := a.Iter()
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		if it.Null {
			setAll(out, i, types.NullDatum)
			return true, nil
		}
		d := types.DecodeValue(a.Elem(), it.Val)
		if len(out) == 1 {
			out[0].SetDatum(i, d)
			return true, nil
		}
		rec := types.ReadRecord(d.B)
		for _, v := range out {
			if rec.Next() {
				v.SetDatum(i, rec.Datum())
			} else {
				v.SetNull(i)
			}
		}
		return true, nil
	}}
}

func setAll(out []*vec.Vector, i int, d types.Datum) {
	for _, v := range out {
		v.SetDatum(i, d)
	}
}

// subscripts is generate_subscripts(array, dimension [, reverse]).
func subscripts(a []types.Datum) (SetFunc, error) {
	arr := types.ReadArray(a[0].B)
	d := int(a[1].I)
	if d < 1 || d > arr.NDim() {
		return emptySet{}, nil
	}
	lo := int64(arr.Lower(d - 1))
	hi := lo + int64(arr.Dim(d-1)) - 1
	if len(a) > 2 && a[2].I != 0 {
		return &intSeries{at: hi, stop: lo, step: -1}, nil
	}
	return &intSeries{at: lo, stop: hi, step: 1}, nil
}
