package numeric

import (
	"bytes"
	"math/big"

	"herd/sql/sqlerr"
)

func syntax(s []byte) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%s\"", s)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// Parse reads PostgreSQL's text form of a numeric; blanks around it are allowed.
func Parse(text []byte) (Num, error) {
	s := text
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if len(s) == 0 {
		return Num{}, syntax(text)
	}
	body, neg := s, false
	if body[0] == '-' || body[0] == '+' {
		neg = body[0] == '-'
		body = body[1:]
	}
	if len(body) == 0 {
		return Num{}, syntax(text)
	}
	if c := body[0]; c != '.' && (c < '0' || c > '9') {
		switch {
		case bytes.EqualFold(s, []byte("nan")):
			return NotANumber, nil
		case bytes.EqualFold(body, []byte("infinity")), bytes.EqualFold(body, []byte("inf")):
			if neg {
				return NegInfinity, nil
			}
			return Infinity, nil
		}
		return Num{}, syntax(text)
	}
	return parseFinite(text, body, neg)
}

func parseFinite(text, body []byte, neg bool) (Num, error) {
	var coef uint64
	var wide []byte // all digits, once coef would overflow
	digits, scale := 0, 0
	seenDot := false
	i := 0
	for ; i < len(body); i++ {
		c := body[i]
		if c == '.' && !seenDot {
			seenDot = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if seenDot {
			scale++
		}
		switch {
		case wide != nil:
			wide = append(wide, c)
		case coef > (1<<63-10)/10:
			wide = append(big.NewInt(0).SetUint64(coef).Append(make([]byte, 0, len(body)+20), 10), c)
		default:
			coef = coef*10 + uint64(c-'0')
		}
	}
	if digits == 0 {
		return Num{}, syntax(text)
	}
	exp, ok, err := parseExp(body[i:])
	if err != nil {
		return Num{}, err
	}
	if !ok {
		return Num{}, syntax(text)
	}
	n := Num{coef: int64(coef), scale: int32(scale)}
	if wide != nil {
		b, _ := new(big.Int).SetString(string(wide), 10)
		n = FromBig(b, scale)
	}
	if neg {
		n = n.Neg()
	}
	if exp != 0 {
		if n, err = n.shift(exp); err != nil {
			return n, err
		}
	}
	return n.check()
}

// parseExp reads e[+-]digits or nothing.
func parseExp(s []byte) (exp int, ok bool, err error) {
	if len(s) == 0 {
		return 0, true, nil
	}
	if s[0] != 'e' && s[0] != 'E' || len(s) == 1 {
		return 0, false, nil
	}
	s = s[1:]
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false, nil
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false, nil
		}
		if exp = exp*10 + int(c-'0'); exp > 1<<30 {
			return 0, true, overflow()
		}
	}
	if neg {
		exp = -exp
	}
	return exp, true, nil
}

// shift multiplies by 10**exp; digits after the point become fewer or more.
func (n Num) shift(exp int) (Num, error) {
	s := int(n.scale) - exp
	if s > MaxScale {
		if n.Sign() == 0 || s > MaxScale {
			return n, overflow()
		}
	}
	if s >= 0 {
		n.scale = int32(s)
		return n, nil
	}
	if n.Sign() == 0 {
		return Num{}, nil
	}
	if -s+n.digits() > MaxDigits {
		return n, overflow()
	}
	n.scale = 0
	return n.scaleUp(-s), nil
}

// scaleUp multiplies the coefficient by 10**k without a change of scale.
func (n Num) scaleUp(k int) Num {
	if n.big == nil {
		if k < len(pow10) {
			if r, ok := mul64(n.coef, pow10[k]); ok {
				n.coef = r
				return n
			}
		}
		if n.coef == 0 {
			return n
		}
	}
	return FromBig(new(big.Int).Mul(n.Coef(), bigPow(k)), int(n.scale))
}
