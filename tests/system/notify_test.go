package system

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// listener is a connection with the notifications it was told of.
type listener struct {
	*pgconn.PgConn
	got []string
}

// listen connects and listens to a channel.
func listen(t *testing.T, url, channel string) *listener {
	t.Helper()
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	cfg.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		l.got = append(l.got, fmt.Sprintf("%s(%s) %d", n.Channel, n.Payload, n.PID))
	}
	if l.PgConn, err = pgconn.ConnectConfig(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(context.Background()) })
	Exec(t, l.PgConn, "LISTEN "+channel)
	return l
}

// wait waits until n notifications came.
func (l *listener) wait(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for len(l.got) < n {
		if err := l.WaitForNotification(ctx); err != nil {
			t.Fatalf("after %d of %d notifications: %v", len(l.got), n, err)
		}
	}
}

// expect compares all that came since the last call.
func (l *listener) expect(t *testing.T, pid uint32, want ...string) {
	t.Helper()
	l.wait(t, len(want))
	for i := range want {
		want[i] += fmt.Sprintf(" %d", pid)
	}
	if got := strings.Join(l.got, "; "); got != strings.Join(want, "; ") {
		t.Errorf("got %s, want %s", got, strings.Join(want, "; "))
	}
	l.got = nil
}

// TestNotify sends notifications to sessions that are idle, in a transaction, in COPY and in another database.
func TestNotify(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		idle, busy := listen(t, url, "ch"), listen(t, url, "ch")
		Exec(t, c, "CREATE DATABASE notify_other")
		other := listen(t, strings.Replace(url, "/postgres?", "/notify_other?", 1), "ch")
		Exec(t, busy.PgConn, "BEGIN")
		Exec(t, c, "NOTIFY ch, 'one'")
		idle.expect(t, c.PID(), "ch(one)")
		Exec(t, c, "BEGIN; NOTIFY ch, 'two'; NOTIFY ch, 'three'; NOTIFY ch, 'two'; NOTIFY nobody; SAVEPOINT s; NOTIFY ch, 'four'; ROLLBACK TO s; NOTIFY ch")
		if Exec(t, idle.PgConn, "SELECT 1"); len(idle.got) > 0 {
			t.Errorf("notified before the commit: %v", idle.got)
		}
		Exec(t, c, "COMMIT")
		idle.expect(t, c.PID(), "ch(two)", "ch(three)", "ch()")
		Exec(t, c, "BEGIN; NOTIFY ch, 'lost'; ROLLBACK")
		Exec(t, busy.PgConn, "SELECT 1")
		if len(busy.got) > 0 {
			t.Errorf("notified inside a transaction: %v", busy.got)
		}
		Exec(t, busy.PgConn, "COMMIT")
		busy.expect(t, c.PID(), "ch(one)", "ch(two)", "ch(three)", "ch()")
		Exec(t, other.PgConn, "SELECT 1")
		other.expect(t, 0)
		Exec(t, idle.PgConn, "NOTIFY ch, 'mine'")
		idle.expect(t, idle.PID(), "ch(mine)")
		busy.expect(t, idle.PID(), "ch(mine)")
		notifyInCopy(t, c, idle)
		Exec(t, idle.PgConn, "UNLISTEN ch")
		Exec(t, c, "NOTIFY ch, 'late'")
		Exec(t, idle.PgConn, "SELECT 1")
		idle.expect(t, 0)
	})
}

// notifyInCopy notifies a session that reads COPY data: it must go on, and hear of it behind the command.
func notifyInCopy(t *testing.T, c *pgconn.PgConn, l *listener) {
	Exec(t, c, "CREATE TABLE copied (a int)")
	r := readerFunc(func() func(p []byte) (int, error) {
		rows := 0
		return func(p []byte) (int, error) {
			if rows++; rows > 20 {
				return 0, fmt.Errorf("EOF")
			}
			Exec(t, c, fmt.Sprintf("NOTIFY ch, 'copy%d'", rows))
			return copy(p, "1\n"), nil
		}
	}())
	if _, err := l.CopyFrom(context.Background(), r, "COPY copied FROM STDIN"); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("COPY that the client ends: %v", err)
	}
	if got := Value(t, l.PgConn, "SELECT 17"); got != "17" {
		t.Errorf("got %s", got)
	}
	l.wait(t, 20)
	l.got = nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestNotifyOrder has several sessions notify one that runs statements meanwhile: it hears of all, those of each session in order.
func TestNotifyOrder(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		const senders, each = 4, 200
		l := listen(t, url, "ch")
		var wait sync.WaitGroup
		for i := range senders {
			c := Connect(t, url)
			wait.Go(func() {
				for k := range each {
					if _, err := c.Exec(context.Background(), fmt.Sprintf("SELECT pg_notify('ch', '%d %03d')", i, k)).ReadAll(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 300 {
			Exec(t, l.PgConn, "SELECT 1")
		}
		wait.Wait()
		l.wait(t, senders*each)
		var last [senders]int
		for _, n := range l.got {
			var i, k int
			if _, err := fmt.Sscanf(n, "ch(%d %d)", &i, &k); err != nil || k != last[i] {
				t.Fatalf("%s after %v: %v", n, last, err)
			}
			last[i]++
		}
	})
}

// TestNotifyUnread fills the queue of a listener that reads nothing: who notifies is refused then, until it reads.
func TestNotifyUnread(t *testing.T) {
	url := peer.StartHerdFor(t).URL
	c, l := Connect(t, url), listen(t, url, "ch")
	Exec(t, l.PgConn, "BEGIN")
	const fill = "SELECT count(pg_notify('ch', repeat('x', 7000) || g)) FROM generate_series(%d, %d) g"
	Exec(t, c, fmt.Sprintf(fill, 1, 6000))
	if got := Value(t, c, "SELECT pg_notification_queue_usage() BETWEEN 0.6 AND 0.7"); got != "t" {
		t.Errorf("usage %s", Value(t, c, "SELECT pg_notification_queue_usage()"))
	}
	expectState(t, c, fmt.Sprintf(fill, 6001, 12000), "54000")
	Exec(t, l.PgConn, "COMMIT")
	l.wait(t, 6000)
	Exec(t, c, fmt.Sprintf(fill, 6001, 12000))
	l.wait(t, 12000)
	if got := Value(t, c, "SELECT pg_notification_queue_usage()"); got != "0" {
		t.Errorf("usage %s when all is read", got)
	}
}
