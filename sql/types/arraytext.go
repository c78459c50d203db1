package types

import (
	"bytes"
	"strconv"
	"strings"

	"herd/sql/sqlerr"
)

func malformed(text []byte) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", text)
}

// arrayParser reads an array literal in one pass; elements are collected in storage order.
type arrayParser struct {
	c     *IOContext
	text  []byte
	s     []byte
	i     int
	delim byte
	elem  OID
	mod   Typmod
	lens  [MaxDim]int // -1: not known yet
	ndim  int         // depth at which elements were seen, 0 not yet
	out   []Datum
	buf   []byte
}

func delimOf(elem OID) byte {
	if b := BuiltinByOID(elem); b != nil {
		return b.Delim
	}
	return ','
}

func arrayIn(c *IOContext, _, elem OID, mod Typmod, text []byte) (Datum, error) {
	p := arrayParser{c: c, text: text, s: text, delim: delimOf(elem), elem: elem, mod: mod}
	lens, lowers, err := p.bounds()
	if err != nil {
		return Datum{}, err
	}
	p.space()
	if p.i >= len(p.s) || p.s[p.i] != '{' {
		if lens != nil {
			return Datum{}, malformed(text).WithDetail("Array contents must start with \"{\".")
		}
		return Datum{}, malformed(text).WithDetail("Array value must start with \"{\" or dimension information.")
	}
	for i := range p.lens {
		p.lens[i] = -1
	}
	if err := p.level(0); err != nil {
		return Datum{}, err
	}
	p.space()
	if p.i < len(p.s) {
		return Datum{}, malformed(text).WithDetail("Junk after closing right brace.")
	}
	if len(p.out) == 0 {
		if lens != nil {
			return Datum{}, malformed(text).WithDetail("Specified array dimensions do not match array contents.")
		}
		return Datum{B: EmptyArray(c.Stored(elem))}, nil
	}
	got := p.lens[:p.ndim]
	if lens != nil {
		if len(lens) != len(got) {
			return Datum{}, malformed(text).WithDetail("Specified array dimensions do not match array contents.")
		}
		for i := range lens {
			if lens[i] != got[i] {
				return Datum{}, malformed(text).WithDetail("Specified array dimensions do not match array contents.")
			}
		}
	}
	b := BuildArray(nil, c.Stored(elem), got, lowers)
	for _, d := range p.out {
		b.Add(d)
	}
	return Datum{B: b.Buf}, nil
}

func (p *arrayParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

// bounds reads [l:u][l:u]...= in front of the braces.
func (p *arrayParser) bounds() (lens, lowers []int, err error) {
	for {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '[' {
			break
		}
		if len(lens) == MaxDim {
			return nil, nil, tooManyDims(len(lens) + 1)
		}
		p.i++
		lo, hi, err := p.bound()
		if err != nil {
			return nil, nil, err
		}
		if hi < lo {
			return nil, nil, sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		lens, lowers = append(lens, hi-lo+1), append(lowers, lo)
	}
	if lens == nil {
		return nil, nil, nil
	}
	p.space()
	if p.i >= len(p.s) || p.s[p.i] != '=' {
		return nil, nil, malformed(p.text).WithDetail("Missing \"%s\" after array dimensions.", "=")
	}
	p.i++
	return lens, lowers, nil
}

// bound reads "u]" or "l:u]".
func (p *arrayParser) bound() (lo, hi int, err error) {
	number := func(missing string) (int, error) {
		from := p.i
		for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' || p.s[p.i] == '-' || p.s[p.i] == '+') {
			p.i++
		}
		n, err := strconv.Atoi(string(p.s[from:p.i]))
		if err != nil {
			return 0, malformed(p.text).WithDetail("%s", missing)
		}
		return n, nil
	}
	lo = 1
	if hi, err = number(`"[" must introduce explicitly-specified array dimensions.`); err != nil {
		return 0, 0, err
	}
	if p.i < len(p.s) && p.s[p.i] == ':' {
		p.i++
		lo = hi
		if hi, err = number("Missing array dimension value."); err != nil {
			return 0, 0, err
		}
	}
	if p.i >= len(p.s) || p.s[p.i] != ']' {
		return 0, 0, malformed(p.text).WithDetail("Missing \"%s\" after array dimensions.", "]")
	}
	p.i++
	return lo, hi, nil
}

func tooManyDims(n int) error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, MaxDim)
}

func (p *arrayParser) unexpected(c byte) error {
	return malformed(p.text).WithDetail("Unexpected \"%c\" character.", c)
}

func (p *arrayParser) ended() error {
	return malformed(p.text).WithDetail("Unexpected end of input.")
}

// level reads one brace group; depth counts from 0.
func (p *arrayParser) level(depth int) error {
	if depth >= MaxDim {
		return tooManyDims(depth + 1)
	}
	p.i++ // {
	n := 0
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '}' {
		if depth > 0 {
			return p.unexpected('}')
		}
		p.i++
		return p.close(depth, 0)
	}
	for {
		p.space()
		if p.i >= len(p.s) {
			return p.ended()
		}
		if p.s[p.i] == '{' {
			if p.ndim != 0 && depth+1 >= p.ndim {
				return p.unexpected('{')
			}
			if err := p.level(depth + 1); err != nil {
				return err
			}
		} else {
			if n > 0 && p.ndim > depth+1 { // beside a sub-array
				if c := p.s[p.i]; c == '\\' || c == '}' || c == p.delim {
					return p.unexpected(c)
				}
				return p.strayElement()
			}
			if p.ndim != 0 && p.ndim != depth+1 {
				return malformed(p.text).WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
			}
			p.ndim = depth + 1
			if err := p.element(); err != nil {
				return err
			}
		}
		n++
		p.space()
		if p.i >= len(p.s) {
			return p.ended()
		}
		switch c := p.s[p.i]; c {
		case p.delim:
			p.i++
		case '}':
			p.i++
			return p.close(depth, n)
		default:
			if c == '{' || c == '\\' {
				return p.unexpected(c)
			}
			return p.strayElement()
		}
	}
}

