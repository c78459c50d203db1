package funcs

import (
	"bytes"
	"cmp"

	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/vec"
)

type cmpOp uint8

const (
	opEQ cmpOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

func (op cmpOp) of(c int) bool {
	switch op {
	case opEQ:
		return c == 0
	case opNE:
		return c != 0
	case opLT:
		return c < 0
	case opLE:
		return c <= 0
	case opGT:
		return c > 0
	}
	return c >= 0
}

var opNames = [...]string{"eq", "ne", "lt", "le", "gt", "ge"}

// mask is what a row number is ANDed with to index a vector: 0 for a constant.
func mask(v *vec.Vector) int {
	if v.Const {
		return 0
	}
	return -1
}

// cmpLoop compares two slices. NaN equals itself and is above everything; for integers those tests vanish.
func cmpLoop[T int64 | float64](op cmpOp, n int, sel []uint16, a, b []T, ma, mb int, o []bool) {
	if sel != nil {
		cmpLoopSel(op, sel, a, b, ma, mb, o)
		return
	}
	switch op {
	case opEQ:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x == y || x != x && y != y
		}
	case opNE:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x != y && (x == x || y == y)
		}
	case opLT:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x < y || y != y && x == x
		}
	case opLE:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x <= y || y != y
		}
	case opGT:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x > y || x != x && y == y
		}
	case opGE:
		for i := 0; i < n; i++ {
			x, y := a[i&ma], b[i&mb]
			o[i] = x >= y || x != x
		}
	}
}

func cmpLoopSel[T int64 | float64](op cmpOp, sel []uint16, a, b []T, ma, mb int, o []bool) {
	switch op {
	case opEQ:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x == y || x != x && y != y
		}
	case opNE:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x != y && (x == x || y == y)
		}
	case opLT:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x < y || y != y && x == x
		}
	case opLE:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x <= y || y != y
		}
	case opGT:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x > y || x != x && y == y
		}
	case opGE:
		for _, s := range sel {
			x, y := a[int(s)&ma], b[int(s)&mb]
			o[s] = x >= y || x != x
		}
	}
}

func intCmp(op cmpOp) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		cmpLoop(op, n, sel, a[0].Int, a[1].Int, mask(a[0]), mask(a[1]), out.Bool)
		return nil
	}
}

func floatCmp(op cmpOp) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		cmpLoop(op, n, sel, a[0].Float, a[1].Float, mask(a[0]), mask(a[1]), out.Bool)
		return nil
	}
}

// bytesCmp compares KindBytes values with f.
func bytesCmp(op cmpOp, f func(a, b []byte) int) Kernel {
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, o := a[0], a[1], out.Bool
		if sel == nil {
			for i := 0; i < n; i++ {
				o[i] = op.of(f(x.Bytes(i), y.Bytes(i)))
			}
			return nil
		}
		for _, s := range sel {
			o[s] = op.of(f(x.Bytes(int(s)), y.Bytes(int(s))))
		}
		return nil
	}
}

// textCmp compares by bytes; views' prefixes decide most comparisons without touching the buffers.
func textCmp(op cmpOp) Kernel {
	one := func(x, y *vec.Vector, i int) bool {
		v, w := x.Var[x.At(i)], y.Var[y.At(i)]
		if op <= opNE && v.Len != w.Len {
			return op == opNE
		}
		if v.Prefix != w.Prefix {
			if v.Prefix < w.Prefix {
				return op.of(-1)
			}
			return op.of(1)
		}
		return op.of(bytes.Compare(x.Bytes(i), y.Bytes(i)))
	}
	return func(_ *Ctx, n int, sel []uint16, a []*vec.Vector, out *vec.Vector) error {
		x, y, o := a[0], a[1], out.Bool
		if sel == nil {
			for i := 0; i < n; i++ {
				o[i] = one(x, y, i)
			}
			return nil
		}
		for _, s := range sel {
			o[s] = one(x, y, int(s))
		}
		return nil
	}
}

