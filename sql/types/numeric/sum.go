package numeric

import (
	"math/big"
	"math/bits"
)

// Sum adds many values without an allocation a value: a 128-bit total at the largest scale seen, big when that
// overflows. The zero value is an empty sum.
type Sum struct {
	hi    int64
	lo    uint64
	scale int32
	wide  *big.Int // everything that did not fit, at the same scale; nil mostly
	nan   int64
	pinf  int64
	ninf  int64
	count int64
}

// AddEncoded adds a stored value.
func (s *Sum) AddEncoded(b []byte) {
	if c, sc, ok := SmallOf(b); ok && int32(sc) == s.scale && s.addSmall(c) {
		s.count++
		return
	}
	s.Add(Decode(b))
}

// AddSmall adds coef / 10**scale.
func (s *Sum) AddSmall(coef int64, scale int) {
	if int32(scale) == s.scale && s.addSmall(coef) {
		s.count++
		return
	}
	s.Add(Num{coef: coef, scale: int32(scale)})
}

// AddInt64 adds an integer.
func (s *Sum) AddInt64(v int64) { s.AddSmall(v, 0) }

func (s *Sum) addSmall(c int64) bool {
	lo, carry := bits.Add64(s.lo, uint64(c), 0)
	hi := s.hi + c>>63 + int64(carry)
	// Overflow of the high word: both operands had one sign and the result the other.
	if (s.hi^hi)&((c>>63)^hi) < 0 {
		return false
	}
	s.lo, s.hi = lo, hi
	return true
}

// Add adds n.
func (s *Sum) Add(n Num) { s.step(n, 1) }

// Remove takes a value out that was added before (moving aggregates).
func (s *Sum) Remove(n Num) { s.step(n, -1) }

func (s *Sum) step(n Num, dir int64) {
	s.count += dir
	switch n.kind {
	case NaN:
		s.nan += dir
		return
	case PosInf:
		s.pinf += dir
		return
	case NegInf:
		s.ninf += dir
		return
	}
	if dir < 0 {
		n = n.Neg()
	}
	if n.scale > s.scale {
		s.rescale(n.scale)
	} else if n.scale < s.scale {
		n = n.scaleUp(int(s.scale - n.scale))
	}
	if n.big == nil && s.addSmall(n.coef) {
		return
	}
	if s.wide == nil {
		s.wide = new(big.Int)
	}
	s.wide.Add(s.wide, n.Coef())
}

func (s *Sum) rescale(scale int32) {
	if s.hi != 0 || s.lo != 0 || s.wide != nil {
		t := FromInt128(s.hi, s.lo, 0).Coef()
		if s.wide != nil {
			t = new(big.Int).Add(t, s.wide)
		}
		t = new(big.Int).Mul(t, bigPow(int(scale-s.scale)))
		s.hi, s.lo, s.wide = 0, 0, nil
		if t.IsInt64() {
			s.addSmall(t.Int64())
		} else {
			s.wide = t
		}
	}
	s.scale = scale
}

// Merge adds everything that o has.
func (s *Sum) Merge(o *Sum) {
	count := o.count
	if o.scale > s.scale {
		s.rescale(o.scale)
	}
	t := o.finite()
	s.step(t, 1)
	s.count += count - 1
	s.nan += o.nan
	s.pinf += o.pinf
	s.ninf += o.ninf
}

func (s *Sum) finite() Num {
	t := FromInt128(s.hi, s.lo, int(s.scale))
	if s.wide != nil {
		t = FromBig(new(big.Int).Add(t.Coef(), s.wide), int(s.scale))
	}
	return t
}

// Count returns how many values were added.
func (s *Sum) Count() int64 { return s.count }

// Total returns the sum.
func (s *Sum) Total() (Num, error) {
	switch {
	case s.nan > 0 || s.pinf > 0 && s.ninf > 0:
		return NotANumber, nil
	case s.pinf > 0:
		return Infinity, nil
	case s.ninf > 0:
		return NegInfinity, nil
	}
	return s.finite().check()
}

// Avg returns the sum divided by the count, which must not be 0.
func (s *Sum) Avg() (Num, error) {
	t, err := s.Total()
	if err != nil {
		return t, err
	}
	return Div(t, FromInt64(s.count))
}
