package datetime

// kind is the class of a field of a date or time text.
type kind uint8

const (
	fNumber  kind = iota // digits, perhaps with one point
	fDate                // 1-2-2000, 1/2/2000, jan-1-2000, also Area/City
	fTime                // digits with colons
	fZone                // sign and digits
	fWord                // letters
	fSpecial             // sign and letters
)

type field struct {
	kind kind
	s    string // lower case
	raw  string // as written
}

const maxFields = 25

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isAlpha(c) }

// split cuts text into fields; ok is false for text that can be no date or time.
func split(text []byte) (out []field, ok bool) {
	raw := string(text)
	low := lower(raw)
	i := 0
	run := func(from int, more func(c byte) bool) int {
		for from < len(low) && more(low[from]) {
			from++
		}
		return from
	}
	for i < len(low) {
		c := low[i]
		if isSpace(c) {
			i++
			continue
		}
		start := i
		var k kind
		switch {
		case isDigit(c):
			i, k = splitNumber(low, i, run)
		case c == '.':
			i, k = run(i+1, isDigit), fNumber
		case isAlpha(c):
			i, k = run(i, isAlpha), fWord
			if i < len(low) && (low[i] == '-' || low[i] == '/' || low[i] == '.' ||
				(low[i] == '+' || isDigit(low[i])) && !knownWord(low[start:i])) {
				k = fDate
				i = run(i, func(c byte) bool {
					return isDigit(c) || isAlpha(c) || c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':'
				})
			}
		case c == '+' || c == '-':
			j := i + 1
			for j < len(low) && isSpace(low[j]) {
				j++
			}
			switch {
			case j < len(low) && isDigit(low[j]):
				k = fZone
				e := run(j, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || c == '-' })
				out = append(out, field{k, string(c) + low[j:e], string(c) + raw[j:e]})
				i = e
			case j < len(low) && isAlpha(low[j]):
				e := run(j, isAlpha)
				out = append(out, field{fSpecial, string(c) + low[j:e], string(c) + raw[j:e]})
				i = e
			default:
				return nil, false
			}
			if len(out) > maxFields {
				return nil, false
			}
			continue
		case isPunct(c):
			i++
			continue
		default:
			return nil, false
		}
		out = append(out, field{k, low[start:i], raw[start:i]})
		if len(out) > maxFields {
			return nil, false
		}
	}
	return out, true
}

// splitNumber extends a field that begins with a digit.
func splitNumber(s string, i int, run func(int, func(byte) bool) int) (int, kind) {
	i = run(i, isDigit)
	if i >= len(s) {
		return i, fNumber
	}
	switch d := s[i]; {
	case d == ':':
		return run(i, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' }), fTime
	case d == '-' || d == '/' || d == '.':
		i++
		if i < len(s) && isDigit(s[i]) {
			k := fDate
			if d == '.' {
				k = fNumber
			}
			i = run(i, isDigit)
			if i < len(s) && s[i] == d {
				k = fDate
				i = run(i, func(c byte) bool { return isDigit(c) || c == d })
			}
			return i, k
		}
		return run(i, func(c byte) bool { return isDigit(c) || isAlpha(c) || c == d }), fDate
	}
	return i, fNumber
}

func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}
