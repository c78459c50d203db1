package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestNextOf reads a frame of the type that is wanted, and of another one nothing but its type.
func TestNextOf(t *testing.T) {
	header := binary.BigEndian.AppendUint32([]byte{'Q'}, MaxLarge) // of 1 GiB, which does not come
	r := NewReader(bytes.NewReader(append([]byte{'p', 0, 0, 0, 6, 'h', 'i'}, header...)))
	if typ, body, err := r.NextOf('p'); typ != 'p' || string(body) != "hi" || err != nil {
		t.Fatalf("%q %q %v", typ, body, err)
	}
	if typ, body, err := r.NextOf('p'); typ != 'Q' || body != nil || err != nil {
		t.Fatalf("%q %q %v", typ, body, err)
	}
}
