package funcs

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"herd/sql/sqlerr"
	"herd/sql/types/numeric"
)

// Functions and operators of schema mysql. Strings compare by MySQL's collation utf8mb4_general_ci: a weight for each
// character, and blanks at the end do not count.

func init() {
	cmp := func(symbol string, want func(c int) bool) {
		each(func(r *row) error { return r.RetBool(want(mysqlCompare(r.Bytes(0), r.Bytes(1)))) }, symbol)
	}
	cmp("mysql_texteq", func(c int) bool { return c == 0 })
	cmp("mysql_textne", func(c int) bool { return c != 0 })
	cmp("mysql_textlt", func(c int) bool { return c < 0 })
	cmp("mysql_textle", func(c int) bool { return c <= 0 })
	cmp("mysql_textgt", func(c int) bool { return c > 0 })
	cmp("mysql_textge", func(c int) bool { return c >= 0 })
	each(func(r *row) error { return r.Finish(appendFold(r.Start(), r.Bytes(0))) }, "mysql_fold")
	each(func(r *row) error { return r.Finish(appendFold(r.Start(), bytes.TrimRight(r.Bytes(0), " "))) }, "mysql_weight")
	like := func(symbol string, want bool) {
		each(func(r *row) error {
			ok, err := mysqlLike(r.Bytes(0), r.Bytes(1))
			if err != nil {
				return err
			}
			return r.RetBool(ok == want)
		}, symbol)
	}
	like("mysql_textlike", true)
	like("mysql_textnlike", false)
	each(func(r *row) error { return r.RetBool(r.Int(0) != 0) }, "mysql_truth_int")
	each(func(r *row) error { return r.RetBool(r.Float(0) != 0) }, "mysql_truth_float")
	each(func(r *row) error { return r.RetBool(r.Num(0).Sign() != 0) }, "mysql_truth_numeric")
	each(func(r *row) error { return r.RetBool(leadingNumberIsNotZero(r.Bytes(0))) }, "mysql_truth_text")
	mysqlDivision()
}

// mysqlDivision registers the quotients, which are null for a divisor of 0.
func mysqlDivision() {
	each(func(r *row) error {
		if r.Int(1) == 0 {
			return r.RetNull()
		}
		return mysqlQuotient(r, numeric.FromInt64(r.Int(0)), numeric.FromInt64(r.Int(1)))
	}, "mysql_int_div")
	each(func(r *row) error {
		a, b := r.Num(0), r.Num(1)
		if b.Sign() == 0 && !b.IsNaN() {
			return r.RetNull()
		}
		return mysqlQuotient(r, a, b)
	}, "mysql_num_div")
	each(func(r *row) error {
		if r.Float(1) == 0 {
			return r.RetNull()
		}
		return r.RetFloat(r.Float(0) / r.Float(1))
	}, "mysql_float_div")
	each(func(r *row) error {
		switch b := r.Int(1); b {
		case 0:
			return r.RetNull()
		case -1:
			return r.RetInt(0)
		default:
			return r.RetInt(r.Int(0) % b)
		}
	}, "mysql_int_mod")
	each(func(r *row) error {
		if b := r.Num(1); b.Sign() == 0 && !b.IsNaN() {
			return r.RetNull()
		}
		return r.RetNum(numeric.Mod(r.Num(0), r.Num(1)))
	}, "mysql_num_mod")
	each(func(r *row) error {
		a, b := r.Int(0), r.Int(1)
		switch {
		case b == 0:
			return r.RetNull()
		case b == -1 && a == -1<<63:
			return sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
		}
		return r.RetInt(a / b)
	}, "mysql_int_divtrunc")
	each(func(r *row) error {
		b := r.Num(1)
		if b.Sign() == 0 && !b.IsNaN() {
			return r.RetNull()
		}
		q, err := numeric.DivTrunc(r.Num(0), b)
		if err != nil {
			return err
		}
		return r.RetI(q.Int64(math.MinInt64, math.MaxInt64, "bigint"))
	}, "mysql_num_divtrunc")
}

// mysqlQuotient has four places more than the dividend: div_precision_increment.
func mysqlQuotient(r *row, a, b numeric.Num) error {
	const increment = 4
	return r.RetNum(numeric.DivTo(a, b, a.Scale()+increment))
}

// foldRune is a character's weight as a character: its capital without accents. Those beyond the basic plane are all alike.
func foldRune(c rune) rune {
	switch {
	case c < utf8.RuneSelf:
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		return c
	case c > 0xffff:
		return utf8.RuneError
	case c == 'ß':
		return 'S'
	}
	var buf [utf8.UTFMax]byte
	d := norm.NFD.PropertiesString(string(buf[:utf8.EncodeRune(buf[:], c)])).Decomposition()
	if len(d) > 0 {
		if base, _ := utf8.DecodeRune(d); base != utf8.RuneError && unicode.Is(unicode.Latin, base) {
			c = base
		}
	}
	return unicode.ToUpper(c)
}

// appendFold appends the weights of b.
func appendFold(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		dst = utf8.AppendRune(dst, foldRune(c))
		i += n
	}
	return dst
}

// mysqlCompare compares two strings by weight.
func mysqlCompare(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRune(a)
		y, m := utf8.DecodeRune(b)
		a, b = a[n:], b[m:]
		if x == y {
			continue
		}
		if x, y = foldRune(x), foldRune(y); x != y {
			return int(x) - int(y)
		}
	}
	// The shorter one is taken to go on with blanks.
	sign, rest := 1, a
	if len(b) > 0 {
		sign, rest = -1, b
	}
	for len(rest) > 0 {
		x, n := utf8.DecodeRune(rest)
		if x = foldRune(x); x != ' ' {
			return sign * (int(x) - ' ')
		}
		rest = rest[n:]
	}
	return 0
}

// mysqlLike matches a pattern by weight, blanks at the end included.
func mysqlLike(s, pattern []byte) (bool, error) {
	p, err := compileLike(appendFold(nil, pattern))
	if err != nil {
		return false, err
	}
	if n := len(pattern); n > 0 && pattern[n-1] == '\\' && (n < 2 || pattern[n-2] != '\\') {
		p, err = compileLike(appendFold(nil, append(bytes.Clone(pattern), '\\'))) // one at the end stands for itself
		if err != nil {
			return false, err
		}
	}
	return p.match(appendFold(nil, s)), nil
}

// leadingNumberIsNotZero says whether the number that a string begins with is other than 0.
func leadingNumberIsNotZero(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\n\r\v\f")
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	for _, c := range b {
		switch {
		case c >= '1' && c <= '9':
			return true
		case c == '0' || c == '.':
		default:
			return false
		}
	}
	return false
}
