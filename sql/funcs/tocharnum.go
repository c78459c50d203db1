package funcs

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"herd/sql/sqlerr"
	"herd/sql/types/numeric"
)

// numFormat is a compiled number template.
type numFormat struct {
	src   []byte
	nodes []fmtNode
	err   error

	pre, post, multi    int // digits before and after the point, places shifted by V
	zeroStart, zeroEnd  int
	lsign               int // 0 none, 1 before, 2 after the number
	preLsign            int
	zero, decimal, fill bool
	minus, plus         bool
	bracket, blank      bool
	roman, sci, hasS    bool
	isMulti             bool
}

func formatError(msg string) error { return sqlerr.New(sqlerr.SyntaxError, "%s", msg) }

func parseNumFormat(src []byte) *numFormat {
	f := &numFormat{src: append([]byte(nil), src...)}
	s := string(f.src)
	for len(s) > 0 {
		if w := matchField(s, numberFields, false); w != "" {
			n := fmtNode{field: w, word: s[:len(w)]}
			s = s[len(w):]
			f.nodes = append(f.nodes, n)
			if f.err == nil {
				f.err = f.prepare(w)
			}
			continue
		}
		f.nodes, s = literalNodes(f.nodes, s)
	}
	return f
}

// prepare takes a field into account and checks that it goes with those before it.
func (f *numFormat) prepare(w string) error {
	if f.sci && w != "EEEE" {
		return formatError("\"EEEE\" must be the last pattern used")
	}
	switch w {
	case "9", "0":
		return f.digit(w)
	case "B":
		if f.pre == 0 && f.post == 0 && !f.zero {
			f.blank = true
		}
	case "D", ".":
		switch {
		case f.decimal:
			return formatError("multiple decimal points")
		case f.isMulti:
			return formatError("cannot use \"V\" and decimal point together")
		}
		f.decimal = true
	case "FM":
		f.fill = true
	case "S":
		switch {
		case f.hasS:
			return formatError("cannot use \"S\" twice")
		case f.plus || f.minus || f.bracket:
			return formatError("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		f.hasS = true
		if !f.decimal {
			f.lsign, f.preLsign = 1, f.pre
		} else if f.lsign == 0 {
			f.lsign = 2
		}
	case "MI", "PL", "SG":
		if f.hasS {
			return formatError("cannot use \"S\" and \"" + w + "\" together")
		}
		f.minus = f.minus || w != "PL"
		f.plus = f.plus || w != "MI"
	case "PR":
		if f.hasS || f.plus || f.minus {
			return formatError("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		f.bracket = true
	case "RN":
		f.roman = true
	case "V":
		if f.decimal {
			return formatError("cannot use \"V\" and decimal point together")
		}
		f.isMulti = true
	case "EEEE":
		if f.sci {
			return formatError("cannot use \"EEEE\" twice")
		}
		if f.blank || f.fill || f.hasS || f.bracket || f.minus || f.plus || f.roman || f.isMulti {
			return sqlerr.New(sqlerr.SyntaxError, "\"EEEE\" is incompatible with other formats").
				WithDetail("\"EEEE\" may only be used together with digit and decimal point patterns.")
		}
		f.sci = true
	}
	return nil
}

func (f *numFormat) digit(w string) error {
	if f.bracket {
		return formatError("\"" + w + "\" must be ahead of \"PR\"")
	}
	if w == "9" {
		switch {
		case f.isMulti:
			f.multi++
		case f.decimal:
			f.post++
		default:
			f.pre++
		}
		return nil
	}
	if !f.zero && !f.decimal {
		f.zero, f.zeroStart = true, f.pre+1
	}
	if f.decimal {
		f.post++
	} else {
		f.pre++
	}
	f.zeroEnd = f.pre + f.post
	return nil
}

func (r *row) numFormat(src []byte) (*numFormat, error) {
	f, _ := r.scratch.(*numFormat)
	if f == nil || !bytes.Equal(f.src, src) {
		f = parseNumFormat(src)
		r.scratch = f
	}
	return f, f.err
}

// writer is the state of formatting one number.
type numWriter struct {
	*numFormat
	dst       []byte
	num       []byte // digits and point, without sign
	sign      byte
	pos       int // next of num
	lead      int // blanks or zeros in front of the digits
	count     int
	cur       int
	in        bool // digits have been written
	signDone  bool
	lastDigit int // FM: index in num of the last digit after the point that counts; -1 does not apply
	lsignNow  int
	bracketOn bool
}

// render formats a number given as digits with an optional point.
func (f *numFormat) render(dst, num []byte, sign byte, lead int) []byte {
	w := numWriter{numFormat: f, dst: dst, num: num, sign: sign, lead: lead, lastDigit: -1, lsignNow: f.lsign, bracketOn: f.bracket}
	if f.plus || f.minus {
		w.signDone = !(f.plus && !f.minus)
	} else {
		if sign != '-' && f.bracket && f.fill {
			w.bracketOn = false
		}
		w.signDone = sign == '+' && f.fill && !f.hasS
		if f.lsign == 1 && f.pre == f.preLsign {
			w.lsignNow = 2
		}
	}
	w.count = f.post + f.pre - 1
	if f.fill && f.decimal {
		w.lastDigit = lastRelevant(num)
		if w.lastDigit >= 0 && f.zeroEnd > lead {
			w.lastDigit = max(w.lastDigit, min(len(num)-1, f.zeroEnd-lead))
		}
	}
	if !w.signDone && lead == 0 {
		w.count++
	}
	for i := range f.nodes {
		w.node(&f.nodes[i])
	}
	return w.dst
}

// lastRelevant returns the index of the last digit after the point that is no zero, of the point itself when all are, -1
// when there is no point.
func lastRelevant(num []byte) int {
	p := bytes.IndexByte(num, '.')
	if p < 0 {
		return -1
	}
	last := p
	for i := p + 1; i < len(num); i++ {
		if num[i] != '0' {
			last = i
		}
	}
	return last
}

func (w *numWriter) node(n *fmtNode) {
	switch n.field {
	case "":
		w.dst = append(w.dst, n.lit...)
	case "9", "0", ".", "D":
		w.part(n.field)
	case ",", "G":
		if w.in {
			w.dst = append(w.dst, ',')
		} else if !w.fill {
			w.dst = append(w.dst, ' ')
		}
	case "L":
		w.dst = append(w.dst, ' ')
	case "RN":
		s := w.num
		if n.word == "rn" {
			s = bytes.ToLower(s)
		}
		if !w.fill {
			w.dst = append(w.dst, bytes.Repeat([]byte{' '}, max(0, 15-len(s)))...)
		}
		w.dst = append(w.dst, s...)
	case "TH":
		if !w.roman && len(w.num) > 0 && w.num[0] != '#' && w.sign != '-' && !w.decimal {
			w.dst = append(w.dst, ordinal(w.num, n.word)...)
		}
	case "MI":
		w.either('-', w.sign == '-')
	case "PL":
		w.either('+', w.sign == '+')
	case "SG":
		w.dst = append(w.dst, w.sign)
	}
}

// either writes c, or the blank that keeps its place.
func (w *numWriter) either(c byte, on bool) {
	if on {
		w.dst = append(w.dst, c)
	} else if !w.fill {
		w.dst = append(w.dst, ' ')
	}
}

// hidesZero says whether the only digit before the point is a zero that a 9 does not show.
func (w *numWriter) hidesZero() bool {
	return !w.zero && w.pos == 0 && len(w.num) > 0 && w.num[0] == '0' && w.post != 0
}

func (w *numWriter) pointIsLast() bool {
	return w.lastDigit >= 0 && w.lastDigit < len(w.num) && w.num[w.lastDigit] == '.'
}

func (w *numWriter) writeSign() {
	if w.hasS {
		if w.lsignNow == 1 {
			w.dst = append(w.dst, w.sign)
			w.signDone = true
		}
		return
	}
	switch {
	case w.bracketOn:
		if w.sign == '+' {
			w.dst = append(w.dst, ' ')
		} else {
			w.dst = append(w.dst, '<')
		}
	case w.sign == '+':
		if !w.fill {
			w.dst = append(w.dst, ' ')
		}
	default:
		w.dst = append(w.dst, '-')
	}
	w.signDone = true
}

// part handles the fields that stand for a digit or the point.
func (w *numWriter) part(id string) {
	if w.roman {
		return
	}
	w.in = false
	zeroFrom := w.zeroStart - 1
	if !w.signDone && (w.cur >= w.lead || w.zero && zeroFrom == w.cur) && (!w.hidesZero() || w.pointIsLast()) {
		w.writeSign()
	}
	switch {
	case w.cur < w.lead && (!w.zero || zeroFrom > w.cur):
		if !w.fill {
			w.dst = append(w.dst, ' ')
		}
	case w.cur < w.lead:
		w.dst = append(w.dst, '0')
		w.in = true
	default:
		w.number(id)
	}
	end := w.count
	if w.lead > 0 {
		end++
	}
	if w.decimal {
		end++
	}
	if w.lastDigit >= 0 && w.lastDigit == w.pos {
		end = w.cur
	}
	if w.cur+1 == end {
		if w.signDone && w.bracketOn {
			if w.sign == '+' {
				w.dst = append(w.dst, ' ')
			} else {
				w.dst = append(w.dst, '>')
			}
		} else if w.hasS && w.lsignNow == 2 {
			w.dst = append(w.dst, w.sign)
		}
	}
	w.cur++
}

// number writes the next character of the number.
func (w *numWriter) number(id string) {
	if w.pos >= len(w.num) {
		return
	}
	switch {
	case w.num[w.pos] == '.':
		if !w.pointIsLast() || w.fill {
			w.dst = append(w.dst, '.')
		}
	case w.lastDigit >= 0 && w.pos > w.lastDigit && id != "0":
	case w.hidesZero():
		if !w.fill {
			w.dst = append(w.dst, ' ')
		} else if w.pointIsLast() {
			w.dst = append(w.dst, '0')
		}
	default:
		w.dst = append(w.dst, w.num[w.pos])
		w.in = true
	}
	w.pos++
}

// place splits off the sign and fits the digits into the template: too many become #.
func (f *numFormat) place(dst, text []byte, pre, post int) []byte {
	sign := byte('+')
	if len(text) > 0 && text[0] == '-' {
		sign, text = '-', text[1:]
	}
	n := bytes.IndexByte(text, '.')
	if n < 0 {
		n = len(text)
	}
	lead := 0
	switch {
	case n < pre:
		lead = pre - n
	case n > pre:
		text = bytes.Repeat([]byte{'#'}, pre+post+1)
		text[pre] = '.'
	}
	g := *f
	g.pre, g.post = pre, post
	return g.render(dst, text, sign, lead)
}

// overflowSci is what EEEE shows for NaN and infinities.
func (f *numFormat) overflowSci() []byte {
	b := append([]byte{' '}, bytes.Repeat([]byte{'#'}, f.pre+f.post+5)...)
	if f.pre+1 < len(b) {
		b[f.pre+1] = '.'
	}
	return b
}

func romanNumeral(v int64) []byte {
	if v < 1 || v > 3999 {
		return bytes.Repeat([]byte{'#'}, 15)
	}
	var b []byte
	for _, d := range []struct {
		n int64
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; v >= d.n; v -= d.n {
			b = append(b, d.s...)
		}
	}
	return b
}

// showNumeric formats an exact number.
func (f *numFormat) showNumeric(dst []byte, n numeric.Num) ([]byte, error) {
	switch {
	case f.roman:
		v, err := n.Int64(math.MinInt32, math.MaxInt32, "integer")
		if err != nil {
			return dst, err
		}
		return f.render(dst, romanNumeral(v), '+', 0), nil
	case f.sci:
		if n.Kind() != numeric.Finite {
			return f.renderSci(dst, f.overflowSci()), nil
		}
		return f.renderSci(dst, sciText(n, f.post)), nil
	}
	pre := f.pre
	if f.isMulti {
		p, err := numeric.Power(numeric.FromInt64(10), numeric.FromInt64(int64(f.multi)))
		if err != nil {
			return dst, err
		}
		if n, err = numeric.Mul(n, p); err != nil {
			return dst, err
		}
		pre += f.multi
	}
	return f.place(dst, n.Round(f.post).Append(nil), pre, f.post), nil
}

// renderSci shows a finished text in scientific form: the fields for digits are all behind it.
func (f *numFormat) renderSci(dst, text []byte) []byte {
	dst = append(dst, text...)
	for i := range f.nodes {
		if n := &f.nodes[i]; n.field == "" {
			dst = append(dst, n.lit...)
		}
	}
	return dst
}

// sciText is a number as d.ddde+dd with a blank for the sign of positive ones.
func sciText(n numeric.Num, post int) []byte {
	b := []byte{' '}
	if n.Sign() < 0 {
		b[0] = '-'
		n = n.Neg()
	}
	if n.Sign() == 0 {
		b = append(b, numeric.Zero.Round(post).Append(nil)...)
		return append(b, "e+00"...)
	}
	digits := n.Coef().Append(nil, 10)
	exp := len(digits) - 1 - n.Scale()
	m := numeric.FromBig(n.Coef(), len(digits)-1).Round(post)
	b = m.Append(b)
	return append(b, fmt.Sprintf("e%+03d", exp)...)
}

func init() {
	each(func(r *row) error {
		f, err := r.numFormat(r.Bytes(1))
		if err != nil {
			return err
		}
		b, err := f.showNumeric(r.Start(), r.Num(0))
		if err != nil {
			return err
		}
		return r.Finish(b)
	}, "numeric_to_char")
	each(func(r *row) error {
		f, err := r.numFormat(r.Bytes(1))
		if err != nil {
			return err
		}
		b, err := f.showInt(r.Start(), r.Int(0), r.ci.ArgTypes[0] == 23)
		if err != nil {
			return err
		}
		return r.Finish(b)
	}, "int4_to_char", "int8_to_char")
	for sym, digits := range map[string]int{"float8_to_char": 15, "float4_to_char": 6} {
		each(func(r *row) error {
			f, err := r.numFormat(r.Bytes(1))
			if err != nil {
				return err
			}
			b, err := f.showFloat(r.Start(), r.Float(0), digits)
			if err != nil {
				return err
			}
			return r.Finish(b)
		}, sym)
	}
	each(toNumber, "numeric_to_number")
}

func (f *numFormat) showInt(dst []byte, v int64, narrow bool) ([]byte, error) {
	switch {
	case f.roman:
		return f.render(dst, romanNumeral(v), '+', 0), nil
	case f.sci && narrow:
		return f.renderSci(dst, sciFloat(float64(v), f.post)), nil
	case f.isMulti && narrow:
		p := math.Pow(10, float64(f.multi)) * float64(v)
		if p < math.MinInt32 || p > math.MaxInt32 {
			return dst, outOfRange("integer")
		}
	}
	return f.showNumeric(dst, numeric.FromInt64(v))
}

func sciFloat(v float64, post int) []byte {
	b := strconv.AppendFloat([]byte{' '}, math.Abs(v), 'e', post, 64)
	if v < 0 || v == 0 && math.Signbit(v) {
		b[0] = '-'
	}
	return b
}

func (f *numFormat) showFloat(dst []byte, v float64, digits int) ([]byte, error) {
	special := math.IsNaN(v) || math.IsInf(v, 0)
	switch {
	case f.roman:
		x := math.RoundToEven(v)
		if !(x >= math.MinInt32 && x <= math.MaxInt32) {
			x = 0 // shown as too large
		}
		return f.render(dst, romanNumeral(int64(x)), '+', 0), nil
	case f.sci && special:
		return f.renderSci(dst, f.overflowSci()), nil
	case f.sci:
		return f.renderSci(dst, sciFloat(v, f.post)), nil
	}
	pre, post := f.pre, f.post
	if f.isMulti {
		v *= math.Pow(10, float64(f.multi))
		if digits == 6 {
			v = single(v)
		}
		pre += f.multi
	}
	var text []byte
	switch {
	case math.IsNaN(v):
		text = []byte("NaN")
	case math.IsInf(v, 1):
		text = []byte("Infinity")
	case math.IsInf(v, -1):
		text = []byte("-Infinity")
	default:
		// No more digits than the type holds.
		n := len(strconv.FormatFloat(math.Abs(v), 'f', 0, 64))
		if n >= digits {
			post = 0
		} else if n+post > digits {
			post = digits - n
		}
		text = strconv.AppendFloat(nil, v, 'f', post, 64)
	}
	return f.place(dst, text, pre, post), nil
}
