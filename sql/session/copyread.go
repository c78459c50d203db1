package session

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// maxCopyLine bounds one line of a COPY FROM, as PostgreSQL's string buffers are bounded.
const maxCopyLine = 1 << 30

// copyReader cuts a COPY stream into rows of fields.
type copyReader struct {
	src    CopySource
	format *copyFormat
	buf    []byte
	off    int
	ended  bool // the client sent CopyDone, or the end mark was seen
	line   int64
	raw    []byte // the current line, for error contexts

	fields [][]byte // nil = NULL; valid until the next row
	plain  bool     // the current line has neither escapes nor quotes
	stops  *[256]uint8
	// special is the character that begins an escape in text, quotes in CSV.
	special byte
	arena   []byte
	ends    []fieldEnd
	eol     byte // 0 unknown, 'n' \n, 'r' \r, 'b' \r\n
	marked  bool // the end mark was seen: the client's rest is of no interest
}

type fieldEnd struct {
	end    int
	null   bool
	quoted bool
}

// more reads another piece; false at the end of the data.
func (r *copyReader) more() (bool, error) {
	if r.ended {
		return false, nil
	}
	data, done, err := r.src.NextCopyData()
	if err != nil {
		return false, err
	}
	if done {
		r.ended = true
		return false, nil
	}
	if r.off > 0 {
		n := copy(r.buf, r.buf[r.off:])
		r.buf = r.buf[:n]
		r.off = 0
	}
	if len(r.buf)+len(data) > maxCopyLine {
		return false, sqlerr.New(sqlerr.ProgramLimitExceeded, "COPY line of more than %d bytes", maxCopyLine)
	}
	r.buf = append(r.buf, data...)
	return true, nil
}

// next reads one row into fields; false at the end.
func (r *copyReader) next(columns int) (bool, error) {
	if r.format.kind == ast.CopyBinary {
		return r.nextBinary(columns)
	}
	ok, err := r.nextLine()
	if !ok || err != nil {
		return false, err
	}
	if types.ValidText(r.raw) != nil {
		// The error shows as many bytes as the character should have, those of the next line among them; a message is text.
		from := cap(r.buf) - cap(r.raw)
		err := types.ValidText(r.buf[from:min(from+len(r.raw)+3, len(r.buf))])
		r.raw = nil
		return false, err
	}
	r.arena, r.ends = r.arena[:0], r.ends[:0]
	if r.plain {
		r.splitPlain()
		return true, nil
	}
	if r.format.kind == ast.CopyCSV {
		err = r.splitCSV()
	} else {
		err = r.splitText()
	}
	if err != nil {
		return false, err
	}
	r.finishFields()
	return true, nil
}

// nextLine finds the next line; false at the end of the data or at the end mark. While it reads, an error is one of the line that
// is being read, of which nothing is shown.
func (r *copyReader) nextLine() (bool, error) {
	if r.marked {
		return false, r.skipRest()
	}
	scan, quoted := r.off, false
	csv := r.format.kind == ast.CopyCSV
	r.plain, r.raw = true, nil
	r.line++
	if r.stops == nil {
		r.findStops()
	}
	for {
		if r.plain && !quoted {
			scan = r.plainEnd(scan)
		}
		for scan < len(r.buf) {
			ch := r.buf[scan]
			if r.stops[ch]&stopLine == 0 {
				scan++
				continue
			}
			if quoted && ch != r.format.quote {
				scan = r.quotedEnd(scan)
				continue
			}
			if csv && ch == r.format.quote {
				r.plain = false
				if !quoted || r.format.escape == r.format.quote || scan == r.off || !r.escaped(scan) {
					quoted = !quoted
				}
				scan++
				continue
			}
			if !csv && ch == '\\' {
				r.plain = false
				if scan+1 >= len(r.buf) && !r.ended {
					break
				}
				if scan+1 < len(r.buf) && r.buf[scan+1] == '.' {
					if !r.has(scan + 4) {
						break
					}
					return r.takeMarked(scan)
				}
				scan += 2 // the escaped character never ends the line
				continue
			}
			if ch == '\r' && scan+1 >= len(r.buf) && !r.ended {
				break // \r\n may be cut in two
			}
			return r.takeLine(scan)
		}
		from := r.off
		ok, err := r.more()
		if err != nil {
			return false, err
		}
		scan -= from - r.off
		if ok {
			continue
		}
		if scan < len(r.buf) {
			continue // the held-back last byte
		}
		if r.off >= len(r.buf) {
			r.line--
			return false, nil
		}
		r.raw = r.buf[r.off:]
		r.off = len(r.buf)
		if quoted {
			return false, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")
		}
		return true, nil
	}
}

