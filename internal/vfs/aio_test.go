package vfs

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// directTemp returns an empty file of n blocks with direct writes.
func directTemp(t *testing.T, n int) directFile {
	plain, err := OS.Create("", filepath.Join(t.TempDir(), "f"))
	must(t, err)
	_, err = plain.WriteAt("", make([]byte, n*DirectAlign), 0)
	must(t, err)
	f, ok := Direct(plain).(directFile)
	if !ok {
		t.Skip("the file system of the temporary folder has no direct writes")
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Several goroutines have durable writes on their way at once, with the calls and without them.
func TestAsyncWrites(t *testing.T) {
	const goroutines, rounds = 8, 50
	for _, without := range []bool{false, true} {
		f := directTemp(t, goroutines)
		old := noAsync.Load()
		noAsync.Store(without || old)
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				p := AlignedBuffer(DirectAlign)
				for r := range rounds {
					for i := range p {
						p[i] = byte(g + r)
					}
					if err := WriteSync(f, "", "", p, int64(g*DirectAlign), Parked); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		noAsync.Store(old)
		got, err := os.ReadFile(f.Name())
		must(t, err)
		for g := range goroutines {
			if want := bytes.Repeat([]byte{byte(g + rounds - 1)}, DirectAlign); !bytes.Equal(got[g*DirectAlign:(g+1)*DirectAlign], want) {
				t.Errorf("block %d does not hold the last write (without the calls: %v)", g, without)
			}
		}
	}
	if n := len(asyncSpare); n > goroutines {
		t.Errorf("%d writes kept, at most %d were on their way at once", n, goroutines)
	}
}

// A write that fails on its way is a sync that failed, and the next one is as good as new.
func TestAsyncWriteFails(t *testing.T) {
	f := directTemp(t, 2)
	a := takeAsync()
	if a == nil {
		t.Skip("the kernel has no asynchronous writes for us")
	}
	defer a.put()
	whole := AlignedBuffer(2 * DirectAlign)
	var pipe [2]*os.File
	var err error
	pipe[0], pipe[1], err = os.Pipe()
	must(t, err)
	defer pipe[0].Close()
	defer pipe[1].Close()
	if _, refused, err := a.writeSync(int(pipe[0].Fd()), whole, 0); err == nil || !refused {
		t.Errorf("a descriptor that cannot be written: refused %v, %v", refused, err)
	}
	if _, refused, err := a.writeSync(int(f.past.f.Fd()), whole[1:1+DirectAlign], 0); err == nil && !refused {
		t.Log("the file system takes a buffer that is not aligned")
	}
	if n, _, err := a.writeSync(int(f.past.f.Fd()), whole, 0); err != nil || n != len(whole) {
		t.Errorf("after failures: %d bytes, %v", n, err)
	}
	must(t, f.past.f.Close())
	if err := f.writeSync(whole, 0, Parked); !SyncFailed(err) {
		t.Errorf("%v is not taken for a failed sync", err)
	}
}
