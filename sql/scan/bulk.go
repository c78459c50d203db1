package scan

// Bulk is an INSERT of literal tuples: INSERT INTO name [(columns)] VALUES (...), (...), ... [tail].
type Bulk struct {
	// HeadEnd is the end of the first tuple: text[:HeadEnd] + text[TuplesEnd:] is the same INSERT of one row.
	HeadEnd int
	// TuplesEnd is the end of the last tuple. What follows (ON CONFLICT, RETURNING, nothing) is for the parser.
	TuplesEnd int
	// Rows is the number of tuples, the first included.
	Rows int
	// Columns is the number of values of each.
	Columns int
}

// MinBulkRows is the number of tuples from which FindBulk takes an INSERT.
const MinBulkRows = 33

// FindBulk reports whether text is one INSERT of at least MinBulkRows tuples that all hold plain literals (numbers with or
// without minus, plain strings, NULL, TRUE, FALSE, DEFAULT) and are of one length. When it says no, the parser gets the
// whole text. Called by sql/session for long simple Query texts.
func FindBulk(text string) (Bulk, bool) {
	i, ok := bulkHead(text)
	if !ok {
		return Bulk{}, false
	}
	var b Bulk
	for {
		end, n, ok := skipTuple(text, i)
		if !ok || b.Rows > 0 && n != b.Columns {
			return Bulk{}, false
		}
		if b.Rows == 0 {
			b.HeadEnd, b.Columns = end, n
		}
		b.Rows++
		b.TuplesEnd = end
		i = skipBlank(text, end)
		if i >= len(text) || text[i] != ',' {
			break
		}
		i = skipBlank(text, i+1)
	}
	if b.Rows < MinBulkRows {
		return Bulk{}, false
	}
	// Nothing may follow the statement itself.
	rest, more := Next(text, b.TuplesEnd)
	if more {
		if text[skipBlank(text, b.TuplesEnd)] == ';' {
			return Bulk{}, false
		}
		if _, more := Next(text, rest.Next); more {
			return Bulk{}, false
		}
	}
	return b, true
}

// bulkHead returns the offset of the first tuple of INSERT INTO name [(columns)] VALUES.
func bulkHead(text string) (int, bool) {
	i := skipBlank(text, 0)
	for _, w := range [...]string{"insert", "into"} {
		end := skipName(text, i)
		if !isWord(text, i, end, w) {
			return 0, false
		}
		i = skipBlank(text, end)
	}
	for { // name, possibly dotted
		if i >= len(text) {
			return 0, false
		}
		switch classes[text[i]] {
		case cLetter:
			i = skipName(text, i)
		case cDouble:
			i, _ = skipQuoted(text, i, '"')
		default:
			return 0, false
		}
		i = skipBlank(text, i)
		if i >= len(text) || text[i] != '.' {
			break
		}
		i = skipBlank(text, i+1)
	}
	if i < len(text) && text[i] == '(' {
		for i < len(text) && text[i] != ')' {
			i = skipToken(text, i)
		}
		if i >= len(text) {
			return 0, false
		}
		i = skipBlank(text, i+1)
	}
	end := skipName(text, i)
	if !isWord(text, i, end, "values") {
		return 0, false
	}
	return skipBlank(text, end), true
}

// skipTuple returns the end of the tuple at i and the number of its values.
func skipTuple(text string, i int) (end, n int, ok bool) {
	if i >= len(text) || text[i] != '(' {
		return 0, 0, false
	}
	i++
	for {
		i = skipBlank(text, i)
		lit, ok := literal(text, i)
		if !ok {
			return 0, 0, false
		}
		n++
		i = skipBlank(text, int(lit.End))
		if i >= len(text) {
			return 0, 0, false
		}
		switch text[i] {
		case ',':
			i++
		case ')':
			return i + 1, n, true
		default:
			return 0, 0, false
		}
	}
}

// literal reads the plain literal at i.
func literal(text string, i int) (Literal, bool) {
	if i >= len(text) {
		return Literal{}, false
	}
	switch classes[text[i]] {
	case cDigit:
		lit, end := number(text, i, i)
		return lit, end > 0
	case cQuote:
		end, closed := skipQuoted(text, i, '\'')
		if !closed || nextIsQuote(text, end) {
			return Literal{}, false
		}
		return Literal{int32(i), int32(end), String}, true
	case cLetter:
		end := skipName(text, i)
		for c, w := range [...]string{"null", "true", "false", "default"} {
			if isWord(text, i, end, w) {
				return Literal{int32(i), int32(end), Null + Class(c)}, true
			}
		}
	case cOp:
		if text[i] == '-' && i+1 < len(text) && classes[text[i+1]] == cDigit {
			lit, end := number(text, i, i+1)
			return lit, end > 0
		}
	}
	return Literal{}, false
}

// Tuples reads the tuples of a Bulk one by one.
type Tuples struct {
	text string
	pos  int
	left int
}

// Tuples returns a reader of b's tuples, the first included; text is what FindBulk was given.
func (b Bulk) Tuples(text string) Tuples {
	i, _ := bulkHead(text)
	return Tuples{text: text, pos: i, left: b.Rows}
}

// Next appends the next tuple's literals to dst[:0] and returns it, or nil after the last. Nothing is allocated when dst has
// room for the columns.
func (t *Tuples) Next(dst []Literal) []Literal {
	if t.left == 0 {
		return nil
	}
	t.left--
	dst = dst[:0]
	i := t.pos + 1
	for {
		i = skipBlank(t.text, i)
		lit, ok := literal(t.text, i)
		if !ok { // FindBulk has seen all of them
			t.left = 0
			return nil
		}
		dst = append(dst, lit)
		i = skipBlank(t.text, int(lit.End))
		if t.text[i] == ')' {
			break
		}
		i++
	}
	i = skipBlank(t.text, i+1)
	if t.left > 0 {
		i = skipBlank(t.text, i+1)
	}
	t.pos = i
	return dst
}
