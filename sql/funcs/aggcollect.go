package funcs

import (
	"encoding/binary"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

func init() {
	regAgg(func(ci *CallInfo) func() Agg {
		return func() Agg { return &stringAgg{} }
	}, "string_agg")
	regAgg(func(ci *CallInfo) func() Agg {
		t := ci.ArgTypes[0]
		if e := elemOf(ci.Result, t); e != 0 {
			return func() Agg { return &stackAgg{elem: e} }
		}
		return func() Agg { return &arrayAgg{elem: t} }
	}, "array_agg")
}

// elemOf returns the element type when array_agg stacks arrays: its argument is an array of the result's type.
func elemOf(result, arg types.OID) types.OID {
	if result == arg {
		return types.ElemOf(arg)
	}
	return 0
}

// stringAgg is string_agg over text and bytea.
type stringAgg struct {
	g     []stringState
	bytes int64
}

type stringState struct {
	buf  []byte
	cut  int // length of the first delimiter, which the result leaves out; Combine puts it back
	seen bool
}

func (a *stringAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *stringAgg) Size() int64      { return int64(40*cap(a.g)) + a.bytes }
func (a *stringAgg) Reset()           { clear(a.g); a.g, a.bytes = a.g[:0], 0 }

// Drop implements Collector.
func (a *stringAgg) Drop(g int) {
	a.bytes -= int64(cap(a.g[g].buf))
	a.g[g] = stringState{}
}

func (a *stringAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	loop(n, sel, func(i int) {
		if args[0].IsNull(i) {
			return
		}
		s := &a.g[groups[i]]
		old := cap(s.buf)
		if !args[1].IsNull(i) {
			d := args[1].Bytes(i)
			if !s.seen {
				s.cut = len(d)
			}
			s.buf = append(s.buf, d...)
		}
		s.seen = true
		s.buf = append(s.buf, args[0].Bytes(i)...)
		a.bytes += int64(cap(s.buf) - old)
	})
	return nil
}

func (a *stringAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*stringAgg).g {
		if m[g] == ^uint32(0) || !o.seen {
			continue
		}
		s := &a.g[m[g]]
		if !s.seen {
			s.cut = o.cut
		}
		s.seen = true
		old := cap(s.buf)
		s.buf = append(s.buf, o.buf...)
		a.bytes += int64(cap(s.buf) - old)
	}
	return nil
}

func (a *stringAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if !a.g[g].seen {
			out.SetNull(g - from)
			continue
		}
		out.SetVar(g-from, a.g[g].buf[a.g[g].cut:])
	}
	return nil
}

// arrayAgg is array_agg of scalars: elements in the array's own form.
type arrayAgg struct {
	elem  types.OID
	g     []arrayState
	bytes int64
}

type arrayState struct {
	buf   []byte
	n     int
	nulls bool
}

func (a *arrayAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *arrayAgg) Size() int64      { return int64(40*cap(a.g)) + a.bytes }
func (a *arrayAgg) Reset()           { clear(a.g); a.g, a.bytes = a.g[:0], 0 }

// Drop implements Collector.
func (a *arrayAgg) Drop(g int) {
	a.bytes -= int64(cap(a.g[g].buf))
	a.g[g] = arrayState{}
}

func (a *arrayAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	loop(n, sel, func(i int) {
		s := &a.g[groups[i]]
		old := cap(s.buf)
		s.n++
		if v.IsNull(i) {
			s.nulls = true
			s.buf = binary.LittleEndian.AppendUint32(s.buf, ^uint32(0))
		} else {
			at := len(s.buf)
			s.buf = types.EncodeValue(append(s.buf, 0, 0, 0, 0), a.elem, v.Datum(i))
			binary.LittleEndian.PutUint32(s.buf[at:], uint32(len(s.buf)-at-4))
		}
		a.bytes += int64(cap(s.buf) - old)
	})
	return nil
}

func (a *arrayAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*arrayAgg).g {
		if m[g] == ^uint32(0) {
			continue
		}
		s := &a.g[m[g]]
		old := cap(s.buf)
		s.buf = append(s.buf, o.buf...)
		s.n += o.n
		s.nulls = s.nulls || o.nulls
		a.bytes += int64(cap(s.buf) - old)
	}
	return nil
}

func (a *arrayAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		s := &a.g[g]
		if s.n == 0 {
			out.SetNull(g - from)
			continue
		}
		if err := types.CheckArraySize([]int{s.n}); err != nil {
			return err
		}
		b := types.BuildArray(out.Start(), a.elem, []int{s.n}, nil)
		for p := 0; p < len(s.buf); {
			n := binary.LittleEndian.Uint32(s.buf[p:])
			p += 4
			if n == ^uint32(0) {
				b.Null()
				continue
			}
			b.Raw(s.buf[p : p+int(n)])
			p += int(n)
		}
		out.Finish(g-from, b.Buf)
	}
	return nil
}

// stackAgg is array_agg of arrays: one more dimension.
type stackAgg struct {
	elem  types.OID
	g     [][][]byte
	bytes int64
}

func (a *stackAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *stackAgg) Size() int64      { return int64(24*cap(a.g)) + a.bytes }
func (a *stackAgg) Reset()           { clear(a.g); a.g, a.bytes = a.g[:0], 0 }

// Drop implements Collector.
func (a *stackAgg) Drop(g int) {
	for _, b := range a.g[g] {
		a.bytes -= int64(len(b) + 24)
	}
	a.g[g] = nil
}

func (a *stackAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	return loopErr(n, sel, func(i int) error {
		if args[0].IsNull(i) {
			return sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		b := args[0].Bytes(i)
		arr := types.ReadArray(b)
		if arr.NDim() == 0 {
			return sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate empty arrays")
		}
		s := &a.g[groups[i]]
		if len(*s) > 0 && !sameShape(types.ReadArray((*s)[0]), arr) {
			return sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
		}
		*s = append(*s, append([]byte(nil), b...))
		a.bytes += int64(len(b) + 24)
		return nil
	})
}

func sameShape(a, b types.Array) bool {
	if a.NDim() != b.NDim() {
		return false
	}
	for i := range a.NDim() {
		if a.Dim(i) != b.Dim(i) {
			return false
		}
	}
	return true
}

func (a *stackAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*stackAgg).g {
		if m[g] == ^uint32(0) {
			continue
		}
		a.g[m[g]] = append(a.g[m[g]], o...)
		for _, b := range o {
			a.bytes += int64(len(b) + 24)
		}
	}
	return nil
}

func (a *stackAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		parts := a.g[g]
		if len(parts) == 0 {
			out.SetNull(g - from)
			continue
		}
		lens, lowers := types.ReadArray(parts[0]).Dims()
		lens, lowers = append([]int{len(parts)}, lens...), append([]int{1}, lowers...)
		if len(lens) > types.MaxDim {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(lens), types.MaxDim)
		}
		if err := types.CheckArraySize(lens); err != nil {
			return err
		}
		b := types.BuildArray(out.Start(), a.elem, lens, lowers)
		for _, p := range parts {
			for it := types.ReadArray(p).Iter(); it.Next(); {
				if it.Null {
					b.Null()
				} else {
					b.Raw(it.Val)
				}
			}
		}
		out.Finish(g-from, b.Buf)
	}
	return nil
}