// has says whether the buffer reaches to offset n, or never will.
func (r *copyReader) has(n int) bool { return n <= len(r.buf) || r.ended }

// quotedEnd returns where the next quote is, at or after from, and counts the lines up to it as PostgreSQL does: by the line ends
// that the data has been found to have.
func (r *copyReader) quotedEnd(from int) int {
	rest := r.buf[from:]
	if i := bytes.IndexByte(rest, r.format.quote); i >= 0 {
		rest = rest[:i]
	}
	end := []byte{'\r'}
	if r.eol == 'n' {
		end[0] = '\n'
	}
	r.line += int64(bytes.Count(rest, end))
	return from + len(rest)
}

// Bits of copyReader.stops.
const (
	stopLine   = 1 << iota // may end a line, or hide the end of one
	stopField              // may end a field outside of quotes, or begin quotes
	stopQuoted             // may end quotes
)

// findStops lists the characters that matter.
func (r *copyReader) findStops() {
	r.stops, r.special = new([256]uint8), '\\'
	r.stops['\n'], r.stops['\r'] = stopLine, stopLine
	if r.format.kind == ast.CopyCSV {
		r.special = r.format.quote
		r.stops[r.format.delim] |= stopField
		r.stops[r.format.quote] |= stopField | stopQuoted
		r.stops[r.format.escape] |= stopQuoted
	}
	r.stops[r.special] |= stopLine
}

// plainEnd returns where the first character with stopLine is, or the end of what has been read: most lines have none but
// the one that ends them, and the library looks at many bytes at a time.
func (r *copyReader) plainEnd(from int) int {
	rest := r.buf[from:]
	for _, ch := range [...]byte{'\n', r.special, '\r'} {
		if i := bytes.IndexByte(rest, ch); i >= 0 {
			rest = rest[:i]
		}
	}
	return from + len(rest)
}

// escaped tells whether the quote at i is preceded by an odd number of escape characters.
func (r *copyReader) escaped(i int) bool {
	n := 0
	for j := i - 1; j >= r.off && r.buf[j] == r.format.escape; j-- {
		n++
	}
	return n%2 == 1
}

// takeLine takes the line that ends at end.
func (r *copyReader) takeLine(end int) (bool, error) {
	style, next := byte('n'), end+1
	if r.buf[end] == '\r' {
		style = 'r'
		if r.eol != 'r' && next < len(r.buf) && r.buf[next] == '\n' {
			style = 'b'
			next++
		}
	}
	if r.format.kind == ast.CopyCSV && string(r.buf[r.off:end]) == `\.` && (r.eol != 'b' || style == 'b') {
		return r.takeMarked(r.off)
	}
	if r.eol != 0 && r.eol != style {
		return false, r.errLineEnd(style)
	}
	r.eol = style
	r.raw = r.buf[r.off:end]
	r.off = next
	return true, nil
}

// errLineEnd is the error of a line end of another style than those before.
func (r *copyReader) errLineEnd(style byte) error {
	what, escape := "carriage return", 'r'
	if style == 'n' {
		what, escape = "newline", 'n'
	}
	if r.format.kind == ast.CopyCSV {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "unquoted %s found in data", what).WithHint("Use quoted CSV field to represent %s.", what)
	}
	return sqlerr.New(sqlerr.BadCopyFileFormat, "literal %s found in data", what).WithHint("Use \"\\%c\" to represent %s.", escape, what)
}

// takeMarked ends the data at the mark \. at offset at, which a line end of the style before must follow. What stands in front of it
// in its line is a row.
func (r *copyReader) takeMarked(at int) (bool, error) {
	corrupt := func() error { return sqlerr.New(sqlerr.BadCopyFileFormat, "end-of-copy marker corrupt") }
	mismatch := func() error {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "end-of-copy marker does not match previous newline style")
	}
	char := func(i int) byte {
		if i < len(r.buf) {
			return r.buf[i]
		}
		return 0
	}
	i := at + 2
	if r.eol == 'b' {
		switch char(i) {
		case '\n':
			return false, mismatch()
		case '\r':
		default:
			return false, corrupt()
		}
		i++
	}
	end := char(i)
	switch {
	case end != '\r' && end != '\n':
		return false, corrupt()
	case r.eol == 'r' && end == '\n', (r.eol == 'n' || r.eol == 'b') && end == '\r':
		return false, mismatch()
	}
	r.marked = true
	if at == r.off {
		return false, r.skipRest()
	}
	r.raw = r.buf[r.off:at]
	return true, nil
}