func boolCmp(op cmpOp) Kernel {
	return lift(func(r *row) error { return r.RetBool(op.of(boolOrder(r.Bool(0), r.Bool(1)))) }, &CallInfo{})
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// typeCmp compares with types.Compare by the type of the first argument (arrays, records, enums ...).
func typeCmp(op cmpOp) Maker {
	return func(ci *CallInfo) Kernel {
		return lift(func(r *row) error {
			return r.RetBool(op.of(types.Compare(r.ci.ArgTypes[0], r.ci.Collation, r.Datum(0), r.Datum(1))))
		}, ci)
	}
}

func init() {
	for op, name := range opNames {
		op := cmpOp(op)
		ints := []string{"date_" + name, "time_" + name, "timestamp_" + name, "cash_" + name, "oid" + name, "xid8" + name}
		for _, p := range []string{"int2", "int4", "int8", "int24", "int42", "int28", "int82", "int48", "int84"} {
			ints = append(ints, p+name)
		}
		reg(intCmp(op), ints...)
		reg(floatCmp(op), "float4"+name, "float8"+name, "float48"+name, "float84"+name)
		reg(boolCmp(op), "bool"+name)
		text := "text_" + name
		if op <= opNE {
			text = "text" + name
		}
		reg(textCmp(op), text, "name"+name, "bytea"+name, "uuid_"+name, "char"+name, "name"+name+"text", "text"+name+"name")
		reg(bytesCmp(op, func(a, b []byte) int { return bytes.Compare(types.TrimPad(a), types.TrimPad(b)) }), "bpchar"+name)
		reg(numCmp(op), "numeric_"+name)
		for sym, t := range map[string]types.OID{"interval_": types.IntervalOID, "timetz_": types.TimeTZOID, "jsonb_": types.JSONBOID, "bit": types.VarbitOID, "tid": types.TIDOID, "oidvector": types.OIDVectorOID} {
			reg(bytesCmp(op, func(a, b []byte) int { return types.Compare(t, 0, types.Bytes(a), types.Bytes(b)) }), sym+name)
		}
		for _, sym := range []string{"array_", "record_", "enum_"} {
			register(sym+name, typeCmp(op))
		}
		registerTimeCmp(name, func(c int) types.Datum { return types.Bool(op.of(c)) })
	}
	reg(intCmp(opEQ), "xideq", "cideq")
	reg(intCmp(opNE), "xidneq")
	for _, op := range []cmpOp{opLT, opLE, opGT, opGE} {
		reg(textCmp(op), "text_pattern_"+opNames[op])
		reg(bytesCmp(op, func(a, b []byte) int { return bytes.Compare(types.TrimPad(a), types.TrimPad(b)) }), "bpchar_pattern_"+opNames[op])
	}
	registerTimeCmp("cmp", func(c int) types.Datum { return types.Int(int64(c)) })
	registerThreeWay()
}

// registerTimeCmp registers the comparisons between date, timestamp and timestamptz.
func registerTimeCmp(name string, result func(c int) types.Datum) {
	kinds := []struct {
		sym string
		get func(r *row, k int) (int64, bool) // value and whether it has a zone
	}{
		{"date", func(r *row, k int) (int64, bool) { return dateToStamp(r.Int(k)), false }},
		{"timestamp", func(r *row, k int) (int64, bool) { return r.Int(k), false }},
		{"timestamptz", func(r *row, k int) (int64, bool) { return r.Int(k), true }},
	}
	for i, a := range kinds {
		for j, b := range kinds {
			if i == j {
				continue
			}
			each(func(r *row) error {
				x, zx := a.get(r, 0)
				y, zy := b.get(r, 1)
				if zx != zy { // the one without zone is local time
					if zx {
						y = toUTC(y, r.c.IO)
					} else {
						x = toUTC(x, r.c.IO)
					}
				}
				return r.RetDatum(result(cmp.Compare(x, y)))
			}, a.sym+"_"+name+"_"+b.sym)
		}
	}
}

// dateToStamp converts a date for comparison: too late a date compares as infinity would.
func dateToStamp(d int64) int64 {
	switch d {
	case datetime.DateInfinity:
		return datetime.Infinity
	case datetime.DateNegInfinity:
		return datetime.NegInfinity
	}
	ts, ok := datetime.Join(d, 0)
	if !ok && d > 0 {
		return datetime.Infinity - 1
	}
	return ts
}

func toUTC(local int64, io *types.IOContext) int64 {
	if datetime.IsInfinite(local) || local == datetime.Infinity-1 {
		return local
	}
	return datetime.LocalToUTC(local, io.Zone)
}

// registerThreeWay registers the btree support functions, which SQL can call too.
func registerThreeWay() {
	ints := "btint2cmp btint4cmp btint8cmp btint24cmp btint42cmp btint28cmp btint82cmp btint48cmp btint84cmp btoidcmp date_cmp time_cmp timestamp_cmp cash_cmp xid8cmp"
	each(func(r *row) error { return r.RetInt(int64(cmp.Compare(r.Int(0), r.Int(1)))) }, fields(ints)...)
	each(func(r *row) error { return r.RetInt(int64(types.CompareFloat(r.Float(0), r.Float(1)))) },
		"btfloat4cmp", "btfloat8cmp", "btfloat48cmp", "btfloat84cmp")
	each(func(r *row) error { return r.RetInt(int64(boolOrder(r.Bool(0), r.Bool(1)))) }, "btboolcmp")
	each(func(r *row) error { return r.RetInt(int64(bytes.Compare(r.Bytes(0), r.Bytes(1)))) },
		"bttextcmp", "btnamecmp", "btnametextcmp", "bttextnamecmp", "byteacmp", "uuid_cmp", "btcharcmp", "bttext_pattern_cmp")
	each(func(r *row) error {
		return r.RetInt(int64(types.Compare(r.Type(0), r.ci.Collation, r.Datum(0), r.Datum(1))))
	}, "bpcharcmp", "btbpchar_pattern_cmp", "numeric_cmp", "interval_cmp", "timetz_cmp", "jsonb_cmp", "bitcmp", "bttidcmp", "btoidvectorcmp",
		"btarraycmp", "btrecordcmp", "enum_cmp")
	// larger and smaller
	each(func(r *row) error { return r.RetInt(max(r.Int(0), r.Int(1))) },
		fields("int2larger int4larger int8larger oidlarger date_larger time_larger timestamp_larger cashlarger xid8_larger")...)
	each(func(r *row) error { return r.RetInt(min(r.Int(0), r.Int(1))) },
		fields("int2smaller int4smaller int8smaller oidsmaller date_smaller time_smaller timestamp_smaller cashsmaller xid8_smaller")...)
	pick := func(want int) rowFunc {
		return func(r *row) error {
			if types.Compare(r.Type(0), r.ci.Collation, r.Datum(0), r.Datum(1))*want >= 0 {
				return r.RetArg(0)
			}
			return r.RetArg(1)
		}
	}
	each(pick(1), fields("float4larger float8larger numeric_larger text_larger bpchar_larger interval_larger timetz_larger array_larger enum_larger tidlarger")...)
	each(pick(-1), fields("float4smaller float8smaller numeric_smaller text_smaller bpchar_smaller interval_smaller timetz_smaller array_smaller enum_smaller tidsmaller")...)
}
