package funcs

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// maxText is the largest value that a function makes, as PostgreSQL's allocation limit.
const maxText = 1<<30 - 5

func tooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
}

// ascii says whether all bytes are below 0x80, so that characters are bytes.
func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// runeOffset returns the byte offset of character n (counted from 0), at most len(b).
func runeOffset(b []byte, n int) int {
	if n <= 0 {
		return 0
	}
	if ascii(b) {
		return min(n, len(b))
	}
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, w := utf8.DecodeRune(b[i:])
		i += w
	}
	return i
}

// substr returns characters [start, start+length) counted from 1; length < 0 means to the end.
func substr(b []byte, start, length int64, toEnd bool) ([]byte, error) {
	if !toEnd {
		if length < 0 {
			return nil, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		end := start + length
		if end < 1 {
			return nil, nil
		}
		if start < 1 {
			start, length = 1, end-1
		}
	}
	if start < 1 {
		start = 1
	}
	from := runeOffset(b, int(min(start-1, int64(len(b)))))
	b = b[from:]
	if toEnd {
		return b, nil
	}
	return b[:runeOffset(b, int(min(length, int64(len(b)))))], nil
}

func substrBytes(b []byte, start, length int64, toEnd bool) ([]byte, error) {
	if !toEnd && length < 0 {
		return nil, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
	}
	end := int64(len(b)) + 1
	if !toEnd {
		end = min(start+length, end)
	}
	start = max(start, 1)
	if start >= end {
		return nil, nil
	}
	return b[start-1 : end-1], nil
}

// position returns the character position of needle in b, counted from 1; 0 when absent.
func position(b, needle []byte) int64 {
	i := bytes.Index(b, needle)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCount(b[:i])) + 1
}

// trimSet drops characters of set at the chosen ends.
func trimSet(b, set []byte, left, right bool) []byte {
	s := string(set)
	if left {
		b = bytes.TrimLeftFunc(b, func(r rune) bool { return strings.ContainsRune(s, r) })
	}
	if right {
		b = bytes.TrimRightFunc(b, func(r rune) bool { return strings.ContainsRune(s, r) })
	}
	return b
}

func trimBytes(b, set []byte, left, right bool) []byte {
	for left && len(b) > 0 && bytes.IndexByte(set, b[0]) >= 0 {
		b = b[1:]
	}
	for right && len(b) > 0 && bytes.IndexByte(set, b[len(b)-1]) >= 0 {
		b = b[:len(b)-1]
	}
	return b
}

// caseMap appends b with f applied; ASCII takes the short way.
func lowerTo(dst, b []byte) []byte {
	if ascii(b) {
		for _, c := range b {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			dst = append(dst, c)
		}
		return dst
	}
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		b = b[w:]
	}
	return dst
}

func upperTo(dst, b []byte) []byte {
	if ascii(b) {
		for _, c := range b {
			if c >= 'a' && c <= 'z' {
				c &^= 0x20
			}
			dst = append(dst, c)
		}
		return dst
	}
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		b = b[w:]
	}
	return dst
}

