package backup

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"syscall"
	"testing"

	"herd/internal/vfs"
)

// sample writes a small backup of pieces that compress and pieces that do not.
func sample(w *Writer) error {
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(i*i*31 + i>>3)
	}
	for _, p := range []struct {
		kind Kind
		data []byte
	}{{Head, []byte(`{"a":1}`)}, {Database, []byte(`{"name":"x"}`)}, {State, bytes.Repeat([]byte("row "), 500)}, {State, noise}, {Database, []byte(`{"name":"y"}`)},
		{State, []byte("more")}, {End, []byte(`{"rows":3}`)}} {
		if err := w.Piece(p.kind, p.data); err != nil {
			return err
		}
	}
	return nil
}

// TestNewerFormat reads a whole file of a later format.
func TestNewerFormat(t *testing.T) {
	p := write(t)
	le.PutUint32(p[8:], format+1)
	le.PutUint32(p[12:], crc32.Checksum(p[:12], castagnoli))
	if _, err := read(p); !errors.Is(err, ErrNewer) {
		t.Errorf("a file of format %d: %v", format+1, err)
	}
}

func readAll(r *Reader) (all []byte, err error) {
	for {
		p, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(append(all, byte(p.Kind)), p.Data...)
	}
}

func read(p []byte) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(p))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readAll(r)
}

func write(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err == nil {
		err = sample(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryBitCounts(t *testing.T) {
	file := write(t)
	if _, err := read(file); err != nil {
		t.Fatal(err)
	}
	for bit := range len(file) * 8 {
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := read(bad); err == nil {
			t.Fatalf("bit %d of %d is changed and nobody noticed", bit, len(file)*8)
		}
	}
	for n := range len(file) {
		_, err := read(file[:n])
		if d := (*DamageError)(nil); !errors.Is(err, ErrNotBackup) && !(errors.As(err, &d) && d.Torn && d.Offset == int64(n)) {
			t.Fatalf("a file of %d bytes, cut to %d: %v", len(file), n, err)
		}
	}
	if _, err := read(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte behind the end is not noticed")
	}
}

func TestReadingGoesOn(t *testing.T) {
	file := write(t)
	want, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	for stop := 1; ; stop++ {
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for range stop {
			p, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(append(got, byte(p.Kind)), p.Data...)
		}
		at, err := r.Place()
		if err != nil {
			t.Fatal(err)
		}
		if r, err = Resume(bytes.NewReader(file[at.Offset:]), at); err != nil {
			t.Fatal(err)
		}
		rest, err := readAll(r)
		if err != nil || !bytes.Equal(append(got, rest...), want) {
			t.Fatalf("after %d pieces: %v", stop, err)
		}
	}
}

// TestCreateFaults fails every call of every kind: a file of that name is whole, or there is none, or the one before.
func TestCreateFaults(t *testing.T) {
	before := []byte("the one before")
	run := func(rules ...vfs.Rule) (*vfs.Mem, *vfs.Fault, error) {
		m := vfs.NewMem()
		if err := errors.Join(m.MkdirAll("t", "/b"), m.SyncDir("t", "/"), vfs.WriteFileAtomic(m, "t", "/b", "/b/f", before)); err != nil {
			t.Fatal(err)
		}
		f := vfs.NewFault(m, rules...)
		return m, f, Create(f, "/b/f", true, sample)
	}
	_, count, err := run()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for call, calls := range count.Calls() {
		for n := 1; n <= calls; n++ {
			for _, e := range []error{syscall.EIO, syscall.ENOSPC} {
				tried++
				m, _, err := run(vfs.Rule{Label: call.Label, Op: call.Op, Nth: n, Err: e, Partial: 10})
				p, readErr := vfs.ReadFile(m.CrashClone(vfs.CrashOptions{}), "t", "/b/f")
				if readErr != nil {
					t.Fatal(readErr)
				}
				_, bad := read(p)
				if what := fmt.Sprintf("%s %s, call %d, %v", call.Label, call.Op, n, e); err == nil && bad != nil {
					t.Errorf("%s: success is told and the file is bad: %v", what, bad)
				} else if bad != nil && !bytes.Equal(p, before) {
					t.Errorf("%s: neither the new nor the former file is there", what)
				}
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d faults", tried)
	}
	if err := Create(count, "/b/f", false, sample); err == nil {
		t.Error("an existing file is replaced without being asked")
	}
}
