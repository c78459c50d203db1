package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// load is clients that move money between accounts and remember what was acknowledged.
type load struct {
	t    *testing.T
	url  string
	stop chan struct{}
	wait sync.WaitGroup

	mu       sync.Mutex
	acked    map[string]bool
	unknown  map[string]bool // a connection that broke inside COMMIT, or 08007
	last     time.Time       // of the last acknowledged commit
	gap      time.Duration   // the longest time without one
	sessions int
}

const accounts = 50

func newLoad(t *testing.T, url string, clients int) *load {
	t.Helper()
	must(t, url, fmt.Sprintf(`create table account(id int primary key, balance bigint not null);
		create table history(id text primary key, source int not null, target int not null, amount int not null);
		insert into account select i, 1000 from generate_series(1, %d) i`, accounts))
	l := &load{t: t, url: url, stop: make(chan struct{}), acked: map[string]bool{}, unknown: map[string]bool{}, last: time.Now()}
	for c := range clients {
		l.wait.Add(1)
		go l.client(c)
	}
	return l
}

func (l *load) client(c int) {
	defer l.wait.Done()
	r := rand.New(rand.NewSource(int64(c)))
	var conn *pgconn.PgConn
	ctx := context.Background()
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			if conn != nil {
				conn.Close(ctx)
			}
			return
		default:
		}
		if conn == nil {
			to, cancel := context.WithTimeout(ctx, 15*time.Second)
			x, err := pgconn.Connect(to, l.url)
			cancel()
			if err != nil {
				time.Sleep(20 * time.Millisecond)
				continue
			}
			conn = x
			l.mu.Lock()
			l.sessions++
			l.mu.Unlock()
		}
		id := fmt.Sprintf("%d-%d", c, i)
		from, to, amount := 1+r.Intn(accounts), 1+r.Intn(accounts), 1+r.Intn(20)
		text := fmt.Sprintf(`begin; update account set balance = balance - %d where id = %d; update account set balance = balance + %d where id = %d;
			insert into history values ('%s', %d, %d, %d); commit`, amount, from, amount, to, id, from, to, amount)
		_, err := conn.Exec(ctx, text).ReadAll()
		l.mu.Lock()
		switch {
		case err == nil:
			now := time.Now()
			l.gap = max(l.gap, now.Sub(l.last))
			l.last = now
			l.acked[id] = true
		case code(err) != "40P01" && code(err) != "40001":
			l.unknown[id] = true
		}
		l.mu.Unlock()
		if err != nil && code(err) != "40P01" && code(err) != "40001" {
			conn.Close(ctx)
			conn = nil
		}
	}
}

// interval returns the longest time without an acknowledged commit since the last call.
func (l *load) interval() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := max(l.gap, time.Since(l.last))
	l.gap = 0
	return g
}

func (l *load) end() {
	close(l.stop)
	l.wait.Wait()
}

// check looks at what one node shows: the sum of the balances, every acknowledged transfer, none that was not sent, and
// balances that the transfers explain.
func (l *load) check(t *testing.T, url string) {
	t.Helper()
	if got, want := must(t, url, "select sum(balance) from account"), fmt.Sprint(accounts*1000); got != want {
		t.Errorf("the balances sum up to %s, not %s", got, want)
	}
	odd := must(t, url, `select count(*) from account a where balance <> 1000
		+ (select coalesce(sum(amount), 0) from history where target = a.id) - (select coalesce(sum(amount), 0) from history where source = a.id)`)
	if odd != "0" {
		t.Errorf("%s accounts do not agree with the transfers", odd)
	}
	there := strings.Split(must(t, url, "select string_agg(id, ' ' order by id) from history"), " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := 0
	for id := range l.acked {
		if _, ok := slices.BinarySearch(there, id); !ok {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged commits are missing", lost, len(l.acked))
	}
	for _, id := range there {
		if !l.acked[id] && !l.unknown[id] {
			t.Errorf("transfer %s is there and was refused", id)
		}
	}
}

// kills is how often TestKillLeader kills; HERD_KILLS in the environment changes it.
func kills(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("HERD_KILLS"), "2"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The leader is killed under load, again and again. Writes go on; nothing that was acknowledged is missing on any node; the killed node
// comes back and leads with the same contents.
func TestKillLeader(t *testing.T) {
	c := start(t, 3)
	l := newLoad(t, c.url(), 8)
	time.Sleep(2 * time.Second)
	steady := l.interval()
	var gaps []time.Duration
	for round := range kills(t) {
		x := c.leader()
		c.kill(x)
		time.Sleep(5 * time.Second)
		gap := l.interval()
		t.Logf("round %d: leader %s killed, %v without a commit (%v before)", round, x.id, gap, steady)
		gaps = append(gaps, gap)
		if gap > 5*time.Second {
			t.Errorf("no commit within %v after leader %s was killed", gap, x.id)
		}
		c.run(x)
		time.Sleep(3 * time.Second)
		l.interval()
	}
	l.end()
	slices.Sort(gaps)
	t.Logf("without a commit: median %v, worst %v", gaps[len(gaps)/2], gaps[len(gaps)-1])
	t.Logf("%d acknowledged, %d unknown, %d sessions", len(l.acked), len(l.unknown), l.sessions)
	if len(l.acked) < 100 {
		t.Errorf("only %d commits were acknowledged", len(l.acked))
	}
	for _, x := range c.list {
		c.lead(x)
		l.check(t, x.url())
	}
}

// lead makes x the leader, so that what it shows is its own.
func (c *nodes) lead(x *node) {
	c.t.Helper()
	out, got := "", ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if got = c.leader().id; got == x.id {
			return
		}
		out, _ = c.up().command("transfer", x.id)
	}
	c.t.Fatalf("node %s leads, not %s: %s", got, x.id, out)
}
