package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MakeFolder makes dir and its missing parents and makes their names durable: what is synced in dir later does not go with it
// when power is lost.
func MakeFolder(fsys FS, l Label, dir string) error {
	dir = filepath.Clean(dir)
	above := []string{filepath.Dir(dir)} // folders that get a name; that of dir may be there from a start that was killed
	for d := above[0]; filepath.Dir(d) != d; d = filepath.Dir(d) {
		_, err := fsys.Stat(l, d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		above = append(above, filepath.Dir(d))
	}
	if err := fsys.MkdirAll(l, dir); err != nil {
		return err
	}
	for _, d := range above {
		if err := fsys.SyncDir(l, d); err != nil {
			return err
		}
	}
	return nil
}
