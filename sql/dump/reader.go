package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Dialect is the language of a dump.
type Dialect string

// The dialects.
const (
	MySQL    Dialect = "mysql"
	Postgres Dialect = "postgres"
)

// maxStatement is the longest statement that is read.
const maxStatement = 1 << 30

// Detect tells a dump's dialect by how it begins; "" when it does not show.
func Detect(head []byte) Dialect {
	s := string(head)
	switch {
	case strings.Contains(s, "MySQL dump"), strings.Contains(s, "MariaDB dump"), strings.Contains(s, "/*!"), strings.Contains(s, "phpMyAdmin"), strings.Contains(s, "TABLE `"), strings.Contains(s, "INTO `"):
		return MySQL
	case strings.Contains(s, "PostgreSQL database dump"), strings.Contains(s, "FROM stdin;"), strings.Contains(s, "pg_catalog"):
		return Postgres
	}
	return ""
}

// Reader cuts a dump into statements.
type Reader struct {
	in        *bufio.Reader
	dialect   Dialect
	delimiter string
	buf       []byte
	inCopy    bool
	line      int // of the next byte
	start     int // line of the statement given last
}

// NewReader reads a dump of a dialect.
func NewReader(r io.Reader, d Dialect) *Reader {
	const size = 1 << 20
	return &Reader{in: bufio.NewReaderSize(r, size), dialect: d, delimiter: ";", line: 1}
}

// Line is the line in which the last statement began.
func (r *Reader) Line() int { return r.start }

// Next returns the next statement without its end, io.EOF after the last. It is valid until the next call. A line that
// begins with a backslash, psql's command, comes as a statement of its own. A rest of a COPY block that nobody read is skipped.
func (r *Reader) Next() ([]byte, error) {
	if r.inCopy {
		if _, err := io.Copy(io.Discard, r.CopyData()); err != nil {
			return nil, err
		}
	}
	for {
		r.buf = r.buf[:0]
		if err := r.skipBlank(); err != nil {
			return nil, err
		}
		r.start = r.line
		err := r.statement()
		if err != nil && (err != io.EOF || len(bytes.TrimSpace(r.buf)) == 0) {
			return nil, err
		}
		if r.dialect == MySQL && isDelimiterLine(r.buf) { // the last line of the file
			r.setDelimiter()
		}
		text := bytes.TrimSpace(r.buf)
		if len(text) > 0 {
			return text, nil
		}
	}
}

// skipBlank skips blanks and comment lines before a statement; conditional comments are statements.
func (r *Reader) skipBlank() error {
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case b == '\n':
			r.line++
		case b == ' ' || b == '\t' || b == '\r':
		case b == '-' && r.peek('-'), b == '#' && r.dialect == MySQL:
			if err := r.skipLine(); err != nil {
				return err
			}
		default:
			return r.in.UnreadByte()
		}
	}
}

func (r *Reader) peek(want byte) bool {
	next, err := r.in.Peek(1)
	return err == nil && next[0] == want
}

func (r *Reader) skipLine() error {
	for {
		_, err := r.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.line++
		return err
	}
}

// statement appends to buf up to the delimiter.
func (r *Reader) statement() error {
	if r.peek('\\') {
		return r.restOfLine()
	}
	var last byte // the byte before, to tell E'' and names
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if b == r.delimiter[0] && !(r.dialect == MySQL && isDelimiterLine(r.buf)) && r.atDelimiter() {
			return nil
		}
		if len(r.buf) > maxStatement {
			return fmt.Errorf("statement in line %d is longer than %d bytes", r.start, maxStatement)
		}
		r.buf = append(r.buf, b)
		switch {
		case b == '\n':
			r.line++
			if r.dialect == MySQL && isDelimiterLine(r.buf) {
				r.setDelimiter()
			}
		case b == '\'', b == '"', b == '`' && r.dialect == MySQL:
			escapes := r.dialect == MySQL && b != '`' || b == '\'' && last|0x20 == 'e' && !inName(r.buf[:len(r.buf)-2])
			err = r.quoted(b, escapes)
		case b == '-' && r.peek('-'), b == '#' && r.dialect == MySQL:
			r.buf = r.buf[:len(r.buf)-1]
			r.buf = append(r.buf, ' ')
			err = r.skipLine()
		case b == '/' && r.peek('*'):
			err = r.comment()
		case b == '$' && r.dialect == Postgres && !inName(r.buf[:len(r.buf)-1]):
			err = r.dollar()
		}
		if err != nil {
			return err
		}
		last = b
	}
}

