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
	must(t, WriteSync(f, "w", "s", []byte("hello"), 3, Parked))
	must(t, WriteSync(f, "w", "s", nil, 3, Parked))
	got, err := ReadFile(OS, lab, name)
	must(t, err)
	if want := []byte("\x00\x00\x00hello"); !bytes.Equal(got, want) {
		t.Errorf("file holds %q, want %q", got, want)
	}

	m := NewMem()
	g := create(t, m, "/f", "")
	must(t, m.SyncDir(lab, "/"))
	must(t, WriteSync(g, "w", "s", []byte("kept"), 0, Parked))
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
		if err := WriteSync(f, "w", "s", []byte("x"), 0, Parked); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

// noCall is a file of a file system that does not know the one call.
type noCall struct {
	File
	asked int
}

func (f *noCall) writeSync([]byte, int64, Waiting) error {
	f.asked++
	return errNoWriteSync
}

// Where the one call is not known the two are made, and it is not tried again.
func TestWriteSyncWithoutTheCall(t *testing.T) {
	defer noWriteSync.Store(noWriteSync.Load())
	noWriteSync.Store(false)
	m := NewMem()
	f := &noCall{File: create(t, m, "/f", "")}
	must(t, m.SyncDir(lab, "/"))
	must(t, WriteSync(f, "w", "s", []byte("on"), 0, Parked))
	must(t, WriteSync(f, "w", "s", []byte("ce"), 2, Parked))
	if got := contentsOf(t, m.CrashClone(CrashOptions{}), "/f"); got != "once" || f.asked != 1 {
		t.Errorf("after a crash the file holds %q, the call was tried %d times", got, f.asked)
	}
}

// A failure of the one call is one of a sync: the server has to stop.
func TestWriteSyncFailureIsThatOfASync(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := OS.Create(lab, name)
	must(t, err)
	must(t, f.Close())
	f, err = OS.OpenRead(lab, name) // a descriptor that cannot be written
	must(t, err)
	defer f.Close()
	if err := f.(syncWriter).writeSync([]byte("x"), 0, Parked); !SyncFailed(err) {
		t.Errorf("%v is not taken for a failed sync", err)
	}
}
