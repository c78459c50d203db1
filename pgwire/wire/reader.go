package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"herd/internal/mem"
)

// Limits of message lengths in bytes, length word included.
const (
	// MaxStartup bounds the first message of a connection, as PostgreSQL's MAX_STARTUP_PACKET_LENGTH.
	MaxStartup = 10000
	// MaxSmall bounds messages that carry only names and numbers.
	MaxSmall = 30000
	// MaxLarge bounds Query, Parse, Bind and CopyData, as PostgreSQL's PQ_LARGE_MESSAGE_LIMIT.
	MaxLarge = 1<<30 - 1

	minBuffer  = 8 << 10
	idleBuffer = 64 << 10 // a larger buffer is dropped once it is empty
	growStep   = 1 << 20  // a long body is read in steps: a length field alone takes no memory
	bulkBuffer = 256 << 10
)

// ErrTooLong is returned for a length field outside the bounds of its message type.
var ErrTooLong = errors.New("invalid message length")

// Reader takes frames from a connection.
type Reader struct {
	src  io.Reader
	buf  []byte
	r, w int // unread bytes are buf[r:w]
	bulk bool
	// Account pays for the part of the buffer beyond what every connection has; nil: nobody does. It is set, and nil again,
	// between two calls.
	Account *mem.Account
	booked  int64
	// BytesRead counts what came from the connection.
	BytesRead int64

	seen int64 // BytesRead at the last call of Fresh
	left int   // bytes still to be read of a frame that is dropped, lost its type
	lost byte
}

// NewReader returns a Reader over src, which may be replaced by SetSource when TLS starts.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, minBuffer)}
}

// SetSource continues on another stream; fails if bytes of the old one are still unread (an injection attempt before TLS).
func (r *Reader) SetSource(src io.Reader) error {
	if r.r != r.w {
		return errors.New("received unencrypted data after SSL request")
	}
	r.src = src
	return nil
}

// Bulk turns reading for a stream of messages on and off: much at a time, into one large buffer that stays meanwhile.
func (r *Reader) Bulk(on bool) {
	if on && len(r.buf) < bulkBuffer {
		next := make([]byte, bulkBuffer)
		r.w = copy(next, r.buf[r.r:r.w])
		r.buf, r.r = next, 0
		_ = r.book(bulkBuffer) // never refused
	}
	r.bulk = on
}

// book brings the account to a buffer of size bytes. More than bulkBuffer may be refused: mem.ErrLimit.
func (r *Reader) book(size int) error {
	if r.Account == nil {
		return nil
	}
	want := int64(0)
	if size > idleBuffer {
		want = int64(size)
	}
	switch d := want - r.booked; {
	case d <= 0:
		r.Account.Shrink(-d)
	case size <= bulkBuffer:
		r.Account.Force(d)
	default:
		if err := r.Account.Grow(d); err != nil {
			return err
		}
	}
	r.Account.Note(mem.UseMessage, want-r.booked)
	r.booked = want
	return nil
}

// Buffered returns how many bytes are waiting unread in the buffer.
func (r *Reader) Buffered() int { return r.w - r.r }

// Take returns the bytes that are waiting unread and forgets them: somebody else reads the connection from now on.
func (r *Reader) Take() []byte {
	p := r.buf[r.r:r.w]
	r.r, r.w = 0, 0
	return p
}

// Fresh reports whether bytes came from the connection since the last call.
func (r *Reader) Fresh() bool {
	fresh := r.seen != r.BytesRead
	r.seen = r.BytesRead
	return fresh
}

// Startup reads a frame without a type byte: the first messages of a connection.
func (r *Reader) Startup() ([]byte, error) {
	if err := r.need(4); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(r.buf[r.r:])))
	if n < 8 || n > MaxStartup {
		return nil, fmt.Errorf("startup packet of %d bytes: %w", n, ErrTooLong)
	}
	if err := r.need(n); err != nil {
		return nil, err
	}
	body := r.buf[r.r+4 : r.r+n]
	r.r += n
	return body, nil
}

