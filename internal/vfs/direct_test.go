package vfs

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Aligned and other writes through a direct file mix, and both descriptors see the same bytes.
func TestDirect(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	plain, err := OS.Create("", name)
	must(t, err)
	f := Direct(plain)
	defer f.Close()
	if _, ok := f.(directFile); !ok {
		t.Log("the file system of the temporary folder has no direct writes: only the way around is tested")
	}
	const size = 64 * DirectAlign
	want := make([]byte, size)
	block := AlignedBuffer(8 * DirectAlign)
	r := rand.New(rand.NewPCG(1, 2))
	_, err = f.WriteAt("", AlignedBuffer(size), 0)
	must(t, err)
	for range 300 {
		n := (1 + r.IntN(8)) * DirectAlign
		off := r.IntN((size-n)/DirectAlign+1) * DirectAlign
		p := block[:n]
		if r.IntN(2) == 0 { // neither length nor offset nor address fit
			p, off = block[1:1+r.IntN(n-1)], off+1
		}
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			must(t, WriteSync(f, "", "", p, int64(off), Parked))
		} else {
			_, err := f.WriteAt("", p, int64(off))
			must(t, err)
		}
		copy(want[off:], p)
		if r.IntN(10) == 0 {
			got := make([]byte, size)
			_, err := f.ReadAt("", got, 0)
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Fatal("read other bytes than were written")
			}
		}
	}
	must(t, f.Sync(""))
	got, err := os.ReadFile(name)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Fatal("the file holds other bytes than were written")
	}
}

// A file of another file system is returned as it is.
func TestDirectElsewhere(t *testing.T) {
	f, err := NewMem().Create("", "f")
	must(t, err)
	if Direct(f) != f {
		t.Fatal("a file in memory changed")
	}
}

func TestAlignedBuffer(t *testing.T) {
	for _, n := range []int{0, 1, DirectAlign, 3*DirectAlign + 5} {
		b := AlignedBuffer(n)
		if len(b) != n || n > 0 && !aligned(b[:0:n], 0) {
			t.Fatalf("%d bytes: %d, aligned %t", n, len(b), aligned(b[:0], 0))
		}
	}
}
