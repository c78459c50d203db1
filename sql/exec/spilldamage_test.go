package exec

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"herd/internal/vfs"
	"herd/sql/sqlerr"
)

// TestSpillDamage flips every bit of a temporary file: reading it, from the start and from a record, says so and names the file, and gives no
// record that is not what was written.
func TestSpillDamage(t *testing.T) {
	m := vfs.NewMem()
	s, err := newSpill(&Env{SpillFS: m, SpillDir: "/spill"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var want [][]byte
	for i := range spillMark + 5 {
		p := bytes.Repeat([]byte{byte(i)}, i%7)
		want = append(want, p)
		if err := s.write(p[:len(p)/2], p[len(p)/2:]); err != nil {
			t.Fatal(err)
		}
	}
	read := func(from int64) (err error) {
		r, err := s.reader()
		if err == nil {
			err = r.seek(from)
		}
		for i := from; err == nil; i++ {
			var p []byte
			if p, err = r.next(); p == nil && err == nil {
				if int(i) != len(want) {
					err = fmt.Errorf("%d records of %d", i, len(want))
				}
				return err
			}
			if err == nil && !bytes.Equal(p, want[i]) {
				return fmt.Errorf("record %d is %q, want %q", i, p, want[i])
			}
		}
		return err
	}
	for _, from := range []int64{0, 3, spillMark, spillMark + 2, int64(len(want))} {
		if err := read(from); err != nil {
			t.Fatalf("from %d: %v", from, err)
		}
	}
	for bit := range s.size * 8 {
		if err := vfs.FlipBit(m, "t", s.name, bit); err != nil {
			t.Fatal(err)
		}
		var e *sqlerr.Error
		if err := read(0); !errors.As(err, &e) || e.Code != sqlerr.DataCorrupted || !strings.Contains(e.Message, s.name) {
			t.Errorf("bit %d: %v", bit, err)
		}
		if err := vfs.FlipBit(m, "t", s.name, bit); err != nil {
			t.Fatal(err)
		}
	}
}
