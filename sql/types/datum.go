package types

import "math"

// Datum is one value outside a vector: a constant, a parameter, a key column, an aggregate's input.
// Which field counts follows from KindOf(type): B for KindBytes, I for KindInt, KindBool (0 or 1) and KindFloat (IEEE bits).
type Datum struct {
	B    []byte
	I    int64
	Null bool
}

// NullDatum is the SQL NULL of any type.
var NullDatum = Datum{Null: true}

// Int makes a KindInt datum.
func Int(v int64) Datum { return Datum{I: v} }

// Bool makes a KindBool datum.
func Bool(v bool) Datum {
	if v {
		return Datum{I: 1}
	}
	return Datum{}
}

// Float makes a KindFloat datum.
func Float(v float64) Datum { return Datum{I: int64(math.Float64bits(v))} }

// Bytes makes a KindBytes datum that aliases b.
func Bytes(b []byte) Datum { return Datum{B: b} }

// Text makes a KindBytes datum from a string (copied).
func Text(s string) Datum { return Datum{B: []byte(s)} }

// Float returns the value of a KindFloat datum.
func (d Datum) Float() float64 { return math.Float64frombits(uint64(d.I)) }

// Bool returns the value of a KindBool datum.
func (d Datum) Bool() bool { return d.I != 0 }
