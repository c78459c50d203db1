package cluster

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// counter is a row that clients count up and read, one of each through each node. What was acknowledged before a read begins has to be in it.
type counter struct {
	t    *testing.T
	stop chan struct{}
	wait sync.WaitGroup

	acked atomic.Int64 // the highest number that was acknowledged
	reads atomic.Int64

	mu       sync.Mutex // guards what follows
	acks     int64
	unknown  int64 // increments whose outcome was not told
	failures []failure
	last     time.Time     // of the last acknowledgement
	gap      time.Duration // the longest time without one
	longest  map[string]time.Duration
	still    time.Duration // the longest time that this process itself, and so all of the machine, stood still
}

// failure is a statement that did not work.
type failure struct {
	node  string
	began time.Time
	ended time.Time
	err   error
}

// counterPatience is how long a statement may take, whatever happens to the cluster: a session that hangs is found by it.
const counterPatience = 25 * time.Second

func newCounter(t *testing.T, url string, through ...*node) *counter {
	t.Helper()
	must(t, url, "create table counter(n bigint); insert into counter values (0)")
	k := &counter{t: t, stop: make(chan struct{}), last: time.Now(), longest: map[string]time.Duration{}}
	k.wait.Add(1)
	go k.watch()
	for _, x := range through {
		for _, step := range []func(*pgconn.PgConn) error{k.write, k.read} {
			k.wait.Add(1)
			go k.client(x.id, x.url(), step)
		}
	}
	return k
}

// watch notes how long nothing runs on this machine: nobody is to blame for that time.
func (k *counter) watch() {
	defer k.wait.Done()
	const tick = 50 * time.Millisecond
	for last := time.Now(); ; {
		select {
		case <-k.stop:
			return
		case <-time.After(tick):
		}
		now := time.Now()
		k.mu.Lock()
		k.still = max(k.still, now.Sub(last)-tick)
		k.mu.Unlock()
		last = now
	}
}

func (k *counter) client(id, url string, step func(*pgconn.PgConn) error) {
	defer k.wait.Done()
	var conn *pgconn.PgConn
	defer func() {
		if conn != nil {
			closeNow(conn)
		}
	}()
	for {
		select {
		case <-k.stop:
			return
		default:
		}
		began := time.Now()
		err := error(nil)
		if conn == nil {
			ctx, cancel := context.WithTimeout(context.Background(), counterPatience)
			conn, err = pgconn.Connect(ctx, url)
			cancel()
		}
		if err == nil {
			err = step(conn)
		}
		k.note(id, began, err)
		if err != nil {
			if conn != nil {
				closeNow(conn)
			}
			conn = nil
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func closeNow(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it may be broken
}

func (k *counter) note(id string, began time.Time, err error) {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.longest[id] = max(k.longest[id], now.Sub(began))
	if err != nil {
		k.failures = append(k.failures, failure{id, began, now, err})
	}
}

// number runs SQL that returns one.
func number(conn *pgconn.PgConn, sql string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), counterPatience)
	defer cancel()
	r, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return 0, err
	}
	if len(r) != 1 || len(r[0].Rows) != 1 {
		return 0, fmt.Errorf("%s: no row", sql)
	}
	return strconv.ParseInt(string(r[0].Rows[0][0]), 10, 64)
}

func (k *counter) write(conn *pgconn.PgConn) error {
	n, err := number(conn, "update counter set n = n + 1 returning n")
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.unknown++
		return err
	}
	now := time.Now()
	k.gap, k.last = max(k.gap, now.Sub(k.last)), now
	k.acks++
	for {
		old := k.acked.Load()
		if n <= old || k.acked.CompareAndSwap(old, n) {
			return nil
		}
	}
}

func (k *counter) read(conn *pgconn.PgConn) error {
	before := k.acked.Load()
	n, err := number(conn, "select n from counter")
	if err == nil {
		k.reads.Add(1)
		if n < before {
			k.t.Errorf("a stale read: %d, after %d was acknowledged", n, before)
		}
	}
	return err
}

// interval returns the longest time without an acknowledged commit since the last call.
func (k *counter) interval() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := max(k.gap, time.Since(k.last))
	k.gap, k.last = 0, time.Now()
	return g
}

// between returns the failures through others than a node of statements that ended, or were under way, from a time to another.
func (k *counter) between(from, to time.Time, except ...string) (list []failure) {
	k.mu.Lock()
	defer k.mu.Unlock()
next:
	for _, f := range k.failures {
		for _, x := range except {
			if f.node == x {
				continue next
			}
		}
		if f.ended.After(from) && f.began.Before(to) {
			list = append(list, f)
		}
	}
	return list
}

// end stops the clients and looks at what one node shows.
func (k *counter) end(url string) {
	k.t.Helper()
	close(k.stop)
	k.wait.Wait()
	n, err := strconv.ParseInt(must(k.t, url, "select n from counter"), 10, 64)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Logf("counted to %d: %d acknowledged, %d unknown, %d reads, %d failures; longest statements %v; nothing ran for %v", n, k.acks, k.unknown, k.reads.Load(), len(k.failures), k.longest, k.still)
	if n < k.acks || n > k.acks+k.unknown || n < k.acked.Load() {
		k.t.Errorf("the counter is %d after %d acknowledged increments, the last %d, and %d of unknown outcome", n, k.acks, k.acked.Load(), k.unknown)
	}
	if k.acks < 100 || k.reads.Load() < 100 {
		k.t.Errorf("only %d increments and %d reads", k.acks, k.reads.Load())
	}
	for id, d := range k.longest {
		if d >= counterPatience+k.still {
			k.t.Errorf("a statement through node %s took %v", id, d)
		}
	}
	for _, f := range k.failures {
		switch code(f.err) {
		case "", "57P01", "57P03", "08007", "53100": // "": the connection broke, or could not be made; 53100: a disk was full
		default:
			k.t.Errorf("through node %s: %v", f.node, f.err)
		}
	}
}
