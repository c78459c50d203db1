package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked is returned by Lock when another process (or another user of this one) holds the lock.
var ErrLocked = errors.New("file is locked by another process")

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

type osFile struct{ f *os.File }

// RealFiles implements Truer.
func (osFS) RealFiles() bool { return true }

func wrapFile(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Create(_ Label, name string) (File, error) {
	return wrapFile(os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600))
}

func (osFS) Open(_ Label, name string) (File, error) {
	return wrapFile(os.OpenFile(name, os.O_RDWR, 0))
}

func (osFS) OpenRead(_ Label, name string) (File, error) { return wrapFile(os.Open(name)) }

func (osFS) Remove(_ Label, name string) error { return os.Remove(name) }

func (osFS) Rename(_ Label, from, to string) error { return os.Rename(from, to) }

func (osFS) MkdirAll(_ Label, dir string) error { return os.MkdirAll(dir, 0o700) }

func (osFS) ReadDir(_ Label, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (osFS) Stat(_ Label, name string) (int64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if fi.IsDir() {
		return 0, nil
	}
	return fi.Size(), nil
}

func (osFS) SyncDir(_ Label, dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func (osFS) Lock(_ Label, name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

func (osFS) FreeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}

func (o osFile) ReadAt(_ Label, p []byte, off int64) (int, error)  { return o.f.ReadAt(p, off) }
func (o osFile) WriteAt(_ Label, p []byte, off int64) (int, error) { return o.f.WriteAt(p, off) }
func (o osFile) Truncate(_ Label, size int64) error                { return o.f.Truncate(size) }
func (o osFile) Name() string                                      { return o.f.Name() }
func (o osFile) Close() error                                      { return o.f.Close() }

// Sync calls fdatasync on the raw descriptor: a blocking system call, during which the runtime hands the goroutine's
// processor on.
func (o osFile) Sync(_ Label) error {
	for {
		err := unix.Fdatasync(int(o.f.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: o.f.Name(), Err: err}
		}
		return nil
	}
}

func (o osFile) Size() (int64, error) {
	fi, err := o.f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
