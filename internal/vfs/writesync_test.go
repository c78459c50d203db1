package vfs

import (
	"bytes"
	"path/filepath"
	"syscall"
	"testing"
)

// WriteSync on a real file is one call; on every other it is a write and a sync, each under its own label.
func TestWriteSync(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := OS.Create(lab, name)
	must(t, err)
	defer f.Close()
	must(t, WriteSync(f, "w", "s", []byte("hello"), 3))
	must(t, WriteSync(f, "w", "s", nil, 3))
	got, err := ReadFile(OS, lab, name)
	must(t, err)
	if want := []byte("\x00\x00\x00hello"); !bytes.Equal(got, want) {
		t.Errorf("file holds %q, want %q", got, want)
	}

	m := NewMem()
	g := create(t, m, "/f", "")
	must(t, m.SyncDir(lab, "/"))
	must(t, WriteSync(g, "w", "s", []byte("kept"), 0))
	crashes(m, 0, 1, func(c *Mem) {
		if got := contentsOf(t, c, "/f"); got != "kept" {
			t.Errorf("after a crash the file holds %q", got)
		}
	})
}

// The rules for the two labels apply to both halves.
func TestWriteSyncFaults(t *testing.T) {
	for _, c := range []Rule{
		{Label: "w", Op: OpWrite, Nth: 1, Err: syscall.EIO},
		{Label: "s", Op: OpSync, Nth: 1, Err: syscall.EIO},
	} {
		fs := NewFault(NewMem(), c)
		f, err := fs.Create("c", "/f")
		must(t, err)
		if err := WriteSync(f, "w", "s", []byte("x"), 0); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}