// skipRest reads what a client still sends behind the end mark.
func (r *copyReader) skipRest() error {
	for {
		r.off = len(r.buf)
		ok, err := r.more()
		if !ok || err != nil {
			return err
		}
	}
}

// finishFields turns the recorded ends into slices of the arena.
func (r *copyReader) finishFields() {
	r.fields = r.fields[:0]
	from := 0
	for _, e := range r.ends {
		if e.null {
			r.fields = append(r.fields, nil)
		} else {
			f := r.arena[from:e.end:e.end]
			if f == nil {
				f = []byte{}
			}
			r.fields = append(r.fields, f)
		}
		from = e.end
	}
}

// splitPlain cuts a line without escapes and quotes: the fields are parts of the line.
func (r *copyReader) splitPlain() {
	r.fields = r.fields[:0]
	for line := r.raw; ; {
		i := bytes.IndexByte(line, r.format.delim)
		field := line
		if i >= 0 {
			field = line[:i:i]
		}
		if c := len(r.fields); string(field) == r.format.null && (c >= len(r.format.forceNotNull) || !r.format.forceNotNull[c]) {
			field = nil
		} else if field == nil {
			field = []byte{}
		}
		r.fields = append(r.fields, field)
		if i < 0 {
			return
		}
		line = line[i+1:]
	}
}

// splitText cuts a line of the text format and resolves backslash escapes.
func (r *copyReader) splitText() error {
	line := r.raw
	for start, i := 0, 0; ; i++ {
		if i < len(line) && line[i] != r.format.delim {
			if line[i] == '\\' {
				i++
			}
			continue
		}
		i = min(i, len(line))
		raw := line[start:i]
		null := string(raw) == r.format.null
		if !null {
			from := len(r.arena)
			r.arena = appendUnescaped(r.arena, raw)
			if len(r.arena)-from < len(raw) { // escapes may have made anything
				if err := types.ValidText(r.arena[from:]); err != nil {
					return err
				}
			}
		}
		r.ends = append(r.ends, fieldEnd{end: len(r.arena), null: null})
		if i >= len(line) {
			return nil
		}
		start = i + 1
	}
}

func appendUnescaped(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return append(dst, raw...)
	}
	for i := 0; i < len(raw); i++ {
		ch := raw[i]
		if ch != '\\' {
			dst = append(dst, ch)
			continue
		}
		if i++; i >= len(raw) { // at the end of the data it escapes nothing
			break
		}
		switch ch = raw[i]; ch {
		case 'b':
			ch = '\b'
		case 'f':
			ch = '\f'
		case 'n':
			ch = '\n'
		case 'r':
			ch = '\r'
		case 't':
			ch = '\t'
		case 'v':
			ch = '\v'
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v := int(ch - '0')
			for k := 0; k < 2 && i+1 < len(raw) && raw[i+1] >= '0' && raw[i+1] <= '7'; k++ {
				i++
				v = v*8 + int(raw[i]-'0')
			}
			ch = byte(v)
		case 'x':
			v, n := 0, 0
			for n < 2 && i+1 < len(raw) {
				d, err := strconv.ParseUint(string(raw[i+1]), 16, 8)
				if err != nil {
					break
				}
				v = v*16 + int(d)
				i++
				n++
			}
			if n > 0 {
				ch = byte(v)
			}
		}
		dst = append(dst, ch)
	}
	return dst
}

