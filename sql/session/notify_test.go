package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"herd/pgwire/wire"
	"herd/sql/sqlerr"
)

// TestNotifyQueueIsOfOneDatabase has a commit of one database held up: others go on, and those who wait in it are reached by a cancel.
func TestNotifyQueueIsOfOneDatabase(t *testing.T) {
	s := open(t)
	c := s.join(t, "postgres")
	c.do("create database other")
	got := &bytes.Buffer{}
	o, err := s.srv.Connect(&StartupInfo{User: "postgres", Database: "other"}, Client{Out: wire.NewWriter(got), Wake: func() {}, Terminate: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	q := s.srv.notify.of(c.db)
	q.order <- struct{}{}
	head := &notifyBatch{q: q}
	q.append(head)

	other := &cacheClient{o, t, got}
	other.do("listen a", "notify a, 'in other'")
	other.sendNotifications() // as the connection does
	other.out.Flush()
	if !bytes.Contains(got.Bytes(), []byte("in other")) {
		t.Fatal("another database's notification waits")
	}
	done := make(chan error, 1)
	go func() { done <- c.Query([]byte("notify a")) }()
	select {
	case err := <-done:
		t.Fatalf("a commit has overtaken another: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	c.eng.Interrupt().Cancel()
	c.fails(<-done, sqlerr.QueryCanceled)
	c.Session.Sync()
	q.leave()
	if n := s.srv.notify.used.Load(); n != 0 {
		t.Fatalf("%d bytes are reserved by a commit that failed", n)
	}
	head.settle(true)
	c.do("notify a")
}

// TestNotifyQueueIsBounded counts what waits behind a commit that is not settled.
func TestNotifyQueueIsBounded(t *testing.T) {
	s := open(t)
	c := s.join(t, "postgres")
	h := &s.srv.notify
	q := h.of(c.db)
	head := &notifyBatch{q: q}
	q.append(head)
	text := "select count(pg_notify('a', repeat('x', 7900) || i)) from generate_series(1, 2000) i"
	var err error
	n := 0
	for ; n < 10 && err == nil; n++ {
		err = c.Query([]byte(text))
		c.Session.Sync()
	}
	if c.fails(err, sqlerr.ProgramLimitExceeded); n != 5 { // 4 transactions of 16 MB have room
		t.Fatalf("transaction %d was refused", n)
	}
	if used := h.used.Load(); used < 60<<20 || h.acct.Used() < used {
		t.Fatalf("%d bytes are used, %d on account", used, h.acct.Used())
	}
	head.settle(false)
	if used := h.used.Load(); used != 0 || h.acct.Used() != 0 {
		t.Fatalf("%d bytes are used, %d on account, and nobody listens", used, h.acct.Used())
	}
}

// TestNotificationCountsOnce has many listeners that do not read.
func TestNotificationCountsOnce(t *testing.T) {
	s := open(t)
	c := s.join(t, "postgres")
	var listeners []*cacheClient
	for range 20 {
		l := s.join(t, "postgres")
		l.do("listen a", "begin")
		listeners = append(listeners, l)
	}
	c.do("notify a, '" + strings.Repeat("x", 1000) + "'")
	want := int64(notificationSize + 1 + 1000)
	if used := s.srv.notify.used.Load(); used != want {
		t.Fatalf("%d bytes are used, want %d", used, want)
	}
	for i, l := range listeners {
		if i%2 == 0 {
			l.do("commit")
			l.sendNotifications()
		} else {
			l.Close()
		}
	}
	if used, paid := s.srv.notify.used.Load(), s.srv.notify.acct.Used(); used != 0 || paid != 0 {
		t.Fatalf("%d bytes are used, %d on account, and all have read", used, paid)
	}
}

// TestPendingNotesArePaid holds the session's account to what its transaction is going to notify.
func TestPendingNotesArePaid(t *testing.T) {
	c := open(t).join(t, "postgres")
	c.do("begin", "savepoint s")
	before := c.acct.Used()
	for _, end := range []string{"rollback to s", "rollback"} {
		c.do("select count(pg_notify('a', repeat('x', 7900) || i)) from generate_series(1, 1000) i")
		if grown := c.acct.Used() - before; grown < 7900*1000 {
			t.Fatalf("the account has %d bytes more", grown)
		}
		c.do(end)
		if grown := c.acct.Used() - before; grown > 1<<20 {
			t.Fatalf("%s: the account keeps %d bytes", end, grown)
		}
	}
}

// TestNotifyOutlivesPanic has the end of a transaction panic after its commit is ordered.
func TestNotifyOutlivesPanic(t *testing.T) {
	s := open(t)
	c, d := s.join(t, "postgres"), s.join(t, "postgres")
	d.do("listen a")
	c.do("begin", "notify a, 'of c'")
	c.txHooks = append(c.txHooks, func(bool) { panic("of a hook") })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing panicked")
			}
		}()
		c.Query([]byte("commit"))
	}()
	d.do("notify a, 'of d'")
	d.sendNotifications()
	d.out.Flush()
	if !bytes.Contains(d.got.Bytes(), []byte("of d")) {
		t.Fatal("a notification waits for a commit that has panicked")
	}
}
