package funcs

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// eachArg calls f for the values of a VARIADIC "any" call from argument k on: the arguments, or with VARIADIC the elements
// of the array. ok is false when the array is NULL.
func (r *row) eachArg(k int, f func(t types.OID, d types.Datum) error) (ok bool, err error) {
	if !r.ci.Variadic {
		for ; k < r.N(); k++ {
			if err := f(r.Type(k), r.Datum(k)); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	if k >= r.N() || r.Null(r.N()-1) {
		return false, nil
	}
	a := r.Array(r.N() - 1)
	for it := a.Iter(); it.Next(); {
		d := types.NullDatum
		if !it.Null {
			d = types.DecodeValue(a.Elem(), it.Val)
		}
		if err := f(a.Elem(), d); err != nil {
			return true, err
		}
	}
	return true, nil
}

func init() {
	each(func(r *row) error {
		var dst []byte
		ok, err := r.eachArg(0, func(t types.OID, d types.Datum) error {
			if !d.Null {
				dst = types.Output(r.c.IO, dst, t, d)
			}
			return nil
		})
		if err != nil || !ok {
			r.RetNull()
			return err
		}
		return r.RetBytes(dst)
	}, "text_concat")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetNull()
		}
		var dst []byte
		first := true
		ok, err := r.eachArg(1, func(t types.OID, d types.Datum) error {
			if d.Null {
				return nil
			}
			if !first {
				dst = append(dst, r.Bytes(0)...)
			}
			first = false
			dst = types.Output(r.c.IO, dst, t, d)
			return nil
		})
		if err != nil || !ok && r.ci.Variadic {
			r.RetNull()
			return err
		}
		return r.RetBytes(dst)
	}, "text_concat_ws")
	each(formatText, "text_format", "text_format_nv")
	each(func(r *row) error { return textToArray(r, nil, false) }, "text_to_array")
	each(func(r *row) error {
		if r.Null(2) {
			return textToArray(r, nil, false)
		}
		return textToArray(r, r.Bytes(2), true)
	}, "text_to_array_null")
	each(func(r *row) error { return arrayToText(r, nil, false) }, "array_to_text")
	each(func(r *row) error {
		if r.Null(0) || r.Null(1) {
			return r.RetNull()
		}
		if r.Null(2) {
			return arrayToText(r, nil, false)
		}
		return arrayToText(r, r.Bytes(2), true)
	}, "array_to_text_null")
	each(func(r *row) error { return parseIdent(r, r.N() < 2 || r.Bool(1)) }, "parse_ident")
	count := func(nulls bool) rowFunc {
		return func(r *row) error {
			n := int64(0)
			ok, _ := r.eachArg(0, func(_ types.OID, d types.Datum) error {
				if d.Null == nulls {
					n++
				}
				return nil
			})
			if !ok {
				return r.RetNull()
			}
			return r.RetInt(n)
		}
	}
	each(count(true), "pg_num_nulls")
	each(count(false), "pg_num_nonnulls")
	each(func(r *row) error { return r.RetStr("UTF8") }, "pg_client_encoding")
	each(func(r *row) error {
		e, i := encodings(), r.Int(0)
		if i < 0 || i >= int64(len(e)) {
			return r.RetStr("")
		}
		return r.RetStr(e[i])
	}, "PG_encoding_to_char")
	each(func(r *row) error {
		for i, e := range encodings() {
			if strings.EqualFold(e, r.Str(0)) || strings.EqualFold(strings.ReplaceAll(r.Str(0), "-", ""), e) {
				return r.RetInt(int64(i))
			}
		}
		return r.RetInt(-1)
	}, "PG_char_to_encoding")
	each(func(r *row) error {
		if e := r.Int(0); e >= 0 && e < int64(len(encodingBytes)) {
			return r.RetInt(int64(encodingBytes[e] - '0'))
		}
		return r.RetNull()
	}, "pg_encoding_max_length_sql")
}

// encodingBytes are the most bytes of a character by PostgreSQL's number of the encoding, a digit each.
const encodingBytes = "133343441111111111111111111111111112222432"

