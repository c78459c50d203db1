package pgdata

import (
	"strconv"
	"strings"

	"herd/sql/types"
)

// unescape undoes COPY's text escapes; ok is false for NULL.
func unescape(raw string) (text string, ok bool) {
	if raw == `\N` {
		return "", false
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+1 < len(raw) {
			i++
			switch c = raw[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'v':
				c = '\v'
			}
		}
		b = append(b, c)
	}
	return string(b), true
}

// str returns a field's text, "" for NULL.
func str(raw string) string {
	s, _ := unescape(raw)
	return s
}

// oid reads an object identifier, 0 for NULL and "-".
func oid(raw string) types.OID {
	var n uint32
	for i := 0; i < len(raw); i++ {
		if raw[i] < '0' || raw[i] > '9' {
			return 0
		}
		n = n*10 + uint32(raw[i]-'0')
	}
	return types.OID(n)
}

// number reads a signed integer, 0 for NULL.
func number(raw string) int {
	n, err := strconv.Atoi(raw)
	if err != nil {
		return 0
	}
	return n
}

// float reads a floating point number, 0 for NULL.
func float(raw string) float64 {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return 0
	}
	return f
}

// char reads a value of type "char", 0 for NULL and the empty string.
func char(raw string) byte {
	if raw == "" || raw == `\N` {
		return 0
	}
	return raw[0]
}

// yes reads a boolean.
func yes(raw string) bool { return raw == "t" }

// oids reads an oidvector (separated by blanks) or oid[] (in braces, separated by commas).
func oids(raw string) []types.OID {
	raw = strings.Trim(raw, "{}")
	if raw == "" || raw == `\N` {
		return nil
	}
	list := make([]types.OID, 1, strings.Count(raw, " ")+strings.Count(raw, ",")+1)
	var n types.OID
	at := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] == ' ' || raw[i] == ',' {
			list = append(list, 0)
			at, n = at+1, 0
			continue
		}
		n = n*10 + types.OID(raw[i]-'0')
		list[at] = n
	}
	return list
}

// texts reads a one-dimensional text array; NULL elements become "".
func texts(raw string) []string {
	s, ok := unescape(raw)
	if !ok || len(s) < 2 {
		return nil
	}
	s = s[1 : len(s)-1]
	if s == "" {
		return nil
	}
	if strings.IndexByte(s, '"') < 0 {
		return strings.Split(s, ",")
	}
	var list []string
	var cur []byte
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
			cur = append(cur, s[i])
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			list = append(list, string(cur))
			cur = cur[:0]
		default:
			cur = append(cur, c)
		}
	}
	return append(list, string(cur))
}