// splitCSV cuts a CSV line and removes quotes.
func (r *copyReader) splitCSV() error {
	line, f := r.raw, r.format
	i := 0
	for {
		start := len(r.arena)
		quoted, inQuote := false, false
		from := i
		for ; i < len(line); i++ {
			ch := line[i]
			switch {
			case !inQuote && ch == f.delim:
				goto done
			case !inQuote && ch == f.quote:
				inQuote, quoted = true, true
			case inQuote && ch == f.escape && i+1 < len(line) && (line[i+1] == f.escape || line[i+1] == f.quote):
				i++
				r.arena = append(r.arena, line[i])
			case inQuote && ch == f.quote:
				inQuote = false
			default:
				stop := uint8(stopField)
				if inQuote {
					stop = stopQuoted
				}
				run := i
				for i+1 < len(line) && r.stops[line[i+1]]&stop == 0 {
					i++
				}
				r.arena = append(r.arena, line[run:i+1]...)
			}
		}
	done:
		if inQuote {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")
		}
		col := len(r.ends)
		isNull := string(line[from:i]) == f.null && !quoted
		if isNull && col < len(f.forceNotNull) && f.forceNotNull[col] {
			isNull = false
		}
		if quoted && col < len(f.forceNull) && f.forceNull[col] && string(r.arena[start:]) == f.null {
			isNull = true
		}
		if isNull {
			r.arena = r.arena[:start]
		}
		r.ends = append(r.ends, fieldEnd{end: len(r.arena), null: isNull, quoted: quoted})
		if i >= len(line) {
			return nil
		}
		i++
	}
}

// need makes n unread bytes available in binary mode.
func (r *copyReader) need(n int) error {
	for len(r.buf)-r.off < n {
		ok, err := r.more()
		if err != nil {
			return err
		}
		if !ok {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "unexpected EOF in COPY data")
		}
	}
	return nil
}

// readBinaryHeader checks the signature and skips the header extension.
func (r *copyReader) readBinaryHeader() error {
	if err := r.need(len(binarySignature) + 8); err != nil {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "COPY file signature not recognized")
	}
	if string(r.buf[r.off:r.off+len(binarySignature)]) != binarySignature {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "COPY file signature not recognized")
	}
	r.off += len(binarySignature)
	flags := binary.BigEndian.Uint32(r.buf[r.off:])
	ext := int(int32(binary.BigEndian.Uint32(r.buf[r.off+4:])))
	r.off += 8
	switch {
	case flags&(1<<16) != 0:
		return sqlerr.New(sqlerr.BadCopyFileFormat, "invalid COPY file header (WITH OIDS)")
	case flags>>17 != 0:
		return sqlerr.New(sqlerr.BadCopyFileFormat, "unrecognized critical flags in COPY file header")
	case ext < 0 || ext > maxCopyLine:
		return sqlerr.New(sqlerr.BadCopyFileFormat, "invalid COPY file header (wrong length)")
	}
	if err := r.need(ext); err != nil {
		return err
	}
	r.off += ext
	return nil
}

func (r *copyReader) nextBinary(columns int) (bool, error) {
	if r.line == 0 {
		if err := r.readBinaryHeader(); err != nil {
			return false, err
		}
	}
	r.line++
	for len(r.buf)-r.off < 2 {
		ok, err := r.more()
		if err != nil {
			return false, err
		}
		if !ok {
			return false, nil // PostgreSQL takes a missing trailer for the end
		}
	}
	n := int16(binary.BigEndian.Uint16(r.buf[r.off:]))
	r.off += 2
	if n == -1 {
		return false, r.afterTrailer()
	}
	if int(n) != columns {
		return false, sqlerr.New(sqlerr.BadCopyFileFormat, "row field count is %d, expected %d", n, columns)
	}
	r.arena, r.ends = r.arena[:0], r.ends[:0]
	for range columns {
		if err := r.need(4); err != nil {
			return false, err
		}
		size := int(int32(binary.BigEndian.Uint32(r.buf[r.off:])))
		r.off += 4
		if size == -1 {
			r.ends = append(r.ends, fieldEnd{end: len(r.arena), null: true})
			continue
		}
		if size < 0 {
			return false, sqlerr.New(sqlerr.BadCopyFileFormat, "invalid field size")
		}
		if err := r.need(size); err != nil {
			return false, err
		}
		r.arena = append(r.arena, r.buf[r.off:r.off+size]...)
		r.off += size
		r.ends = append(r.ends, fieldEnd{end: len(r.arena)})
	}
	r.finishFields()
	return true, nil
}

func (r *copyReader) afterTrailer() error {
	for {
		if r.off < len(r.buf) {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "received copy data after EOF marker")
		}
		ok, err := r.more()
		if !ok || err != nil {
			return err
		}
	}
}
