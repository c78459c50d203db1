package cluster

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/vfs"
	"herd/txlog"
)

// stuckDisk is the operating system's file system, whose syncs of logs wait while stuck is held.
type stuckDisk struct {
	vfs.FS
	stuck sync.RWMutex
}

// RealFiles says that paths are the operating system's.
func (d *stuckDisk) RealFiles() bool { return true }

func (d *stuckDisk) Create(l vfs.Label, name string) (vfs.File, error) {
	f, err := d.FS.Create(l, name)
	return stuckFile{f, d}, err
}

func (d *stuckDisk) Open(l vfs.Label, name string) (vfs.File, error) {
	f, err := d.FS.Open(l, name)
	return stuckFile{f, d}, err
}

type stuckFile struct {
	vfs.File
	d *stuckDisk
}

func (f stuckFile) Sync(l vfs.Label) error {
	if l == "log.sync" {
		f.d.stuck.RLock()
		defer f.d.stuck.RUnlock()
	}
	return f.File.Sync(l)
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// An entry goes to the followers while the leader's disk writes it. Until that has it, it is applied nowhere and nobody is told that it is safe.
func TestEntryIsSentBeforeItIsSynced(t *testing.T) {
	c := newTrio(t, 3)
	lead := c.leader()
	lead.disk.stuck.Lock()
	stuck := true
	defer func() {
		if stuck {
			lead.disk.stuck.Unlock()
		}
	}()
	seq, err := lead.toy.append(txlog.Commit, "x")
	if err != nil {
		t.Fatal(err)
	}
	index := lead.group.applied.Load() + 1
	for _, m := range c.members {
		eventually(t, "the entry was not sent to "+m.id, func() bool { return m.group.raft.LastIndex() >= index })
	}
	told := make(chan error, 1)
	go func() { told <- lead.group.Wait(seq, nil) }()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, m := range c.members {
			if n := len(m.toy.contents()); n > 0 {
				t.Fatalf("%s has applied an entry that the leader's disk does not have", m.id)
			}
		}
		select {
		case err := <-told:
			t.Fatalf("an entry that the leader's disk does not have is called safe: %v", err)
		default:
		}
	}
	lead.disk.stuck.Unlock()
	stuck = false
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	for _, m := range c.members {
		eventually(t, "the entry was not applied by "+m.id, func() bool { return len(m.toy.contents()) == 1 })
	}
}

// A node that leads no more says that it has an entry when its disk has it, and what is not a command always waits.
func TestStoreWaitsUnlessItLeads(t *testing.T) {
	disk := &stuckDisk{FS: vfs.OS}
	s, err := openLogStore(logStoreOptions{FS: disk, Dir: t.TempDir(), SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var leads atomic.Bool
	leads.Store(true)
	s.allowEarly(leads.Load)
	blocked := func(what string, f func() error) {
		t.Helper()
		done := make(chan error, 1)
		disk.stuck.Lock()
		go func() { done <- f() }()
		select {
		case err := <-done:
			t.Errorf("%s did not wait for the disk: %v", what, err)
			disk.stuck.Unlock()
			return
		case <-time.After(100 * time.Millisecond):
		}
		disk.stuck.Unlock()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	store := func(index uint64, k raft.LogType) func() error {
		return func() error { return s.StoreLog(&raft.Log{Index: index, Term: 1, Type: k}) }
	}
	blocked("a leader's entry without a command", store(1, raft.LogNoop))
	disk.stuck.Lock()
	for i := uint64(2); i <= 3; i++ {
		if err := store(i, raft.LogCommand)(); err != nil {
			t.Error(err)
		}
	}
	if got := s.synced(); got != 1 {
		t.Errorf("entries up to %d are said to be on disk, entry 1 is", got)
	}
	var l raft.Log
	if err := s.GetLog(3, &l); err != nil {
		t.Errorf("a leader reads what it sends: %v", err)
	}
	disk.stuck.Unlock()
	eventually(t, "the entries do not come to be on disk", func() bool { return s.synced() == 3 })
	disk.stuck.Lock()
	if err := store(4, raft.LogCommand)(); err != nil {
		t.Error(err)
	}
	disk.stuck.Unlock()
	if err := s.waitSynced(4); err != nil || s.synced() != 4 {
		t.Errorf("entries up to %d are on disk, waited was for 4: %v", s.synced(), err)
	}
	leads.Store(false)
	blocked("a follower's command", store(5, raft.LogCommand))
	leads.Store(true)
	disk.stuck.Lock()
	if err := store(6, raft.LogCommand)(); err != nil {
		t.Error(err)
	}
	done := make(chan error, 1)
	leads.Store(false)
	go func() { done <- s.GetLog(6, &l) }()
	select {
	case err := <-done:
		t.Errorf("a node that leads no more says that it has what its disk does not: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	disk.stuck.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
