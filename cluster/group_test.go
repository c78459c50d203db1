package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/scenario"
	"herd/internal/vfs"
	"herd/txlog"
)

// toy is a state machine like the engine's: a list of payloads, with the engine's rules about epochs and void entries.
type toy struct {
	t   *testing.T
	log func() *Group

	mu      sync.Mutex
	role    string      // follow, open, lead
	epoch   txlog.Epoch // as the engine's db.epoch
	opened  txlog.Epoch // by an applied entry
	last    txlog.Seq   // applied
	order   txlog.Seq   // last ordered
	state   []string    // applied
	tip     []string    // ordered, not applied
	skipped int
}

func (y *toy) Applied() txlog.Seq {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.last
}

func (y *toy) Lead(epoch txlog.Epoch) error {
	y.mu.Lock()
	if epoch <= y.epoch {
		y.mu.Unlock()
		return fmt.Errorf("epoch %d after %d", epoch, y.epoch)
	}
	y.role, y.epoch, y.order = "open", epoch, y.last
	y.mu.Unlock()
	seq, err := y.append(txlog.Open, "")
	if err == nil {
		err = y.log().Wait(seq, nil)
	}
	if err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.role == "open" {
		y.role = "lead"
	}
	return nil
}

// append orders an entry.
func (y *toy) append(k txlog.Kind, payload string) (txlog.Seq, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.role != "lead" && (k != txlog.Open || y.role != "open") {
		return 0, txlog.ErrLost
	}
	e := txlog.Entry{Epoch: y.epoch, Seq: y.order + 1, Prev: y.order, Kind: k, Payload: []byte(payload)}
	if err := y.log().Append(txlog.Reservation{}, e); err != nil {
		return 0, err
	}
	y.order = e.Seq
	y.tip = append(y.tip, payload)
	return e.Seq, nil
}

func (y *toy) Follow() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.role, y.epoch, y.order, y.tip = "follow", y.opened, y.last, nil
	return nil
}

func (y *toy) Apply(batch []txlog.Entry) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range batch {
		own := y.role == "lead" || y.role == "open"
		ok := e.Prev == y.last && e.Epoch == y.epoch
		if !own {
			ok = e.Prev == y.last && (e.Kind == txlog.Open && e.Epoch > y.epoch || e.Kind != txlog.Open && e.Epoch == y.epoch)
		}
		if !ok {
			y.skipped++
			continue
		}
		y.last = e.Seq
		if e.Kind == txlog.Open {
			y.epoch, y.opened = e.Epoch, e.Epoch
		}
		if own {
			if y.tip[0] != string(e.Payload) {
				y.t.Errorf("own entry %d is %q, ordered was %q", e.Seq, e.Payload, y.tip[0])
			}
			y.tip = y.tip[1:]
		}
		if e.Kind == txlog.Commit {
			y.state = append(y.state, string(e.Payload))
		}
	}
	return nil
}

type toyState struct {
	Last  txlog.Seq
	Epoch txlog.Epoch
	State []string
}

func (y *toy) Serve(conn io.ReadWriter) error {
	y.mu.Lock()
	p, err := json.Marshal(toyState{y.last, y.opened, y.state})
	y.mu.Unlock()
	if err == nil {
		_, err = conn.Write(p)
	}
	return err
}

func (y *toy) Fetch(conn io.ReadWriteCloser, progress func(done, total int64)) error {
	defer conn.Close()
	progress(0, 1)
	return y.restore(conn)
}

// restore takes what Serve has written.
func (y *toy) restore(r io.Reader) error {
	var s toyState
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.role == "lead" || y.role == "open" {
		return errors.New("it leads")
	}
	y.last, y.order, y.epoch, y.opened, y.state = s.Last, s.Last, s.Epoch, s.Epoch, s.State
	return nil
}

func (y *toy) contents() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return append([]string(nil), y.state...)
}

// member is one node of a test group.
type member struct {
	id    string
	dir   string
	disk  *stuckDisk
	toy   *toy
	saved []byte         // the toy's checkpoint
	from  txlog.Position // its place
	group *Group
	trans *raft.InmemTransport
	down  bool
}

// trio is a group of nodes in this process.
type trio struct {
	t       *testing.T
	members []*member
	keep    int64
}

func newTrio(t *testing.T, n int) *trio {
	c := &trio{t: t, keep: 1 << 20}
	for i := range n {
		m := &member{id: fmt.Sprint("n", i+1), dir: t.TempDir()}
		c.members = append(c.members, m)
		c.start(m, i == 0)
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			c.stop(m)
		}
	})
	for _, m := range c.members[1:] {
		c.add(m)
	}
	return c
}

