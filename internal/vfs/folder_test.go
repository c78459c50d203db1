package vfs

import "testing"

// The whole way to a folder outlives a loss of power, with what is synced in it.
func TestMakeFolder(t *testing.T) {
	m := NewMem()
	must(t, MakeFolder(m, lab, "/a/b/c"))
	must(t, MakeFolder(m, lab, "/a/b/c")) // there already
	must(t, WriteFileAtomic(m, lab, "/a/b/c", "/a/b/c/f", []byte("kept")))
	if got := contentsOf(t, m.CrashClone(CrashOptions{}), "/a/b/c/f"); got != "kept" {
		t.Errorf("after a loss of power the file holds %q", got)
	}
	m = NewMem()
	must(t, m.MkdirAll(lab, "/d")) // by somebody who was killed before he had synced it
	must(t, MakeFolder(m, lab, "/d"))
	if _, err := m.CrashClone(CrashOptions{}).Stat(lab, "/d"); err != nil {
		t.Error(err)
	}
}