// inName says whether text ends in a name or number.
func inName(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	b := text[len(text)-1]
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// atDelimiter consumes the rest of the delimiter if it stands there.
func (r *Reader) atDelimiter() bool {
	if len(r.delimiter) == 1 {
		return true
	}
	rest := r.delimiter[1:]
	next, _ := r.in.Peek(len(rest))
	if string(next) != rest {
		return false
	}
	_, _ = r.in.Discard(len(rest)) // it was peeked
	return true
}

func isDelimiterLine(text []byte) bool {
	const word = "delimiter"
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > len(word) && strings.EqualFold(string(text[:len(word)]), word) && (text[len(word)] == ' ' || text[len(word)] == '\t')
}

func (r *Reader) setDelimiter() {
	if f := strings.Fields(string(r.buf)); len(f) == 2 {
		r.delimiter = f[1]
	}
	r.buf = r.buf[:0]
}

func (r *Reader) restOfLine() error {
	line, err := r.in.ReadString('\n')
	r.line++
	r.buf = append(r.buf, strings.TrimRight(line, "\r\n")...)
	return err
}

// quoted appends up to the closing quote.
func (r *Reader) quoted(q byte, escapes bool) error {
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return r.cut(err, "string")
		}
		r.buf = append(r.buf, b)
		switch {
		case b == '\n':
			r.line++
		case b == '\\' && escapes:
			if b, err = r.in.ReadByte(); err != nil {
				return r.cut(err, "string")
			}
			r.buf = append(r.buf, b)
		case b == q && r.peek(q): // doubled
			b, _ = r.in.ReadByte() // it was peeked
			r.buf = append(r.buf, b)
		case b == q:
			return nil
		}
	}
}

func (r *Reader) cut(err error, what string) error {
	if err == io.EOF {
		return fmt.Errorf("%s in the statement of line %d does not end: %w", what, r.start, io.ErrUnexpectedEOF)
	}
	return err
}

// comment appends a block comment; PostgreSQL's nest.
func (r *Reader) comment() error {
	depth := 1
	var last byte
	if b, err := r.in.ReadByte(); err == nil { // the star
		r.buf = append(r.buf, b)
	}
	for depth > 0 {
		b, err := r.in.ReadByte()
		if err != nil {
			return r.cut(err, "comment")
		}
		r.buf = append(r.buf, b)
		switch {
		case b == '\n':
			r.line++
		case b == '/' && last == '*':
			depth--
			b = 0
		case b == '*' && last == '/' && r.dialect == Postgres:
			depth++
			b = 0
		}
		last = b
	}
	return nil
}

// dollar appends a dollar-quoted string when one begins here.
func (r *Reader) dollar() error {
	tag := []byte{'$'}
	for {
		next, err := r.in.Peek(1)
		if err != nil || !(next[0] == '$' || inName(next)) {
			return nil
		}
		b, _ := r.in.ReadByte() // it was peeked
		r.buf = append(r.buf, b)
		if tag = append(tag, b); b == '$' {
			break
		}
	}
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return r.cut(err, "dollar-quoted string")
		}
		if r.buf = append(r.buf, b); b == '\n' {
			r.line++
		}
		if b == '$' && bytes.HasSuffix(r.buf, tag) {
			return nil
		}
	}
}

// StartCopy says that the statement just returned begins a COPY block, which CopyData reads.
func (r *Reader) StartCopy() error {
	r.inCopy = true
	return r.skipLine()
}

// CopyData reads the COPY block up to its end, a line of backslash and dot.
func (r *Reader) CopyData() io.Reader { return &copyReader{r: r} }

type copyReader struct {
	r    *Reader
	rest []byte // of the line that is given out
	mid  bool   // the last piece did not end a line
}

// Read implements io.Reader.
func (c *copyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(c.rest) == 0 {
			if !c.r.inCopy {
				break
			}
			if n > 0 && c.r.in.Buffered() == 0 {
				break
			}
			line, err := c.r.in.ReadSlice('\n')
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				c.r.inCopy = false
				return n, c.r.cut(err, "COPY block")
			}
			if !c.mid && len(line) <= 4 && strings.TrimRight(string(line), "\r\n") == `\.` {
				c.r.inCopy = false
				c.r.line++
				break
			}
			if c.mid = err != nil; !c.mid {
				c.r.line++
			}
			c.rest = line
		}
		k := copy(p[n:], c.rest)
		n, c.rest = n+k, c.rest[k:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