// formatText is format(): %s, %I, %L with positions, widths and flags. A result may have maxText bytes.
func formatText(r *row) error {
	if r.Null(0) {
		return r.RetNull()
	}
	type arg struct {
		t types.OID
		d types.Datum
	}
	var args []arg
	if r.N() > 1 {
		r.eachArg(1, func(t types.OID, d types.Datum) error { args = append(args, arg{t, d}); return nil })
	}
	s := r.Bytes(0)
	var dst []byte
	next := 0
	number := func(i int) (int, int, bool) {
		n, j := 0, i
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			if n = n*10 + int(s[j]-'0'); n > int(int4.hi) {
				return 0, j, false
			}
			j++
		}
		return n, j, true
	}
	ended := func() error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unterminated format() type specifier").WithHint("%s", hintPercent)
	}
	tooFew := func() error { return invalidParam("too few arguments for format()") }
	outOfRange := func() error { return sqlerr.New(sqlerr.NumericValueOutOfRange, "number is out of range") }
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			dst = append(dst, s[i])
			continue
		}
		if i++; i >= len(s) {
			return ended()
		}
		if s[i] == '%' {
			dst = append(dst, '%')
			continue
		}
		pos := -1
		n, j, ok := number(i)
		if !ok {
			return outOfRange()
		}
		width, minus, haveWidth := 0, false, false
		if j < len(s) && s[j] == '$' && j > i {
			if n == 0 {
				return invalidParam("format specifies argument 0, but arguments are numbered from 1")
			}
			pos, i = n-1, j+1
		}
		for i < len(s) && s[i] == '-' {
			minus = true
			i++
		}
		if n, j, ok = number(i); !ok {
			return outOfRange()
		}
		if j > i {
			width, haveWidth, i = n, true, j
		} else if i < len(s) && s[i] == '*' {
			i++
			wp := next
			if n, j, ok = number(i); !ok {
				return outOfRange()
			}
			if j > i && j < len(s) && s[j] == '$' {
				if n == 0 {
					return invalidParam("format specifies argument 0, but arguments are numbered from 1")
				}
				wp, i = n-1, j+1
			} else {
				next++
			}
			if wp >= len(args) {
				return tooFew()
			}
			haveWidth = true
			if w := args[wp]; !w.d.Null {
				v, err := types.ParseInt(types.Output(r.c.IO, nil, w.t, w.d), 32)
				if err != nil {
					return err
				}
				if width = int(v); width < 0 {
					if minus, width = true, -width; width > int(int4.hi) {
						return outOfRange()
					}
				}
			}
		}
		if i >= len(s) {
			return ended()
		}
		conv := s[i]
		if conv != 's' && conv != 'I' && conv != 'L' {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", firstRune(s[i:])).
				WithHint("%s", hintPercent)
		}
		if pos < 0 {
			pos = next
		}
		next = pos + 1
		if pos >= len(args) {
			return tooFew()
		}
		a := args[pos]
		var v []byte
		switch {
		case a.d.Null && conv == 'I':
			return sqlerr.New(sqlerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
		case a.d.Null && conv == 'L':
			v = []byte("NULL")
		case a.d.Null:
		default:
			v = types.Output(r.c.IO, nil, a.t, a.d)
			switch conv {
			case 'I':
				v = appendIdent(nil, v)
			case 'L':
				v = appendLiteral(nil, v)
			}
		}
		fill := 0
		if haveWidth {
			fill = max(0, width-utf8.RuneCount(v))
		}
		if minus {
			dst, v = append(dst, v...), nil
		}
		if len(dst)+fill+len(v) > maxText {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "out of memory").
				WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", len(dst), max(fill, len(v)))
		}
		dst = append(append(dst, bytes.Repeat([]byte{' '}, fill)...), v...)
	}
	return r.RetBytes(dst)
}

// textToArray splits a text; a NULL separator splits into characters.
func textToArray(r *row, null []byte, haveNull bool) error {
	if r.Null(0) {
		return r.RetNull()
	}
	b := r.Bytes(0)
	list := types.BuildList(nil, types.TextOID)
	n := 0
	add := func(v []byte) {
		n++
		if haveNull && bytes.Equal(v, null) {
			list.Null()
			return
		}
		list.Raw(v)
	}
	switch {
	case len(b) == 0:
	case r.Null(1):
		for len(b) > 0 {
			_, w := utf8.DecodeRune(b)
			add(b[:w])
			b = b[w:]
		}
	case len(r.Bytes(1)) == 0:
		add(b)
	default:
		for _, p := range bytes.Split(b, r.Bytes(1)) {
			add(p)
		}
	}
	return r.RetBytes(list.FinishList(n))
}

