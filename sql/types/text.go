package types

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
)

// NameLen is the most bytes that a value of type name has.
const NameLen = 63

// ValidText checks that b is UTF-8 without zero bytes (22021).
func ValidText(b []byte) error {
	const low, high = 0x0101010101010101, 0x8080808080808080
	ascii := true
	rest := b
	for ; len(rest) >= 8; rest = rest[8:] { // eight at a time while they are ASCII and none is zero
		w := binary.LittleEndian.Uint64(rest)
		if (w|(w-low))&high != 0 {
			break
		}
	}
	for _, c := range rest {
		if c == 0 {
			return invalidBytes(b, strings.IndexByte(str(b), 0))
		}
		if c >= 0x80 {
			ascii = false
		}
	}
	if ascii || utf8.Valid(b) {
		return nil
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || b[i] == 0 {
			return invalidBytes(b, i)
		}
		i += n
	}
	return nil
}

func invalidBytes(b []byte, at int) error {
	n := 1
	switch c := b[at]; {
	case c >= 0xf8: // begins no character
	case c >= 0xf0:
		n = 4
	case c >= 0xe0:
		n = 3
	case c >= 0xc0:
		n = 2
	}
	var s []string
	for _, c := range b[at:min(len(b), at+n)] {
		s = append(s, fmt.Sprintf("0x%02x", c))
	}
	return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", strings.Join(s, " "))
}

// ClipName cuts b to NameLen bytes at a character border.
func ClipName(b []byte) []byte {
	if len(b) <= NameLen {
		return b
	}
	n := NameLen
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// TrimPad drops the blanks at the end that a bpchar's length does not count.
func TrimPad(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// qcharIn reads "char": one byte, or a backslash and three octal digits.
func qcharIn(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	oct := func(c byte) bool { return c >= '0' && c <= '7' }
	if len(b) == 4 && b[0] == '\\' && oct(b[1]) && oct(b[2]) && oct(b[3]) {
		c := (b[1]-'0')<<6 | (b[2]-'0')<<3 | (b[3] - '0')
		if c == 0 {
			return nil
		}
		return []byte{c}
	}
	return b[:1]
}

func qcharOut(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	c := b[0]
	if c >= 0x80 {
		return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
	}
	return append(dst, c)
}

func byteaIn(text []byte) ([]byte, error) {
	if len(text) >= 2 && text[0] == '\\' && text[1] == 'x' {
		return hexIn(text[2:])
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i+1 < len(text) && text[i+1] == '\\' {
			out = append(out, '\\')
			i++
			continue
		}
		if i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '3' && text[i+2] >= '0' && text[i+2] <= '7' &&
			text[i+3] >= '0' && text[i+3] <= '7' {
			out = append(out, (text[i+1]-'0')<<6|(text[i+2]-'0')<<3|(text[i+3]-'0'))
			i += 3
			continue
		}
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
	}
	return out, nil
}

// hexIn decodes hex digits with blanks between pairs.
func hexIn(s []byte) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		if isSpace(s[i]) {
			i++
			continue
		}
		hi, ok := hexDigit(s[i])
		if !ok {
			return nil, badHex(s[i:])
		}
		if i+1 >= len(s) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, ok := hexDigit(s[i+1])
		if !ok {
			return nil, badHex(s[i+1:])
		}
		out = append(out, hi<<4|lo)
		i += 2
	}
	return out, nil
}

// HexDecode is decode(text, 'hex').
func HexDecode(s []byte) ([]byte, error) { return hexIn(s) }

func badHex(s []byte) error {
	_, n := utf8.DecodeRune(s)
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:n])
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// uuidIn reads 32 hex digits, dashes allowed after every second pair, braces around.
func uuidIn(text []byte) ([]byte, error) {
	s := text
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		out := make([]byte, 16)
		ok := true
		for i, p := 0, 0; i < 16; i++ {
			if p == 8 || p == 13 || p == 18 || p == 23 {
				p++
			}
			hi, ok1 := hexDigit(s[p])
			lo, ok2 := hexDigit(s[p+1])
			ok = ok && ok1 && ok2
			out[i] = hi<<4 | lo
			p += 2
		}
		if ok {
			return out, nil
		}
		return nil, badSyntax("uuid", text)
	}
	if len(s) > 0 && s[0] == '{' {
		if s[len(s)-1] != '}' {
			return nil, badSyntax("uuid", text)
		}
		s = s[1 : len(s)-1]
	}
	out := make([]byte, 0, 16)
	for i := 0; i < 16; i++ {
		if len(s) < 2 {
			return nil, badSyntax("uuid", text)
		}
		var b [1]byte
		if _, err := hex.Decode(b[:], s[:2]); err != nil {
			return nil, badSyntax("uuid", text)
		}
		out = append(out, b[0])
		s = s[2:]
		if len(s) > 0 && s[0] == '-' && i%2 == 1 && i < 15 {
			s = s[1:]
		}
	}
	if len(s) != 0 {
		return nil, badSyntax("uuid", text)
	}
	return out, nil
}
