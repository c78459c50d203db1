package wire

import (
	"encoding/binary"
	"io"
)

// FlushAt is how many pending bytes make the Writer send before the next message; also the largest TLS record payload.
const FlushAt = 8 << 10

// Column describes one result column on the wire.
type Column struct {
	Name   string
	Rel    uint32
	Attno  int16
	Type   uint32
	Len    int16
	Typmod int32
}

// Writer collects frames and sends them in pieces.
type Writer struct {
	dst   io.Writer
	buf   []byte
	start int // offset of the open message, -1 none
	err   error
	// BytesWritten counts what was handed to the connection.
	BytesWritten int64
}

// NewWriter returns a Writer over dst, which may be replaced by SetDestination when TLS starts.
func NewWriter(dst io.Writer) *Writer {
	return &Writer{dst: dst, buf: make([]byte, 0, minBuffer), start: -1}
}

// SetDestination continues on another stream.
func (w *Writer) SetDestination(dst io.Writer) { w.dst = dst }

// Err returns the first write error.
func (w *Writer) Err() error { return w.err }

// Pending returns the number of bytes not yet sent.
func (w *Writer) Pending() int { return len(w.buf) }

// Flush sends everything.
func (w *Writer) Flush() error {
	if len(w.buf) > 0 && w.err == nil {
		var n int
		n, w.err = w.dst.Write(w.buf)
		w.BytesWritten += int64(n)
	}
	if cap(w.buf) > idleBuffer {
		w.buf = make([]byte, 0, minBuffer)
	} else {
		w.buf = w.buf[:0]
	}
	return w.err
}

// Begin opens a message of the given type.
func (w *Writer) Begin(typ byte) {
	w.start = len(w.buf)
	w.buf = append(w.buf, typ, 0, 0, 0, 0)
}

// End closes the open message and sends the buffer when it is long enough.
func (w *Writer) End() {
	binary.BigEndian.PutUint32(w.buf[w.start+1:], uint32(len(w.buf)-w.start-1))
	w.start = -1
	if len(w.buf) >= FlushAt {
		w.Flush()
	}
}

// Abandon drops the open message.
func (w *Writer) Abandon() {
	if w.start >= 0 {
		w.buf = w.buf[:w.start]
		w.start = -1
	}
}

// Byte appends to the open message.
func (w *Writer) Byte(b byte) { w.buf = append(w.buf, b) }

// Int16 appends a big-endian number to the open message.
func (w *Writer) Int16(v int16) { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v)) }

// Int32 appends a big-endian number to the open message.
func (w *Writer) Int32(v int32) { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v)) }

// Raw appends bytes to the open message.
func (w *Writer) Raw(b []byte) { w.buf = append(w.buf, b...) }

// String appends s and a zero byte.
func (w *Writer) String(s string) {
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, 0)
}

// Buf and SetBuf let a caller append fields to the open message without a call per byte.
func (w *Writer) Buf() []byte { return w.buf }

// SetBuf hands back the slice taken by Buf after appending to it.
func (w *Writer) SetBuf(b []byte) { w.buf = b }

// BeginField reserves the length word of a DataRow field; EndField fills it.
func (w *Writer) BeginField() int {
	w.buf = append(w.buf, 0, 0, 0, 0)
	return len(w.buf)
}

// EndField sets the length of the field that began at mark.
func (w *Writer) EndField(mark int) {
	binary.BigEndian.PutUint32(w.buf[mark-4:], uint32(len(w.buf)-mark))
}

// NullField appends a NULL field.
func (w *Writer) NullField() { w.buf = append(w.buf, 0xff, 0xff, 0xff, 0xff) }

// Empty sends a message without a body.
func (w *Writer) Empty(typ byte) {
	w.buf = append(w.buf, typ, 0, 0, 0, 4)
	if len(w.buf) >= FlushAt {
		w.Flush()
	}
}

// Ready sends ReadyForQuery with the transaction status.
func (w *Writer) Ready(status byte) {
	w.buf = append(w.buf, 'Z', 0, 0, 0, 5, status)
}

// Complete sends CommandComplete.
func (w *Writer) Complete(tag string) {
	w.Begin('C')
	w.String(tag)
	w.End()
}

// CompleteCount sends CommandComplete with a row count behind the tag.
func (w *Writer) CompleteCount(tag string, n int64) {
	w.Begin('C')
	w.buf = append(w.buf, tag...)
	w.buf = append(w.buf, ' ')
	w.buf = appendInt(w.buf, n)
	w.buf = append(w.buf, 0)
	w.End()
}

func appendInt(b []byte, n int64) []byte {
	var tmp [20]byte
	i := len(tmp)
	for {
		i--
		tmp[i] = byte('0' + n%10)
		n /= 10
		if n == 0 {
			return append(b, tmp[i:]...)
		}
	}
}

// ParameterStatus sends one reported setting.
func (w *Writer) ParameterStatus(name, value string) {
	w.Begin('S')
	w.String(name)
	w.String(value)
	w.End()
}

// RowDescription sends the description of cols; format gives the format code of each column.
func (w *Writer) RowDescription(cols []Column, format func(i int) int16) {
	w.Begin('T')
	w.Int16(int16(len(cols)))
	for i := range cols {
		c := &cols[i]
		w.String(c.Name)
		w.Int32(int32(c.Rel))
		w.Int16(c.Attno)
		w.Int32(int32(c.Type))
		w.Int16(c.Len)
		w.Int32(c.Typmod)
		w.Int16(format(i))
	}
	w.End()
}