// add makes m a voter; on a slow machine leadership may be lost meanwhile.
func (c *trio) add(m *member) {
	c.t.Helper()
	var err error
	for range 50 {
		err = c.leader().group.raft.AddVoter(raft.ServerID(m.id), raft.ServerAddress(m.id), 0, 10*time.Second).Error()
		if err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatal(err)
}

func (c *trio) start(m *member, found bool) {
	c.t.Helper()
	if m.disk == nil {
		m.disk = &stuckDisk{FS: vfs.OS}
	}
	_, m.trans = raft.NewInmemTransportWithTimeout(raft.ServerAddress(m.id), 2*time.Second)
	m.toy = &toy{t: c.t, role: "follow"}
	m.toy.log = func() *Group { return m.group }
	if m.saved != nil {
		if err := m.toy.restore(bytes.NewReader(m.saved)); err != nil {
			c.t.Fatal(err)
		}
	}
	m.down = false
	c.connect()
	// The engine has its log before it is driven; the toy waits the same way.
	m.toy.mu.Lock()
	defer m.toy.mu.Unlock()
	g, err := OpenGroup(GroupOptions{
		FS: m.disk, Node: m.id, Transport: m.trans, Found: found, ElectionTimeout: 150 * time.Millisecond, KeepBytes: c.keep,
		SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20,
		Fetch: func(node string) (io.ReadWriteCloser, error) { return c.fetch(m, node) },
	}, txlog.Opening{Name: "toy", Dir: m.dir, From: m.from, Replica: lockedApplied{m.toy}, Fatal: func(err error) { c.t.Error(m.id, err) }})
	if err != nil {
		c.t.Fatal(err)
	}
	m.group = g
}

// fetch connects m with another member's state.
func (c *trio) fetch(m *member, node string) (io.ReadWriteCloser, error) {
	for _, o := range c.members {
		if o.id == node && o != m && !o.down {
			return scenario.Served(o.group.Serve), nil
		}
	}
	return nil, errors.New("no such node")
}

// lockedApplied answers Applied while OpenGroup runs, when the toy is still locked.
type lockedApplied struct{ *toy }

func (l lockedApplied) Applied() txlog.Seq {
	if l.toy.mu.TryLock() {
		defer l.toy.mu.Unlock()
	}
	return l.toy.last
}

func (c *trio) stop(m *member) {
	if m.down {
		return
	}
	m.down = true
	c.connect()
	if err := m.group.Close(); err != nil {
		c.t.Error(m.id, err)
	}
}

// connect joins all members that are up with each other.
func (c *trio) connect() { c.split(nil) }

// split cuts members from the others.
func (c *trio) split(alone map[*member]bool) {
	for _, a := range c.members {
		if a.trans == nil {
			continue
		}
		a.trans.DisconnectAll()
		for _, b := range c.members {
			if b != a && b.trans != nil && !a.down && !b.down && !alone[a] && !alone[b] {
				a.trans.Connect(raft.ServerAddress(b.id), b.trans)
			}
		}
	}
}

// leader waits until one node serves.
func (c *trio) leader(except ...*member) *member {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	next:
		for _, m := range c.members {
			for _, x := range except {
				if x == m {
					continue next
				}
			}
			if m.down {
				continue
			}
			m.group.mu.Lock()
			serving := m.group.serving
			m.group.mu.Unlock()
			if serving {
				return m
			}
		}
	}
	c.t.Fatal("no leader")
	return nil
}

// write commits one payload on whoever leads; nil is an acknowledged commit.
func (m *member) write(payload string) error {
	seq, err := m.toy.append(txlog.Commit, payload)
	if err != nil {
		return err
	}
	return m.group.Wait(seq, nil)
}

// same waits until all nodes that are up have the same contents, and returns them.
func (c *trio) same() []string {
	c.t.Helper()
	var lists [][]string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		lists = lists[:0]
		for _, m := range c.members {
			if !m.down {
				lists = append(lists, m.toy.contents())
			}
		}
		equal := true
		for _, l := range lists[1:] {
			equal = equal && slices.Equal(l, lists[0])
		}
		if equal {
			return lists[0]
		}
	}
	for _, l := range lists {
		c.t.Logf("%d entries, the last %.300q", len(l), l[max(0, len(l)-3):])
	}
	c.t.Fatal("the nodes do not have the same contents")
	return nil
}

// check fails unless every acknowledged payload is in list once, and no payload twice.
func check(t *testing.T, list, acknowledged []string) {
	t.Helper()
	n := map[string]int{}
	for _, s := range list {
		if n[s]++; n[s] > 1 {
			t.Errorf("%q is there %d times", s, n[s])
		}
	}
	for _, s := range acknowledged {
		if n[s] == 0 {
			t.Errorf("acknowledged %q is missing", s)
		}
	}
}

