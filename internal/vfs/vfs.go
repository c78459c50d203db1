package vfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// Label names the purpose of a call ("log.write"), for fault rules, delays and counters.
type Label string

// File is an open file. Offsets and sizes are bytes.
type File interface {
	// ReadAt is io.ReaderAt.
	ReadAt(l Label, p []byte, off int64) (int, error)
	// WriteAt is io.WriterAt; it extends the file when needed.
	WriteAt(l Label, p []byte, off int64) (int, error)
	// Sync makes contents and size durable (fdatasync). After an error the file's state is unknown: callers never
	// retry.
	Sync(l Label) error
	// Truncate sets the size.
	Truncate(l Label, size int64) error
	// Size returns the current size.
	Size() (int64, error)
	// Name returns the name the file was opened with.
	Name() string
	// Close releases the file. It does not sync.
	Close() error
}

// FS is a file system. Errors are those of package io/fs (fs.ErrNotExist, fs.ErrExist) wrapped in *fs.PathError.
type FS interface {
	// Create makes a new file for reading and writing; it is an error when name exists.
	Create(l Label, name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(l Label, name string) (File, error)
	// OpenRead opens an existing file for reading.
	OpenRead(l Label, name string) (File, error)
	// Remove deletes a file or an empty folder.
	Remove(l Label, name string) error
	// Rename replaces to by from.
	Rename(l Label, from, to string) error
	// MkdirAll makes dir and its missing parents.
	MkdirAll(l Label, dir string) error
	// ReadDir returns the sorted base names of dir's entries.
	ReadDir(l Label, dir string) ([]string, error)
	// Stat returns the size of a file (0 for a folder).
	Stat(l Label, name string) (size int64, err error)
	// SyncDir makes the names in dir durable.
	SyncDir(l Label, dir string) error
	// Lock takes an exclusive lock on the file name, which is created when missing. ErrLocked when another holds it.
	Lock(l Label, name string) (io.Closer, error)
	// FreeBytes returns the space left for an ordinary user on dir's device.
	FreeBytes(dir string) (uint64, error)
}

// Truer is implemented by file systems whose files are real files of the operating system under the same names, so
// that a library that opens paths itself (bbolt) sees the same contents.
type Truer interface{ RealFiles() bool }

// IsReal tells whether fs's files are files of the operating system.
func IsReal(fs FS) bool {
	t, ok := fs.(Truer)
	return ok && t.RealFiles()
}

// SyncFailed tells whether err is that of a Sync or SyncDir that failed for another reason than a full device. What was
// to become durable is then in an unknown state, and a later sync that succeeds says nothing about it.
func SyncFailed(err error) bool {
	var p *fs.PathError
	if !errors.As(err, &p) || errors.Is(err, syscall.ENOSPC) {
		return false
	}
	switch p.Op {
	case "fdatasync", opWriteSync, string(OpSync), string(OpSyncDir):
		return true
	}
	return false
}

// ReadFile returns the whole contents of name.
func ReadFile(fs FS, l Label, name string) ([]byte, error) {
	f, err := fs.OpenRead(l, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	p := make([]byte, size)
	n, err := f.ReadAt(l, p, 0)
	if err == io.EOF && int64(n) == size {
		err = nil
	}
	return p[:n], err
}

// WriteFileAtomic replaces name by a file with contents p: after a crash name holds the old or the new contents.
// Temporary contents go to name+".tmp" in the folder dir, which must be name's.
func WriteFileAtomic(fsys FS, l Label, dir, name string, p []byte) error {
	tmp := name + ".tmp"
	if err := fsys.Remove(l, tmp); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a crash
		return err
	}
	f, err := fsys.Create(l, tmp)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(l, p, 0); err == nil {
		err = f.Sync(l)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := fsys.Rename(l, tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(l, dir)
}
