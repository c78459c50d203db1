package txlog

import (
	"errors"
	"sync"
	"testing"

	"herd/internal/vfs"
)

// forgetful is a file system whose syncs can fail as a kernel's do: what was written before stays readable and counts as
// clean, so that a later sync does not write it.
type forgetful struct {
	vfs.FS
	mu    sync.Mutex
	fail  bool
	files map[string]*forgetfulFile
}

type forgetfulFile struct {
	vfs.File
	fs    *forgetful
	cache map[int64]byte // written and not on disk
	dirty map[int64]bool // of these, what the next sync writes
}

func (f *forgetful) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.files[file.Name()]; old != nil {
		old.File = file
		return old, nil
	}
	w := &forgetfulFile{file, f, map[int64]byte{}, map[int64]bool{}}
	f.files[file.Name()] = w
	return w, nil
}

func (f *forgetful) Create(l vfs.Label, name string) (vfs.File, error) {
	return f.wrap(f.FS.Create(l, name))
}

func (f *forgetful) Open(l vfs.Label, name string) (vfs.File, error) {
	return f.wrap(f.FS.Open(l, name))
}

func (w *forgetfulFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if size, err := w.File.Size(); err != nil || off+int64(len(p)) > size {
		return w.File.WriteAt(l, p, off) // a new segment is being filled
	}
	for i, b := range p {
		w.cache[off+int64(i)], w.dirty[off+int64(i)] = b, true
	}
	return len(p), nil
}

func (w *forgetfulFile) ReadAt(l vfs.Label, p []byte, off int64) (int, error) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	n, err := w.File.ReadAt(l, p, off)
	for i := range p[:n] {
		if b, ok := w.cache[off+int64(i)]; ok {
			p[i] = b
		}
	}
	return n, err
}

func (w *forgetfulFile) Sync(l vfs.Label) error {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if w.fs.fail {
		clear(w.dirty)
		return errors.New("the disk does not answer")
	}
	for off := range w.dirty {
		if _, err := w.File.WriteAt(l, []byte{w.cache[off]}, off); err != nil {
			return err
		}
		delete(w.cache, off)
	}
	clear(w.dirty)
	return w.File.Sync(l)
}

// TestRestartAfterFailedSync goes on with a log whose last sync has failed, and then loses power: what was acknowledged
// afterwards is there.
func TestRestartAfterFailedSync(t *testing.T) {
	m := newMem(t)
	f := &forgetful{FS: m, files: map[string]*forgetfulFile{}}
	o := Options{FS: f, Dir: dir}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	for i := Seq(1); i <= 5; i++ {
		add(t, l, i, 100)
		must(t, l.Wait(i, nil))
	}
	f.mu.Lock()
	f.fail = true
	f.mu.Unlock()
	add(t, l, 6, 100)
	if err := l.Wait(6, nil); err == nil {
		t.Fatal("the sync did not fail")
	}
	_ = l.Close()
	f.mu.Lock()
	f.fail = false
	f.mu.Unlock()
	l, got, err := reopen(t, o, 0)
	must(t, err)
	wantSeqs(t, got, 1, 6)
	for i := Seq(7); i <= 9; i++ {
		add(t, l, i, 100)
		must(t, l.Wait(i, nil))
	}
	crashed := m.CrashClone(vfs.CrashOptions{})
	must(t, l.Close())
	l, got, err = reopen(t, Options{FS: crashed, Dir: dir}, 0)
	must(t, err)
	wantSeqs(t, got, 1, 9)
	must(t, l.Close())
}

// TestLostBehindFailedSync has the kernel let the pages of a failed sync go after they were replayed: the log must not be opened as if they were
// on disk.
func TestLostBehindFailedSync(t *testing.T) {
	m := newMem(t)
	f := &forgetful{FS: m, files: map[string]*forgetfulFile{}}
	o := Options{FS: f, Dir: dir}
	l, _, err := reopen(t, o, 0)
	must(t, err)
	for i := Seq(1); i <= 3; i++ {
		add(t, l, i, 100)
		must(t, l.Wait(i, nil))
	}
	f.mu.Lock()
	f.fail = true
	f.mu.Unlock()
	add(t, l, 4, 100)
	if err := l.Wait(4, nil); err == nil {
		t.Fatal("the sync did not fail")
	}
	_ = l.Close()
	f.mu.Lock()
	f.fail = false
	f.mu.Unlock()
	_, err = OpenLocal(o, 0, func(_ Position, e Entry) error {
		if e.Seq == 4 {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, w := range f.files {
				clear(w.cache)
			}
		}
		return nil
	})
	var lost *CorruptError
	if !errors.As(err, &lost) || lost.Offset == 0 {
		t.Fatalf("opened with %v, though entry 4 was replayed and is not on disk", err)
	}
	l, got, err := reopen(t, o, 0) // what is on disk is a whole log
	must(t, err)
	wantSeqs(t, got, 1, 3)
	must(t, l.Close())
}
