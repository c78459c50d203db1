package ycsb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgFast sends prepared statements over a connection that pgx has opened. Client and server share the machine's cores in
// a benchmark, so what the client spends on a statement is taken from the server: this path allocates nothing and
// makes one write and usually one read for each statement.
type pgFast struct {
	net   net.Conn
	out   []byte // the messages of the statement being built
	bind0 int    // where the Bind message's length stands in out
	in    []byte // received bytes are in[r:w]
	r, w  int
}

// hijack takes the network connection from pgx. The session must be idle.
func hijack(c *pgconn.PgConn) (*pgFast, error) {
	h, err := c.Hijack()
	if err != nil {
		return nil, fmt.Errorf("take over connection: %w", err)
	}
	return &pgFast{net: h.Conn, in: make([]byte, 16<<10)}, nil
}

// bind begins a Bind message of a named statement; params calls of param must follow, then run.
func (f *pgFast) bind(statement string, params int) {
	f.begin()
	f.out = append(f.out, statement...)
	f.bindRest(params)
}

// bindNumbered is bind for a statement named by a letter and a number.
func (f *pgFast) bindNumbered(letter byte, number, params int) {
	f.begin()
	f.out = append(f.out, letter)
	if number >= 10 {
		f.out = appendNumber(f.out, number)
	} else {
		f.out = append(f.out, byte('0'+number))
	}
	f.bindRest(params)
}

func appendNumber(b []byte, n int) []byte {
	if n >= 10 {
		b = appendNumber(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func (f *pgFast) begin() {
	f.out = append(f.out[:0], 'B', 0, 0, 0, 0, 0) // length comes later; unnamed portal
	f.bind0 = 1
}

func (f *pgFast) bindRest(params int) {
	f.out = append(f.out, 0, 0, 0) // end of name; all parameters are text
	f.out = binary.BigEndian.AppendUint16(f.out, uint16(params))
}

func (f *pgFast) param(value []byte) {
	f.out = binary.BigEndian.AppendUint32(f.out, uint32(len(value)))
	f.out = append(f.out, value...)
}

// executeSync is Execute of the unnamed portal without row limit, then Sync.
var executeSync = []byte{'E', 0, 0, 0, 9, 0, 0, 0, 0, 0, 'S', 0, 0, 0, 4}

// run sends the statement and reads its answer to ReadyForQuery. It calls each with the body of every DataRow, valid
// during the call only, and returns the rows received and the rows that the command tag says were changed.
func (f *pgFast) run(each func(row []byte)) (rows int, changed int64, err error) {
	f.out = append(f.out, 0, 0) // all results as text
	binary.BigEndian.PutUint32(f.out[f.bind0:], uint32(len(f.out)-f.bind0))
	f.out = append(f.out, executeSync...)
	if _, err := f.net.Write(f.out); err != nil {
		return 0, 0, fmt.Errorf("send statement: %w", err)
	}
	for {
		kind, body, readErr := f.message()
		if readErr != nil {
			return rows, changed, fmt.Errorf("receive answer: %w", readErr)
		}
		switch kind {
		case 'D':
			rows++
			if each != nil {
				each(body)
			}
		case 'C':
			changed = tagRows(body)
		case 'E':
			pgErr := parseError(body)
			if err = pgErr; pgErr.Severity == "FATAL" {
				return rows, changed, err
			}
		case 'Z':
			return rows, changed, err
		case '2', 'N', 'S', 'A', 's', 'I', 'n': // BindComplete, notices and the like
		default:
			return rows, changed, fmt.Errorf("receive answer: unexpected message %q", kind)
		}
	}
}

// message returns the next message; body is valid until the next call.
func (f *pgFast) message() (kind byte, body []byte, err error) {
	const header = 5
	if err := f.need(header); err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(f.in[f.r+1:]))
	const longest = 1 << 30
	if size < 4 || size > longest {
		return 0, nil, fmt.Errorf("message of length %d", size)
	}
	if err := f.need(1 + size); err != nil {
		return 0, nil, err
	}
	kind, body = f.in[f.r], f.in[f.r+header:f.r+1+size]
	f.r += 1 + size
	return kind, body, nil
}

// need reads until n bytes are there.
func (f *pgFast) need(n int) error {
	if f.r == f.w {
		f.r, f.w = 0, 0
	}
	if f.w-f.r >= n {
		return nil
	}
	if f.r+n > len(f.in) {
		to := f.in
		if n > len(to) {
			to = make([]byte, max(n, 2*len(f.in)))
		}
		f.w = copy(to, f.in[f.r:f.w])
		f.in, f.r = to, 0
	}
	for f.w-f.r < n {
		got, err := f.net.Read(f.in[f.w:])
		f.w += got
		if f.w-f.r < n && err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (f *pgFast) close() {
	_, _ = f.net.Write([]byte{'X', 0, 0, 0, 4}) // a server that is gone needs no goodbye
	_ = f.net.Close()
}

// tagRows reads the number at the end of a command tag such as "INSERT 0 1".
func tagRows(tag []byte) int64 {
	n, unit := int64(0), int64(1)
	for i := len(tag) - 2; i >= 0 && tag[i] >= '0' && tag[i] <= '9'; i-- { // the last byte is the terminator
		n += int64(tag[i]-'0') * unit
		unit *= 10
	}
	return n
}

// firstColumn returns the first value of a DataRow body.
func firstColumn(row []byte) []byte {
	if len(row) < 6 {
		return nil
	}
	n := int32(binary.BigEndian.Uint32(row[2:]))
	if n <= 0 || int(n) > len(row)-6 {
		return nil
	}
	return row[6 : 6+n]
}

// parseError reads the fields of an ErrorResponse that the report shows.
func parseError(body []byte) *pgconn.PgError {
	e := &pgconn.PgError{Severity: "ERROR"}
	for len(body) > 1 {
		field := body[0]
		end := 1
		for end < len(body) && body[end] != 0 {
			end++
		}
		text := string(body[1:end])
		switch field {
		case 'V':
			e.Severity = text
		case 'C':
			e.Code = text
		case 'M':
			e.Message = text
		}
		body = body[min(end+1, len(body)):]
	}
	return e
}