func (p *arrayParser) strayElement() error {
	return malformed(p.text).WithDetail("Unexpected array element.")
}

func (p *arrayParser) close(depth, n int) error {
	if p.lens[depth] >= 0 && p.lens[depth] != n {
		return malformed(p.text).WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	p.lens[depth] = n
	return nil
}

// element reads one element at the current position.
func (p *arrayParser) element() error {
	p.buf = p.buf[:0]
	if p.s[p.i] == '"' {
		for p.i++; ; p.i++ {
			if p.i >= len(p.s) {
				return p.ended()
			}
			c := p.s[p.i]
			if c == '"' {
				p.i++
				break
			}
			if c == '\\' {
				if p.i++; p.i >= len(p.s) {
					return p.ended()
				}
				c = p.s[p.i]
			}
			p.buf = append(p.buf, c)
		}
		return p.add()
	}
	keep, escaped := 0, false // keep: length up to the last character that is no plain blank
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		if c == p.delim || c == '}' {
			break
		}
		if c == '{' {
			return p.unexpected(c)
		}
		if c == '"' {
			return p.strayElement()
		}
		if c == '\\' {
			if p.i++; p.i >= len(p.s) {
				return p.ended()
			}
			escaped = true
			p.buf = append(p.buf, p.s[p.i])
			keep = len(p.buf)
			continue
		}
		p.buf = append(p.buf, c)
		if !isSpace(c) {
			keep = len(p.buf)
		}
	}
	p.buf = p.buf[:keep]
	if keep == 0 && !escaped {
		if p.i >= len(p.s) {
			return p.ended()
		}
		return p.unexpected(p.s[p.i])
	}
	if !escaped && strings.EqualFold(str(p.buf), "null") {
		p.out = append(p.out, NullDatum)
		return p.c.checkNull(p.elem)
	}
	return p.add()
}

func (p *arrayParser) add() error {
	d, err := Input(p.c, p.elem, p.mod, append([]byte(nil), p.buf...))
	if err != nil {
		return err
	}
	p.out = append(p.out, d)
	return nil
}

// arrayOut appends an array literal.
func arrayOut(c *IOContext, dst, b []byte) []byte {
	a := ReadArray(b)
	if a.ndim == 0 {
		return append(dst, '{', '}')
	}
	plain := true
	for i := range a.ndim {
		plain = plain && a.Lower(i) == 1
	}
	if !plain {
		for i := range a.ndim {
			dst = strconv.AppendInt(append(dst, '['), int64(a.Lower(i)), 10)
			dst = strconv.AppendInt(append(dst, ':'), int64(a.Lower(i)+a.Dim(i)-1), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, '=')
	}
	delim := delimOf(a.elem)
	it := a.Iter()
	var walk func(d int)
	walk = func(d int) {
		dst = append(dst, '{')
		for i := range a.Dim(d) {
			if i > 0 {
				dst = append(dst, delim)
			}
			if d+1 < a.ndim {
				walk(d + 1)
				continue
			}
			it.Next()
			if it.Null {
				dst = append(dst, "NULL"...)
				continue
			}
			at := len(dst)
			dst = Output(c, dst, a.elem, DecodeValue(a.elem, it.Val))
			dst = quoteElem(dst, at, delim)
		}
		dst = append(dst, '}')
	}
	walk(0)
	return dst
}

// quoteElem puts dst[at:] in double quotes when the literal needs it.
func quoteElem(dst []byte, at int, delim byte) []byte {
	e := dst[at:]
	need := len(e) == 0 || len(e) == 4 && strings.EqualFold(str(e), "null")
	extra := 2
	for _, ch := range e {
		switch {
		case ch == '"' || ch == '\\':
			need = true
			extra++
		case ch == '{' || ch == '}' || ch == delim || isSpace(ch):
			need = true
		}
	}
	if !need {
		return dst
	}
	n := len(e)
	for range extra {
		dst = append(dst, 0)
	}
	// Move from the end so that no second buffer is needed.
	w := len(dst) - 1
	dst[w] = '"'
	for r := at + n - 1; r >= at; r-- {
		w--
		dst[w] = dst[r]
		if c := dst[r]; c == '"' || c == '\\' {
			w--
			dst[w] = '\\'
		}
	}
	dst[at] = '"'
	return dst
}

// vectorIn reads int2vector and oidvector: numbers between blanks.
func vectorIn(c *IOContext, t OID, text []byte) (Datum, error) {
	elem := ElemOf(t)
	var out []Datum
	for _, f := range bytes.Fields(text) {
		d, err := Input(c, elem, -1, f)
		if err != nil {
			return Datum{}, err
		}
		out = append(out, d)
	}
	return Datum{B: MakeVector(elem, out)}, nil
}

// MakeVector returns an int2vector or oidvector value: one dimension from 0, even when empty.
func MakeVector(elem OID, elems []Datum) []byte {
	b := BuildArray(nil, elem, []int{len(elems)}, []int{0})
	for _, d := range elems {
		b.Add(d)
	}
	return b.Buf
}

func vectorOut(c *IOContext, dst, b []byte) []byte {
	a := ReadArray(b)
	first := true
	for it := a.Iter(); it.Next(); first = false {
		if !first {
			dst = append(dst, ' ')
		}
		dst = Output(c, dst, a.elem, DecodeValue(a.elem, it.Val))
	}
	return dst
}
