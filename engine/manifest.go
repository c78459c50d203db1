package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"herd/internal/vfs"
	"herd/storage"
)

const manifestFile = "manifest.db"

var (
	manifestBucket = []byte("manifest")
	manifestKey    = []byte("current")
)

// boltManifests keeps the manifest in a bbolt file: one transaction switches it.
type boltManifests struct{ db *bolt.DB }

// openManifests returns the manifest store of a database folder and what closes it. File systems whose files bbolt
// cannot open (in memory, simulated) use storage's plain file.
func openManifests(fsys vfs.FS, dir string) (storage.ManifestStore, func() error, error) {
	if !vfs.IsReal(fsys) {
		m, err := storage.NewFileManifests(fsys, dir)
		return m, func() error { return nil }, err
	}
	db, err := bolt.Open(filepath.Join(dir, manifestFile), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, nil, fmt.Errorf("open manifest of %s: %w", dir, err)
	}
	if err := fsys.SyncDir(labelFolder, dir); err != nil {
		db.Close()
		return nil, nil, err
	}
	return &boltManifests{db}, db.Close, nil
}

// LoadManifest implements storage.ManifestStore.
func (b *boltManifests) LoadManifest() (m storage.Manifest, ok bool, err error) {
	err = b.db.View(func(tx *bolt.Tx) error {
		bk := tx.Bucket(manifestBucket)
		if bk == nil {
			return nil
		}
		p := bk.Get(manifestKey)
		if p == nil {
			return nil
		}
		ok = true
		m, err = storage.DecodeManifest(p)
		return err
	})
	return m, ok, err
}

// SwitchManifest implements storage.ManifestStore. Only a full disk leaves the file in a known state.
func (b *boltManifests) SwitchManifest(m storage.Manifest) error {
	err := b.db.Update(func(tx *bolt.Tx) error {
		bk, err := tx.CreateBucketIfNotExists(manifestBucket)
		if err != nil {
			return err
		}
		return bk.Put(manifestKey, storage.EncodeManifest(m))
	})
	if err == nil || errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return fmt.Errorf("%w: write %s: %w", storage.ErrBroken, b.db.Path(), err)
}
