package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"herd/txlog"
)

// A leader that only a learner hears does not know that it leads: the voters may have another one.
func TestVerifyAsksVoters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrio(t, 3)
		lead := c.leader()
		m := &member{id: "n4", dir: t.TempDir()}
		c.members = append(c.members, m)
		c.start(m, false)
		if err := lead.group.raft.AddNonvoter("n4", "n4", 0, 10*time.Second).Error(); err != nil {
			t.Fatal(err)
		}
		if err := lead.write("a"); err != nil {
			t.Fatal(err)
		}
		c.same()
		if err := lead.group.Verify(); err != nil {
			t.Errorf("a leader of three voters and a learner: %v", err)
		}
		for _, o := range c.members {
			o.trans.DisconnectAll()
		}
		lead.trans.Connect(raft.ServerAddress(m.id), m.trans)
		m.trans.Connect(raft.ServerAddress(lead.id), lead.trans)
		if !lead.group.isServing() {
			t.Fatal("the leader has given up before it was asked")
		}
		if err := lead.group.Verify(); !errors.Is(err, txlog.ErrLost) {
			t.Errorf("a leader that only a learner hears: %v", err)
		}
		c.connect()
		c.leader()
		c.same()
	})
}

// That Raft leads in another term than the database serves for proves nothing: what was agreed on in between may not be applied.
func TestVerifyTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrio(t, 3)
		g := c.leader().group
		shift := func(by uint64) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.leads.term += by
		}
		const earlier = ^uint64(0)
		shift(earlier)
		err := g.proveLead()
		shift(1)
		if !errors.Is(err, txlog.ErrLost) {
			t.Errorf("a database that serves for an earlier term: %v", err)
		}
		if err := g.Verify(); err != nil {
			t.Error(err)
		}
	})
}
