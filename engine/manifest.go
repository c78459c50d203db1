package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"herd/internal/vfs"
	"herd/storage"
)

// earlierManifest is the file in which folders of format 1 had their manifest, in a bbolt database. It is not read any
// more: see ARCHITECTURE.md for what a flipped bit in it did.
const earlierManifest = "manifest.db"

// openManifests returns the manifest store of a database folder.
func openManifests(fsys vfs.FS, dir string) (storage.ManifestStore, error) {
	if _, err := fsys.Stat(labelFolder, filepath.Join(dir, earlierManifest)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %s is of a format that this version does not read: %w", dir, earlierManifest, errors.Join(ErrOlderFormat, err))
	}
	return storage.NewFileManifests(fsys, dir)
}