func arrayToText(r *row, null []byte, haveNull bool) error {
	a, sep := r.Array(0), r.Bytes(1)
	var dst []byte
	first := true
	for it := a.Iter(); it.Next(); {
		if it.Null && !haveNull {
			continue
		}
		if !first {
			dst = append(dst, sep...)
		}
		first = false
		if it.Null {
			dst = append(dst, null...)
			continue
		}
		dst = types.Output(r.c.IO, dst, a.Elem(), types.DecodeValue(a.Elem(), it.Val))
	}
	return r.RetBytes(dst)
}

// parseIdent splits a qualified identifier.
func parseIdent(r *row, strict bool) error {
	s := strings.TrimLeft(r.Str(0), " \t\n\r\f\v")
	whole := r.Str(0)
	var out []types.Datum
	afterDot := false
	for {
		missing := true
		if strings.HasPrefix(s, "\"") {
			var name []byte
			i := 1
			for {
				if i >= len(s) {
					return sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: \"%s\"", whole).WithDetail("String has unclosed double quotes.")
				}
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				name = append(name, s[i])
				i++
			}
			if len(name) == 0 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: \"%s\"", whole).WithDetail("Quoted identifier must not be empty.")
			}
			out = append(out, types.Bytes(name))
			s = s[i+1:]
			missing = false
		} else if len(s) > 0 && (s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' || s[0] >= 0x80) {
			i := 1
			for i < len(s) && (s[i] == '_' || s[i] == '$' || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80) {
				i++
			}
			out = append(out, types.Bytes(lowerTo(nil, []byte(s[:i]))))
			s = s[i:]
			missing = false
		}
		if missing {
			e := sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: \"%s\"", whole)
			switch {
			case strings.HasPrefix(s, "."):
				return e.WithDetail("No valid identifier before \".\".")
			case afterDot:
				return e.WithDetail("No valid identifier after \".\".")
			}
			return e
		}
		s = strings.TrimLeft(s, " \t\n\r\f\v")
		if strings.HasPrefix(s, ".") {
			afterDot = true
			s = strings.TrimLeft(s[1:], " \t\n\r\f\v")
			continue
		}
		if s == "" {
			break
		}
		if strict {
			return sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: \"%s\"", whole)
		}
		break
	}
	return r.RetBytes(types.MakeArray(types.TextOID, out))
}