// Three nodes commit; the leader is cut off while writers go on; another one takes over; the old one comes back.
func TestGroupPartition(t *testing.T) {
	c := newTrio(t, 3)
	var acked []string
	lead := c.leader()
	for i := range 50 {
		p := fmt.Sprint("a", i)
		if err := lead.write(p); err != nil {
			t.Fatal(err)
		}
		acked = append(acked, p)
	}
	c.split(map[*member]bool{lead: true})
	seq, err := lead.toy.append(txlog.Commit, "uncertain")
	if err == nil {
		err = lead.group.Wait(seq, nil)
	}
	if !errors.Is(err, txlog.ErrLost) {
		t.Errorf("a commit without the others: %v", err)
	}
	next := c.leader(lead)
	if err := next.write("b"); err != nil {
		t.Fatal(err)
	}
	acked = append(acked, "b")
	if err := lead.group.Verify(); !errors.Is(err, txlog.ErrLost) {
		t.Errorf("the old leader says that it leads: %v", err)
	}
	if err := next.group.Verify(); err != nil {
		t.Errorf("the new leader does not know that it leads: %v", err)
	}
	c.connect()
	check(t, c.same(), acked)
}

// Writers go on while nodes are cut off, stopped and started at random, with checkpoints and short logs: nothing that was
// acknowledged is lost, nothing comes twice, and all nodes have the same in the end.
func TestGroupHistory(t *testing.T) {
	c := newTrio(t, 3)
	c.keep = 1 // followers that were away fetch the state
	r := rand.New(rand.NewSource(time.Now().UnixNano()))
	var mu sync.Mutex // guards the members while they come and go, and acked
	var acked []string
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				m := c.members[(w+i)%3]
				up := !m.down
				mu.Unlock()
				p := fmt.Sprint("w", w, "-", i)
				if up && m.write(p) == nil {
					mu.Lock()
					acked = append(acked, p)
					mu.Unlock()
				} else {
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
	for round := range 12 {
		m := c.members[r.Intn(3)]
		switch round % 3 {
		case 0:
			mu.Lock()
			c.split(map[*member]bool{m: true})
			mu.Unlock()
			time.Sleep(time.Duration(r.Intn(600)) * time.Millisecond)
			mu.Lock()
			c.connect()
			mu.Unlock()
		case 1:
			c.checkpoint(m)
			mu.Lock()
			c.stop(m)
			mu.Unlock()
			time.Sleep(time.Duration(r.Intn(400)) * time.Millisecond)
			for _, o := range c.members {
				if o != m {
					c.checkpoint(o)
				}
			}
			mu.Lock()
			c.start(m, false)
			mu.Unlock()
		case 2:
			c.leader().group.raft.LeadershipTransfer()
		}
		time.Sleep(200 * time.Millisecond)
	}
	close(stop)
	writers.Wait()
	c.leader()
	list := c.same()
	check(t, list, acked)
	if len(acked) < 100 {
		t.Errorf("only %d commits were acknowledged", len(acked))
	}
	t.Logf("%d acknowledged, %d applied", len(acked), len(list))
}

// checkpoint keeps the toy's state and lets the log forget what is before it.
func (c *trio) checkpoint(m *member) {
	m.toy.mu.Lock()
	s := toyState{m.toy.last, m.toy.opened, append([]string(nil), m.toy.state...)}
	m.toy.mu.Unlock()
	from := m.group.EndOf(s.Last)
	p, err := json.Marshal(s)
	if err != nil {
		c.t.Fatal(err)
	}
	m.saved, m.from = p, from
	if err := m.group.Truncate(from); err != nil {
		c.t.Error(m.id, err)
	}
}

// A node that joins late, when the log's beginning is gone, fetches the state; one that stops before its own checkpoint
// fetches it again.
func TestGroupLateMember(t *testing.T) {
	c := newTrio(t, 1)
	c.keep = 1
	lead := c.leader()
	var acked []string
	write := func(p string) {
		t.Helper()
		if err := lead.write(p); err != nil {
			t.Fatal(err)
		}
		acked = append(acked, p)
	}
	long := strings.Repeat("x", 60<<10)
	for i := range 30 {
		write(fmt.Sprint(i, long))
	}
	c.stop(lead)
	c.start(lead, false)
	c.leader()
	c.checkpoint(lead)
	if first, _ := lead.group.logs.FirstIndex(); first < 5 {
		t.Fatalf("the log begins with entry %d", first)
	}
	m := &member{id: "n2", dir: t.TempDir()}
	c.members = append(c.members, m)
	c.start(m, false)
	if err := lead.group.raft.AddNonvoter("n2", "n2", 0, 10*time.Second).Error(); err != nil {
		t.Fatal(err)
	}
	check(t, c.same(), acked)
	c.stop(m)
	write("while it is away")
	c.start(m, false) // with no checkpoint
	check(t, c.same(), acked)
	write("after")
	check(t, c.same(), acked)
}
