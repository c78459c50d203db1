package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const lab = Label("test")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, f FS, name, contents string) File {
	t.Helper()
	file, err := f.Create(lab, name)
	must(t, err)
	_, err = file.WriteAt(lab, []byte(contents), 0)
	must(t, err)
	return file
}

func TestBothFileSystemsBehaveAlike(t *testing.T) {
	for name, f := range map[string]FS{"os": OS, "mem": NewMem(), "fault": NewFault(NewMem()), "delay": NewDelay(NewMem(), Disk{})} {
		t.Run(name, func(t *testing.T) {
			dir := "/d"
			if name == "os" {
				dir = filepath.Join(t.TempDir(), "d")
			}
			must(t, f.MkdirAll(lab, dir))
			a := filepath.Join(dir, "a")
			file := create(t, f, a, "hello")
			must(t, file.Sync(lab))
			if _, err := f.Create(lab, a); !errors.Is(err, fs.ErrExist) {
				t.Fatalf("second create: %v", err)
			}
			if _, err := f.Open(lab, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("open of a missing file: %v", err)
			}
			must(t, file.Truncate(lab, 8))
			must(t, f.Rename(lab, a, filepath.Join(dir, "b")))
			must(t, f.SyncDir(lab, dir))
			names, err := f.ReadDir(lab, dir)
			must(t, err)
			if len(names) != 1 || names[0] != "b" {
				t.Fatalf("names %v", names)
			}
			got, err := ReadFile(f, lab, filepath.Join(dir, "b"))
			must(t, err)
			if !bytes.Equal(got, []byte("hello\x00\x00\x00")) {
				t.Fatalf("contents %q", got)
			}
			l, err := f.Lock(lab, filepath.Join(dir, "lock"))
			must(t, err)
			if _, err := f.Lock(lab, filepath.Join(dir, "lock")); !errors.Is(err, ErrLocked) {
				t.Fatalf("second lock: %v", err)
			}
			must(t, l.Close())
			must(t, WriteFileAtomic(f, lab, dir, filepath.Join(dir, "b"), []byte("new")))
			got, _ = ReadFile(f, lab, filepath.Join(dir, "b"))
			if string(got) != "new" {
				t.Fatalf("contents %q", got)
			}
		})
	}
}

func TestCrashForgetsWhatWasNotSynced(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll(lab, "/d"))
	must(t, m.SyncDir(lab, "/"))
	synced := create(t, m, "/d/synced", "12345678")
	must(t, synced.Sync(lab))
	must(t, m.SyncDir(lab, "/d"))
	_, err := synced.WriteAt(lab, []byte("xx"), 2)
	must(t, err)
	noname := create(t, m, "/d/noname", "data")
	must(t, noname.Sync(lab))

	c := m.CrashClone(CrashOptions{})
	got, err := ReadFile(c, lab, "/d/synced")
	must(t, err)
	if string(got) != "12345678" {
		t.Fatalf("unsynced write survived: %q", got)
	}
	if _, err := c.Stat(lab, "/d/noname"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a name not synced survived: %v", err)
	}
	c = m.CrashClone(CrashOptions{Rand: rand.New(rand.NewSource(1)), KeepPercent: 100})
	got, _ = ReadFile(c, lab, "/d/synced")
	if string(got) != "12xx5678" {
		t.Fatalf("with 100 %% kept: %q", got)
	}
	if _, err := m.Stat(lab, "/d/noname"); err != nil {
		t.Fatalf("the original lost a file: %v", err)
	}
}

func TestFaultFailsTheNthCall(t *testing.T) {
	boom := errors.New("boom")
	f := NewFault(NewMem(), Rule{Label: "w", Op: OpWrite, Nth: 2, Err: boom, Partial: 1})
	file, err := f.Create(lab, "/a")
	must(t, err)
	_, err = file.WriteAt("w", []byte("aa"), 0)
	must(t, err)
	if n, err := file.WriteAt("w", []byte("bb"), 0); n != 1 || !errors.Is(err, boom) {
		t.Fatalf("second write: %d, %v", n, err)
	}
	_, err = file.WriteAt("w", []byte("c"), 1)
	must(t, err)
	got, _ := ReadFile(f, lab, "/a")
	if string(got) != "bc" {
		t.Fatalf("contents %q", got)
	}
	if f.Calls()[Call{"w", OpWrite}] != 3 {
		t.Fatalf("calls %v", f.Calls())
	}
}

func TestSpaceLimit(t *testing.T) {
	m := NewMem()
	m.SetSpace(4)
	file := create(t, m, "/a", "1234")
	if _, err := file.WriteAt(lab, []byte("5"), 4); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want ENOSPC", err)
	}
}

func TestDelaySlowsSyncAndRandomReads(t *testing.T) {
	d := NewDelay(NewMem(), Disk{Sync: 5 * time.Millisecond, Seek: 5 * time.Millisecond})
	file, err := d.Create(lab, "/a")
	must(t, err)
	_, err = file.WriteAt(lab, make([]byte, 4096), 0)
	must(t, err)
	start := time.Now()
	must(t, file.Sync(lab))
	if e := time.Since(start); e < 10*time.Millisecond {
		t.Fatalf("sync took %v", e)
	}
	p := make([]byte, 1024)
	start = time.Now()
	for i := range 4 {
		_, err = file.ReadAt(lab, p, int64(i)*1024)
		must(t, err)
	}
	if e := time.Since(start); e < 5*time.Millisecond || e > 15*time.Millisecond {
		t.Fatalf("four sequential reads took %v, want one seek", e)
	}
}