func init() {
	bits := func(f func(a, b byte) byte, word string) rowFunc {
		return func(r *row) error {
			a, b := r.Bytes(0), r.Bytes(1)
			if types.BitLen(a) != types.BitLen(b) {
				return sqlerr.New(sqlerr.StringDataLengthMismatch, "cannot %s bit strings of different sizes", word)
			}
			out := append([]byte(nil), a...)
			for i := 4; i < len(out); i++ {
				out[i] = f(a[i], b[i])
			}
			return r.RetBytes(out)
		}
	}
	each(bits(func(a, b byte) byte { return a & b }, "AND"), "bit_and")
	each(bits(func(a, b byte) byte { return a | b }, "OR"), "bit_or")
	each(bits(func(a, b byte) byte { return a ^ b }, "XOR"), "bitxor")
	each(func(r *row) error {
		out := append([]byte(nil), r.Bytes(0)...)
		for i := 4; i < len(out); i++ {
			out[i] = ^out[i]
		}
		return r.RetBytes(types.ResizeBit(out, types.BitLen(out)))
	}, "bitnot")
	shift := func(dir int) rowFunc {
		return func(r *row) error {
			b, n := r.Bytes(0), types.BitLen(r.Bytes(0))
			k := int(r.Int(1)) * dir
			out := types.MakeBit(n)
			for i := range n {
				if j := i + k; j >= 0 && j < n && types.BitAt(b, j) {
					types.SetBitAt(out, i, true)
				}
			}
			return r.RetBytes(out)
		}
	}
	each(shift(1), "bitshiftleft")
	each(shift(-1), "bitshiftright")
	each(func(r *row) error {
		a, b := r.Bytes(0), r.Bytes(1)
		n := types.BitLen(a)
		out := types.ResizeBit(a, n+types.BitLen(b))
		for i := range types.BitLen(b) {
			types.SetBitAt(out, n+i, types.BitAt(b, i))
		}
		return r.RetBytes(out)
	}, "bitcat")
	each(func(r *row) error { return r.RetInt(int64(types.BitLen(r.Bytes(0)))) }, "bitlength", "bit_length(bit)")
	each(func(r *row) error { return r.RetInt(int64(types.BitLen(r.Bytes(0))+7) / 8) }, "bitoctetlength")
	each(func(r *row) error {
		n, b := int64(0), r.Bytes(0)
		for i := range types.BitLen(b) {
			if types.BitAt(b, i) {
				n++
			}
		}
		return r.RetInt(n)
	}, "bit_bit_count")
	slice := func(b []byte, start, length int64, toEnd bool) ([]byte, error) {
		n := int64(types.BitLen(b))
		end := n + 1
		if !toEnd {
			if length < 0 {
				return nil, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
			}
			end = min(start+length, end)
		}
		start = max(start, 1)
		out := types.MakeBit(int(max(0, end-start)))
		for i := start; i < end; i++ {
			types.SetBitAt(out, int(i-start), types.BitAt(b, int(i-1)))
		}
		return out, nil
	}
	each(func(r *row) error {
		b, err := slice(r.Bytes(0), r.Int(1), r.Int(2), false)
		if err != nil {
			return err
		}
		return r.RetBytes(b)
	}, "bitsubstr")
	each(func(r *row) error {
		b, _ := slice(r.Bytes(0), r.Int(1), 0, true)
		return r.RetBytes(b)
	}, "bitsubstr_no_len")
	overlay := func(r *row) error {
		b, repl, start := r.Bytes(0), r.Bytes(1), r.Int(2)
		n := int64(types.BitLen(repl))
		if r.N() > 3 {
			n = r.Int(3)
		}
		if start <= 0 {
			return sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		if start+n > int4.hi {
			return outOfRange("integer")
		}
		head, _ := slice(b, 1, start-1, false)
		tail, _ := slice(b, start+n, 0, true)
		h, m := types.BitLen(head), types.BitLen(repl)
		out := types.ResizeBit(head, h+m+types.BitLen(tail))
		for i := range m {
			types.SetBitAt(out, h+i, types.BitAt(repl, i))
		}
		for i := range types.BitLen(tail) {
			types.SetBitAt(out, h+m+i, types.BitAt(tail, i))
		}
		return r.RetBytes(out)
	}
	each(overlay, "bitoverlay", "bitoverlay_no_len")
	each(func(r *row) error {
		b, want := r.Bytes(0), r.Bytes(1)
		n, m := types.BitLen(b), types.BitLen(want)
		if n == 0 || m > n {
			return r.RetInt(0)
		}
		if m == 0 {
			return r.RetInt(1)
		}
	next:
		for i := 0; i+m <= n; i++ {
			for j := range m {
				if types.BitAt(b, i+j) != types.BitAt(want, j) {
					continue next
				}
			}
			return r.RetInt(int64(i + 1))
		}
		return r.RetInt(0)
	}, "bitposition")
	each(func(r *row) error {
		b, i := r.Bytes(0), r.Int(1)
		if i < 0 || i >= int64(types.BitLen(b)) {
			return sqlerr.New(sqlerr.ArraySubscriptError, "bit index %d out of valid range (0..%d)", i, types.BitLen(b)-1)
		}
		if types.BitAt(b, int(i)) {
			return r.RetInt(1)
		}
		return r.RetInt(0)
	}, "bitgetbit")
	each(func(r *row) error {
		b, i, v := r.Bytes(0), r.Int(1), r.Int(2)
		if i < 0 || i >= int64(types.BitLen(b)) {
			return sqlerr.New(sqlerr.ArraySubscriptError, "bit index %d out of valid range (0..%d)", i, types.BitLen(b)-1)
		}
		if v != 0 && v != 1 {
			return invalidParam("new bit must be 0 or 1")
		}
		out := append([]byte(nil), b...)
		types.SetBitAt(out, int(i), v == 1)
		return r.RetBytes(out)
	}, "bitsetbit")
}

// atoi reads a small decimal number.
func atoi(s string) (int, bool) {
	v, err := strconv.Atoi(s)
	return v, err == nil
}

const hintPercent = `For a single "%" use "%%".`