func initcapTo(dst, b []byte) []byte {
	inWord := false
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		b = b[w:]
		if inWord {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return dst
}

// pad appends b padded or cut to n characters.
func pad(dst, b, fill []byte, n int64, left bool) ([]byte, error) {
	if n < 0 {
		n = 0
	}
	have := int64(utf8.RuneCount(b))
	if have >= n {
		return append(dst, b[:runeOffset(b, int(n))]...), nil
	}
	if len(fill) == 0 {
		return append(dst, b...), nil
	}
	need := n - have
	if need*int64(utf8.UTFMax) > maxText && need > maxText {
		return nil, tooLong()
	}
	if !left {
		dst = append(dst, b...)
	}
	for need > 0 {
		for i := 0; i < len(fill) && need > 0; need-- {
			_, w := utf8.DecodeRune(fill[i:])
			dst = append(dst, fill[i:i+w]...)
			i += w
		}
	}
	if left {
		dst = append(dst, b...)
	}
	return dst, nil
}

func init() {
	each(func(r *row) error { return r.RetInt(int64(utf8.RuneCount(r.Bytes(0)))) }, "textlen")
	each(func(r *row) error { return r.RetInt(int64(utf8.RuneCount(types.TrimPad(r.Bytes(0))))) }, "bpcharlen")
	each(func(r *row) error { return r.RetInt(int64(len(r.Bytes(0)))) }, "textoctetlen", "bpcharoctetlen", "byteaoctetlen")
	each(func(r *row) error { return r.RetInt(int64(len(r.Bytes(0))) * 8) }, "bit_length(text)", "bit_length(bytea)")
	cat := func(r *row) error { return r.Finish(append(append(r.Start(), r.Bytes(0)...), r.Bytes(1)...)) }
	each(cat, "textcat", "byteacat")
	each(func(r *row) error {
		return r.Finish(append(append(r.Start(), r.Bytes(0)...), textOf(r.c.IO, r.Type(1), r.Datum(1))...))
	}, "textanycat(text,anynonarray)")
	each(func(r *row) error {
		return r.Finish(append(append(r.Start(), textOf(r.c.IO, r.Type(0), r.Datum(0))...), r.Bytes(1)...))
	}, "anytextcat(anynonarray,text)")
	each(func(r *row) error { return r.Finish(lowerTo(r.Start(), r.Bytes(0))) }, "lower")
	each(func(r *row) error { return r.Finish(upperTo(r.Start(), r.Bytes(0))) }, "upper")
	each(func(r *row) error { return r.Finish(initcapTo(r.Start(), r.Bytes(0))) }, "initcap")
	sub := func(f func(b []byte, s, l int64, toEnd bool) ([]byte, error), toEnd bool) rowFunc {
		return func(r *row) error {
			n := int64(0)
			if !toEnd {
				n = r.Int(2)
			}
			b, err := f(r.Bytes(0), r.Int(1), n, toEnd)
			if err != nil {
				return err
			}
			return r.RetBytes(b)
		}
	}
	each(sub(substr, false), "text_substr")
	each(sub(substr, true), "text_substr_no_len")
	each(sub(substrBytes, false), "bytea_substr")
	each(sub(substrBytes, true), "bytea_substr_no_len")
	each(func(r *row) error { return r.RetInt(position(r.Bytes(0), r.Bytes(1))) }, "textpos")
	each(func(r *row) error { return r.RetInt(int64(bytes.Index(r.Bytes(0), r.Bytes(1)) + 1)) }, "byteapos")
	for sym, side := range map[string][2]bool{"btrim": {true, true}, "ltrim": {true, false}, "rtrim": {false, true}} {
		each(func(r *row) error { return r.RetBytes(trimSet(r.Bytes(0), r.Bytes(1), side[0], side[1])) }, sym)
		each(func(r *row) error { return r.RetBytes(trimBytes(r.Bytes(0), []byte{' '}, side[0], side[1])) }, sym+"1")
		each(func(r *row) error { return r.RetBytes(trimBytes(r.Bytes(0), r.Bytes(1), side[0], side[1])) }, "bytea"+strings.TrimPrefix(sym, "b"))
	}
	each(replaceText, "replace_text")
	each(splitPart, "split_part")
	for _, left := range []bool{true, false} {
		name := map[bool]string{true: "lpad", false: "rpad"}[left]
		each(func(r *row) error {
			b, err := pad(r.Start(), r.Bytes(0), r.Bytes(2), r.Int(1), left)
			if err != nil {
				return err
			}
			return r.Finish(b)
		}, name)
		each(func(r *row) error {
			b, err := pad(r.Start(), r.Bytes(0), []byte{' '}, r.Int(1), left)
			if err != nil {
				return err
			}
			return r.Finish(b)
		}, name+"(text,int4)")
	}
	each(func(r *row) error {
		b, n := r.Bytes(0), int(r.Int(1))
		if n < 0 {
			n = max(utf8.RuneCount(b)+n, 0)
		}
		return r.RetBytes(b[:runeOffset(b, n)])
	}, "text_left")
	each(func(r *row) error {
		b, n := r.Bytes(0), int(r.Int(1))
		if n < 0 {
			n = -n
		} else {
			n = max(utf8.RuneCount(b)-n, 0)
		}
		return r.RetBytes(b[runeOffset(b, n):])
	}, "text_right")
	each(func(r *row) error {
		b, n := r.Bytes(0), max(r.Int(1), 0)
		if int64(len(b))*n > maxText {
			return tooLong()
		}
		dst := r.Start()
		for range n {
			dst = append(dst, b...)
			if len(b) == 0 {
				break
			}
		}
		return r.Finish(dst)
	}, "repeat")
	each(func(r *row) error {
		b, dst := r.Bytes(0), r.Start()
		for len(b) > 0 {
			_, w := utf8.DecodeLastRune(b)
			dst = append(dst, b[len(b)-w:]...)
			b = b[:len(b)-w]
		}
		return r.Finish(dst)
	}, "text_reverse")
	each(func(r *row) error { return r.RetBool(bytes.HasPrefix(r.Bytes(0), r.Bytes(1))) }, "text_starts_with")
	each(translate, "translate")
	each(func(r *row) error {
		b := r.Bytes(0)
		if len(b) == 0 {
			return r.RetInt(0)
		}
		c, _ := utf8.DecodeRune(b)
		return r.RetInt(int64(c))
	}, "ascii")
	each(chr, "chr")
	overlay := func(f func(b []byte, s, l int64, toEnd bool) ([]byte, error), count func([]byte) int, withLen bool) rowFunc {
		return func(r *row) error {
			b, repl, start := r.Bytes(0), r.Bytes(1), r.Int(2)
			n := int64(count(repl))
			if withLen {
				n = r.Int(3)
			}
			if start <= 0 {
				return sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
			}
			if start+n > int4.hi {
				return outOfRange("integer")
			}
			head, _ := f(b, 1, start-1, false)
			tail, _ := f(b, start+n, 0, true)
			return r.Finish(append(append(append(r.Start(), head...), repl...), tail...))
		}
	}
	each(overlay(substr, utf8.RuneCount, true), "textoverlay")
	each(overlay(substr, utf8.RuneCount, false), "textoverlay_no_len")
	size := func(b []byte) int { return len(b) }
	each(overlay(substrBytes, size, true), "byteaoverlay")
	each(overlay(substrBytes, size, false), "byteaoverlay_no_len")
}

func replaceText(r *row) error {
	b, from, to := r.Bytes(0), r.Bytes(1), r.Bytes(2)
	dst := r.Start()
	if len(from) == 0 {
		return r.Finish(append(dst, b...))
	}
	for {
		i := bytes.Index(b, from)
		if i < 0 {
			break
		}
		dst = append(append(dst, b[:i]...), to...)
		b = b[i+len(from):]
		if len(dst) > maxText {
			return tooLong()
		}
	}
	return r.Finish(append(dst, b...))
}

func splitPart(r *row) error {
	b, sep, n := r.Bytes(0), r.Bytes(1), r.Int(2)
	if n == 0 {
		return invalidParam("field position must not be zero")
	}
	if len(b) == 0 {
		return r.RetBytes(nil)
	}
	if len(sep) == 0 {
		if n == 1 || n == -1 {
			return r.RetBytes(b)
		}
		return r.RetBytes(nil)
	}
	if n < 0 {
		if n = int64(bytes.Count(b, sep)) + 2 + n; n < 1 {
			return r.RetBytes(nil)
		}
	}
	for ; n > 1; n-- {
		i := bytes.Index(b, sep)
		if i < 0 {
			return r.RetBytes(nil)
		}
		b = b[i+len(sep):]
	}
	if i := bytes.Index(b, sep); i >= 0 {
		b = b[:i]
	}
	return r.RetBytes(b)
}

func translate(r *row) error {
	from, to := []rune(r.Str(1)), []rune(r.Str(2))
	dst := r.Start()
	for b := r.Bytes(0); len(b) > 0; {
		c, w := utf8.DecodeRune(b)
		k := -1
		for i, f := range from {
			if f == c {
				k = i
				break
			}
		}
		switch {
		case k < 0:
			dst = append(dst, b[:w]...)
		case k < len(to):
			dst = utf8.AppendRune(dst, to[k])
		}
		b = b[w:]
	}
	return r.Finish(dst)
}

func chr(r *row) error {
	v := r.Int(0)
	switch {
	case v < 0:
		return invalidParam("character number must be positive")
	case v == 0:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case v > 0x10FFFF:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character too large for encoding: %d", v)
	case v >= 0xD800 && v <= 0xDFFF:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", v)
	}
	return r.Finish(utf8.AppendRune(r.Start(), rune(v)))
}