// Next reads one frame: its type byte and its body. A frame for which there is no memory is read to its end and dropped: the
// error is mem.ErrLimit then and the next frame is in its place.
func (r *Reader) Next() (typ byte, body []byte, err error) {
	if r.left > 0 { // a read deadline has passed meanwhile
		return r.lost, nil, r.skip()
	}
	if r.w-r.r < 5 {
		if err := r.need(5); err != nil {
			return 0, nil, err
		}
	}
	typ = r.buf[r.r]
	n := int(int32(binary.BigEndian.Uint32(r.buf[r.r+1:])))
	if n < 4 || n > limitOf(typ) {
		return typ, nil, fmt.Errorf("message type %q of %d bytes: %w", typ, n, ErrTooLong)
	}
	if r.w-r.r < n+1 {
		if err := r.need(n + 1); err != nil {
			if errors.Is(err, mem.ErrLimit) {
				r.left, r.lost = n+1-(r.w-r.r), typ
				err = r.skip()
			}
			return typ, nil, err
		}
	}
	body = r.buf[r.r+5 : r.r+1+n]
	r.r += n + 1
	return typ, body, nil
}

// skip reads the rest of a frame that is dropped, and what the buffer has is forgotten with it; at its end the error is mem.ErrLimit.
func (r *Reader) skip() error {
	r.r, r.w = 0, 0
	for r.left > 0 {
		k, err := r.src.Read(r.buf[:min(r.left, len(r.buf))])
		r.left -= k
		r.BytesRead += int64(k)
		if err != nil && r.left > 0 {
			return err
		}
	}
	r.buf = make([]byte, minBuffer)
	_ = r.book(minBuffer) // never refused
	return mem.ErrLimit
}

// NextOf is Next when the next frame is of type want; another one's type is returned without its body, which is not read: who has
// not proved yet who he is may not make the server keep much.
func (r *Reader) NextOf(want byte) (typ byte, body []byte, err error) {
	if err := r.need(5); err != nil {
		return 0, nil, err
	}
	if typ := r.buf[r.r]; typ != want {
		return typ, nil, nil
	}
	return r.Next()
}

func limitOf(typ byte) int {
	switch typ {
	case 'Q', 'P', 'B', 'd', 'F', 'p':
		if typ == 'p' {
			return 65535
		}
		return MaxLarge
	}
	return MaxSmall
}

// need makes at least n unread bytes available.
func (r *Reader) need(n int) error {
	if r.r == r.w {
		r.r, r.w = 0, 0
		if len(r.buf) > idleBuffer && n <= idleBuffer && !r.bulk {
			r.buf = make([]byte, minBuffer)
			_ = r.book(minBuffer)
		}
	}
	for r.w-r.r < n {
		if err := r.room(n); err != nil {
			return err
		}
		k, err := r.src.Read(r.buf[r.w:])
		r.w += k
		r.BytesRead += int64(k)
		if err != nil && r.w-r.r < n {
			if err == io.EOF && r.w > r.r {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// room makes space behind w, moving or growing the buffer; it grows by what has really arrived, not by what was announced.
func (r *Reader) room(n int) error {
	if r.r > 0 && (len(r.buf)-r.r < n || r.w == len(r.buf)) {
		copy(r.buf, r.buf[r.r:r.w])
		r.w -= r.r
		r.r = 0
	}
	if r.w < len(r.buf) {
		return nil
	}
	size := len(r.buf) * 2
	if size > len(r.buf)+growStep && len(r.buf) < 16*growStep {
		size = len(r.buf) + growStep
	}
	if size > n && n > len(r.buf) {
		size = n
	}
	if err := r.book(size); err != nil {
		return err
	}
	next := make([]byte, size)
	copy(next, r.buf[:r.w])
	r.buf = next
	return nil
}
