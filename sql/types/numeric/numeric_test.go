package numeric

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// sample returns a random decimal text of up to 25 digits before and 12 after the point.
func sample(rng *rand.Rand) string {
	var b strings.Builder
	if rng.IntN(2) == 0 {
		b.WriteByte('-')
	}
	digits := func(n int) {
		for range n {
			b.WriteByte('0' + byte(rng.IntN(10)))
		}
	}
	digits(1 + rng.IntN(1+rng.IntN(25)))
	if rng.IntN(3) > 0 {
		b.WriteByte('.')
		digits(1 + rng.IntN(1+rng.IntN(12)))
	}
	return b.String()
}

func mustParse(t *testing.T, s string) Num {
	t.Helper()
	n, err := Parse([]byte(s))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return n
}

func rat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q", s)
	}
	return r
}

// TestAgainstRationals compares exact operations with math/big.
func TestAgainstRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		s1, s2 := sample(rng), sample(rng)
		a, b := mustParse(t, s1), mustParse(t, s2)
		x, y := rat(t, s1), rat(t, s2)
		check := func(op string, n Num, err error, want *big.Rat) {
			if err != nil {
				t.Fatalf("%s %s %s: %v", s1, op, s2, err)
			}
			if rat(t, n.String()).Cmp(want) != 0 {
				t.Fatalf("%s %s %s = %s, want %s", s1, op, s2, n, want.FloatString(30))
			}
		}
		sum, err := Add(a, b)
		check("+", sum, err, new(big.Rat).Add(x, y))
		diff, err := Sub(a, b)
		check("-", diff, err, new(big.Rat).Sub(x, y))
		prod, err := Mul(a, b)
		check("*", prod, err, new(big.Rat).Mul(x, y))
		if got, want := a.Cmp(b), x.Cmp(y); got != want {
			t.Fatalf("%s against %s: %d, want %d", s1, s2, got, want)
		}
		if got := Compare(a.Encode(nil), b.Encode(nil)); got != x.Cmp(y) {
			t.Fatalf("stored %s against %s: %d", s1, s2, got)
		}
		if b.Sign() != 0 {
			q, err := DivTrunc(a, b)
			m, err2 := Mod(a, b)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			back, _ := Mul(q, b)
			back, _ = Add(back, m)
			check("div and mod", back, nil, x)
			d, err := Div(a, b)
			if err != nil {
				t.Fatal(err)
			}
			// The quotient is right to half a unit of its last place.
			e := new(big.Rat).Sub(rat(t, d.String()), new(big.Rat).Quo(x, y))
			unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), bigPow(d.Scale())))
			if e.Abs(e).Cmp(unit) > 0 {
				t.Fatalf("%s / %s = %s", s1, s2, d)
			}
		}
		forms(t, a)
		scale := rng.IntN(20) - 5
		r := a.Round(scale)
		e := new(big.Rat).Sub(rat(t, r.String()), x)
		half := new(big.Rat).SetFrac(bigPow(6), new(big.Int).Mul(big.NewInt(2), bigPow(6+max(scale, -6))))
		if e.Abs(e).Cmp(half) > 0 {
			t.Fatalf("round(%s, %d) = %s", s1, scale, r)
		}
		if f, c := a.Floor(), a.Ceil(); f.Cmp(a) > 0 || c.Cmp(a) < 0 || !f.IsIntegral() || !c.IsIntegral() {
			t.Fatalf("floor and ceil of %s: %s %s", s1, f, c)
		}
	}
}

// forms takes a value through text, the stored form and the binary form.
func forms(t *testing.T, a Num) {
	t.Helper()
	if b := Decode(a.Encode(nil)); b.Cmp(a) != 0 || b.String() != a.String() {
		t.Fatalf("stored %s came back as %s", a, b)
	}
	b, err := ParseBinary(a.AppendBinary(nil))
	if err != nil || b.String() != a.String() {
		t.Fatalf("binary %s came back as %s %v", a, b, err)
	}
	c, err := Parse([]byte(a.String()))
	if err != nil || c.String() != a.String() {
		t.Fatalf("text %s came back as %s %v", a, c, err)
	}
}

func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var s, left, right Sum
		want := Zero
		n := 1 + rng.IntN(100)
		for i := range n {
			v := mustParse(t, sample(rng))
			if rng.IntN(3) == 0 {
				v = New(int64(rng.Uint64()), 2)
			}
			s.AddEncoded(v.Encode(nil))
			if i%2 == 0 {
				left.Add(v)
			} else {
				right.Add(v)
			}
			want, _ = Add(want, v)
		}
		got, err := s.Total()
		if err != nil || got.Cmp(want) != 0 || s.Count() != int64(n) {
			t.Fatalf("sum %s of %d, want %s of %d", got, s.Count(), want, n)
		}
		left.Merge(&right)
		if got, _ := left.Total(); got.Cmp(want) != 0 || left.Count() != int64(n) {
			t.Fatalf("merged sum %s of %d, want %s of %d", got, left.Count(), want, n)
		}
		v := mustParse(t, sample(rng))
		left.Add(v)
		left.Remove(v)
		if got, _ := left.Total(); got.Cmp(want) != 0 {
			t.Fatalf("sum after removal %s, want %s", got, want)
		}
	}
	var s Sum
	s.Add(Infinity)
	if got, _ := s.Total(); got.Kind() != PosInf {
		t.Error("sum of Infinity", got)
	}
	s.Add(NegInfinity)
	if got, _ := s.Total(); !got.IsNaN() {
		t.Error("sum of both infinities", got)
	}
}

func TestAllocs(t *testing.T) {
	a, b := New(12345, 2), New(-67, 2)
	var buf [64]byte
	enc, text := a.Encode(nil), []byte("123.45")
	var s Sum
	s.Add(a)
	for name, f := range map[string]func(){
		"Add": func() { Add(a, b) }, "Mul": func() { Mul(a, b) }, "Div": func() { Div(a, b) }, "Cmp": func() { a.Cmp(b) }, "Append": func() { a.Append(buf[:0]) },
		"Decode": func() { Decode(enc) }, "Encode": func() { a.Encode(buf[:0]) }, "Sum": func() { s.AddEncoded(enc) }, "Parse": func() { Parse(text) },
	} {
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestRoundLosesAllDigits(t *testing.T) {
	big, err := Parse([]byte("5.5e131071"))
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []int{-131073, -131074, -1000000} {
		if r := big.Round(scale); r.Sign() != 0 {
			t.Errorf("round(5.5e131071, %d) has %d digits", scale, len(r.String()))
		}
	}
	if r := big.Round(-131071); len(r.String()) != 131072 {
		t.Errorf("round(5.5e131071, -131071) has %d digits", len(r.String()))
	}
}
