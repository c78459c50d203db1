package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// row is one row of a call: the arguments and the place of the result. Kernels of functions that are not worth a loop of
// their own are written over it (see each).
type row struct {
	c    *Ctx
	ci   *CallInfo
	args []*vec.Vector
	out  *vec.Vector
	i    int
	// scratch belongs to the call site and survives between rows and batches (compiled patterns, parsed constants).
	scratch any
}

// N returns the number of arguments.
func (r *row) N() int { return len(r.args) }

// Null says whether argument k is NULL (only functions that are not strict ask).
func (r *row) Null(k int) bool { return r.args[k].IsNull(r.i) }

// Int returns argument k of an integer class type.
func (r *row) Int(k int) int64 {
	v := r.args[k]
	if v.Const {
		return v.Int[0]
	}
	return v.Int[r.i]
}

// Float returns argument k of a float type.
func (r *row) Float(k int) float64 {
	v := r.args[k]
	if v.Const {
		return v.Float[0]
	}
	return v.Float[r.i]
}

// Bool returns boolean argument k.
func (r *row) Bool(k int) bool {
	v := r.args[k]
	if v.Const {
		return v.Bool[0]
	}
	return v.Bool[r.i]
}

// Bytes returns argument k of a bytes class type; it must not be modified.
func (r *row) Bytes(k int) []byte { return r.args[k].Bytes(r.i) }

// Str returns argument k as a string (a copy).
func (r *row) Str(k int) string { return string(r.args[k].Bytes(r.i)) }

// Num returns numeric argument k.
func (r *row) Num(k int) numeric.Num { return numeric.Decode(r.args[k].Bytes(r.i)) }

// Interval returns interval argument k.
func (r *row) Interval(k int) datetime.Interval { return types.DecodeInterval(r.args[k].Bytes(r.i)) }

// Array returns array argument k.
func (r *row) Array(k int) types.Array { return types.ReadArray(r.args[k].Bytes(r.i)) }

// Datum returns argument k as a datum that aliases it.
func (r *row) Datum(k int) types.Datum { return r.args[k].Datum(r.i) }

// Type returns the type of argument k.
func (r *row) Type(k int) types.OID { return r.ci.ArgTypes[k] }

// Const says whether argument k is the same for all rows.
func (r *row) Const(k int) bool { return r.args[k].Const }

func (r *row) RetNull() error               { r.out.SetNull(r.i); return nil }
func (r *row) RetInt(v int64) error         { r.out.Int[r.i] = v; return nil }
func (r *row) RetFloat(v float64) error     { r.out.Float[r.i] = v; return nil }
func (r *row) RetBool(v bool) error         { r.out.Bool[r.i] = v; return nil }
func (r *row) RetBytes(b []byte) error      { r.out.SetVar(r.i, b); return nil }
func (r *row) RetStr(s string) error        { r.out.SetString(r.i, s); return nil }
func (r *row) RetDatum(d types.Datum) error { r.out.SetDatum(r.i, d); return nil }
func (r *row) RetNumOK(n numeric.Num) error { r.out.Finish(r.i, n.Encode(r.out.Start())); return nil }
func (r *row) RetArg(k int) error           { r.out.Copy(r.i, r.args[k], r.i); return nil }
func (r *row) Start() []byte                { return r.out.Start() }
func (r *row) Finish(b []byte) error        { r.out.Finish(r.i, b); return nil }
func (r *row) RetInterval(v datetime.Interval, err error) error {
	if err != nil {
		return err
	}
	return r.Finish(types.EncodeInterval(r.Start(), v))
}

// RetNum returns a numeric or passes the error on.
func (r *row) RetNum(n numeric.Num, err error) error {
	if err != nil {
		return err
	}
	return r.RetNumOK(n)
}

// RetI returns an integer or passes the error on.
func (r *row) RetI(v int64, err error) error {
	if err != nil {
		return err
	}
	return r.RetInt(v)
}

// rowFunc computes one row.
type rowFunc func(r *row) error

// getRow takes a row header from the context's free list.
func (c *Ctx) getRow() *row {
	if n := len(c.rows); n > 0 {
		r := c.rows[n-1]
		c.rows = c.rows[:n-1]
		return r
	}
	return &row{}
}

func (c *Ctx) putRow(r *row) {
	*r = row{}
	c.rows = append(c.rows, r)
}

// each registers a function computed row by row. The kernels of different call sites share nothing.
func each(f rowFunc, symbols ...string) {
	for _, s := range symbols {
		register(s, func(ci *CallInfo) Kernel { return lift(f, ci) })
	}
}

// lift makes a kernel of a row function.
func lift(f rowFunc, ci *CallInfo) Kernel {
	var scratch any
	site := *ci
	return func(c *Ctx, n int, sel []uint16, args []*vec.Vector, out *vec.Vector) error {
		r := c.getRow()
		r.c, r.ci, r.args, r.out, r.scratch = c, &site, args, out, scratch
		var err error
		if sel == nil {
			for i := 0; i < n; i++ {
				r.i = i
				if err = f(r); err != nil {
					break
				}
			}
		} else {
			for _, i := range sel {
				r.i = int(i)
				if err = f(r); err != nil {
					break
				}
			}
		}
		scratch = r.scratch
		c.putRow(r)
		return err
	}
}

func unsupported(format string, args ...any) error { return sqlerr.Unsupported(format, args...) }

func invalidParam(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func outOfRange(what string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", what)
}

func divisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }
