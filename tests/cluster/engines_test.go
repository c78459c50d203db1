package cluster

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"herd/cluster"
	"herd/engine"
	"herd/internal/scenario"
	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// replica is an engine whose system database is a member of a Raft group in this process.
type replica struct {
	t     *testing.T
	id    string
	dir   string
	all   *[]*replica
	trans *raft.InmemTransport
	e     *engine.Engine
	group *cluster.Group
	state txlog.Replica
	leads chan struct{}
}

func (x *replica) open(found bool) {
	x.t.Helper()
	_, x.trans = raft.NewInmemTransportWithTimeout(raft.ServerAddress(x.id), time.Second)
	x.leads = make(chan struct{}, 64)
	var err error
	x.e, err = engine.Open(engine.Options{Dir: x.dir, BigCommit: 200, Fatal: func(err error) { x.t.Error(x.id, err) },
		OpenLog: func(o txlog.Opening) (txlog.Log, error) {
			x.state = o.Replica
			g, err := cluster.OpenGroup(cluster.GroupOptions{FS: vfs.OS, Node: x.id, Transport: x.trans, Found: found,
				ElectionTimeout: 300 * time.Millisecond, KeepBytes: 1, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20,
				OnLead: func() { x.leads <- struct{}{} },
				Fetch:  x.fetch}, o)
			x.group = g
			return g, err
		}})
	if err != nil {
		x.t.Fatal(err)
	}
	connect(*x.all, nil)
}

// fetch connects x with another engine's state.
func (x *replica) fetch(node string) (io.ReadWriteCloser, error) {
	for _, o := range *x.all {
		if o.id == node {
			return scenario.Served(o.group.Serve), nil
		}
	}
	return nil, errors.New("no such node")
}

// connect joins all with each other, but not those that are cut off.
func connect(all []*replica, off *replica) {
	for _, a := range all {
		a.trans.DisconnectAll()
		for _, b := range all {
			if a != b && a != off && b != off {
				a.trans.Connect(raft.ServerAddress(b.id), b.trans)
			}
		}
	}
}

// sums returns the checksum of every tree.
func (x *replica) sums() map[storage.TreeID]uint64 {
	out := map[storage.TreeID]uint64{}
	err := x.e.System().ReadTip(func(v storage.View) error {
		v.Snap.Trees(func(id storage.TreeID, rows int64) bool {
			out[id] = v.Snap.Checksum(id) + uint64(rows)
			return true
		})
		return nil
	})
	if err != nil {
		x.t.Error(err)
	}
	return out
}

// Three engines under one Raft group: commits, large transactions, a leader that is cut off, replicas that restart with and
// without a checkpoint. In the end every tree has the same checksum everywhere, and what was acknowledged is there.
func TestEnginesAgree(t *testing.T) {
	var all []*replica
	for i := range 3 {
		all = append(all, &replica{t: t, id: fmt.Sprint("n", i+1), dir: t.TempDir(), all: &all})
		all[i].open(i == 0)
	}
	t.Cleanup(func() {
		for _, x := range all {
			if err := x.e.Abandon(); err != nil {
				t.Error(err)
			}
		}
	})
	<-all[0].leads
	for _, x := range all[1:] {
		if err := all[0].group.AddVoter(x.id, x.id); err != nil {
			t.Fatal(err)
		}
	}
	tree := makeTree(t, all)
	var mu sync.Mutex
	acked := map[string]bool{}
	r := rand.New(rand.NewSource(1))
	for round := range 6 {
		var wait sync.WaitGroup
		for w := range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := range 25 {
					key := fmt.Sprintf("%d-%d-%d", round, w, i)
					if commit(all, tree, key, 1+w*i*4) == nil {
						mu.Lock()
						acked[key] = true
						mu.Unlock()
					}
				}
			}()
		}
		x := all[r.Intn(3)]
		switch round % 3 {
		case 0:
			connect(all, x)
			time.Sleep(700 * time.Millisecond)
			connect(all, nil)
		case 1:
			if err := x.e.System().Checkpoint(); err != nil {
				t.Error(err)
			}
			wait.Wait() // sessions are not pulled from under a closing engine
			if err := x.e.Abandon(); err != nil {
				t.Error(err)
			}
			x.open(false)
		}
		wait.Wait()
	}
	same := func() bool {
		return maps.Equal(all[0].sums(), all[1].sums()) && maps.Equal(all[0].sums(), all[2].sums())
	}
	for end := time.Now().Add(30 * time.Second); !same() && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
	}
	for _, x := range all {
		t.Log(x.id, x.sums(), "applied", x.state.Applied())
		err := x.e.System().ReadTip(func(v storage.View) error {
			for key := range acked {
				if _, ok, err := v.Get(tree, []byte(key)); err != nil || !ok {
					t.Errorf("node %s lacks acknowledged %s: %v", x.id, key, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if !same() {
		t.Error("the checksums differ")
	}
	t.Log(len(acked), "of 600 acknowledged")
	if len(acked) < 100 {
		t.Error("too few were acknowledged")
	}
}

// makeTree makes a tree on whoever leads.
func makeTree(t *testing.T, all []*replica) storage.TreeID {
	t.Helper()
	var err error
	for range 100 {
		for _, x := range all {
			s := x.e.System().NewSession(engine.SessionOptions{PID: 1})
			tx := s.Begin(engine.TxOptions{})
			id, e := tx.NewTree()
			if e == nil {
				e = tx.Commit()
			}
			if e == nil {
				e = s.WaitDurable()
			}
			s.Close()
			if err = e; err == nil {
				return id
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(err)
	return 0
}

// commit writes rows on whichever node takes them. nil: it was acknowledged. A node that says 08007 may have written it.
func commit(all []*replica, tree storage.TreeID, key string, rows int) error {
	var err error
	for range 40 {
		for _, x := range all {
			s := x.e.System().NewSession(engine.SessionOptions{PID: 1})
			tx := s.Begin(engine.TxOptions{})
			err = tx.Put(tree, []byte(key), []byte(key))
			for i := 1; i < rows && err == nil; i++ {
				err = tx.Put(tree, fmt.Appendf(nil, "%s/%d", key, i), make([]byte, 300))
			}
			if err == nil {
				err = tx.Commit()
			}
			if err == nil {
				err = s.WaitDurable()
			}
			s.Close()
			if err == nil {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
