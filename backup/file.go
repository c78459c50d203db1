package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"herd/internal/vfs"
)

const labelFile vfs.Label = "backup.file"

const partSuffix = ".part"

// fileWriter appends to a file.
type fileWriter struct {
	f  vfs.File
	at int64
}

// Write implements io.Writer.
func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(labelFile, p, w.at)
	w.at += int64(n)
	return n, err
}

// Create has fill write a backup into the file name. On success the file is whole and durable; otherwise no file of that name
// appears, and a former one stays. An existing file is replaced only when replace says so.
func Create(fsys vfs.FS, name string, replace bool, fill func(*Writer) error) (err error) {
	if _, err := fsys.Stat(labelFile, name); err == nil && !replace {
		return fmt.Errorf("back up to %s: %w", name, fs.ErrExist)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := name + partSuffix
	if err := fsys.Remove(labelFile, part); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a crash
		return fmt.Errorf("back up to %s: %w", name, err)
	}
	f, err := fsys.Create(labelFile, part)
	if err != nil {
		return fmt.Errorf("back up to %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = fsys.Remove(labelFile, part) // the first error is the one to tell
		}
	}()
	w, err := NewWriter(&fileWriter{f: f})
	if err == nil {
		err = fill(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = f.Sync(labelFile)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("back up to %s: %w", name, err)
	}
	if err := fsys.Rename(labelFile, part, name); err != nil {
		return fmt.Errorf("back up to %s: %w", name, err)
	}
	if err := fsys.SyncDir(labelFile, filepath.Dir(name)); err != nil {
		return fmt.Errorf("back up to %s: %w", name, err)
	}
	return nil
}
