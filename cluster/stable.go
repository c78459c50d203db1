package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	bolt "go.etcd.io/bbolt"
)

const stableFile = "raft.db"

var (
	bucketStable = []byte("stable") // term and vote, by Raft's keys
	bucketGroup  = []byte("group")
	keyDescr     = []byte("descriptor")
)

// errNotFound is what Raft expects for a key that was never set; it looks at the text.
var errNotFound = errors.New("not found")

// descriptor says what a node's state on disk contains: it is all that a Raft snapshot of a database is.
type descriptor struct {
	Index, Term uint64
	Config      []byte // raft.EncodeConfiguration
	ConfigIndex uint64
}

// stable keeps term, vote and descriptor of a group. It implements raft.StableStore.
type stable struct{ db *bolt.DB }

var _ raft.StableStore = (*stable)(nil)

func openStable(dir string) (*stable, error) {
	db, err := bolt.Open(filepath.Join(dir, stableFile), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", stableFile, dir, err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketStable, bucketGroup} {
			if _, err := tx.CreateBucketIfNotExists(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open %s of %s: %w", stableFile, dir, err)
	}
	return &stable{db}, nil
}

func (s *stable) put(bucket, key, val []byte) error {
	return s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put(key, val) })
}

func (s *stable) get(bucket, key []byte) (val []byte, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		if p := tx.Bucket(bucket).Get(key); p != nil {
			val = append([]byte{}, p...)
			return nil
		}
		return errNotFound
	})
	return val, err
}

// Set implements raft.StableStore.
func (s *stable) Set(key, val []byte) error { return s.put(bucketStable, key, val) }

// Get implements raft.StableStore.
func (s *stable) Get(key []byte) ([]byte, error) { return s.get(bucketStable, key) }

// SetUint64 implements raft.StableStore.
func (s *stable) SetUint64(key []byte, n uint64) error {
	return s.put(bucketStable, key, le.AppendUint64(nil, n))
}

// GetUint64 implements raft.StableStore.
func (s *stable) GetUint64(key []byte) (uint64, error) {
	p, err := s.get(bucketStable, key)
	if err != nil {
		return 0, err
	}
	if len(p) != 8 {
		return 0, fmt.Errorf("%s: key %s has %d bytes", stableFile, key, len(p))
	}
	return le.Uint64(p), nil
}

// setDescriptor replaces the descriptor; descriptor returns it, nil when there was none.
func (s *stable) setDescriptor(d descriptor) error {
	p, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.put(bucketGroup, keyDescr, p)
}

func (s *stable) descriptor() (*descriptor, error) {
	p, err := s.get(bucketGroup, keyDescr)
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	d := &descriptor{}
	if err == nil {
		err = json.Unmarshal(p, d)
	}
	return d, err
}

func (s *stable) close() error { return s.db.Close() }
