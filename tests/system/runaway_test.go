package system

import (
	"context"
	"testing"
	"time"

	"herd/tests/peer"
)

// A query that cannot fit into memory and cannot spill gets 53200; it is seen in herd_memory while it grows, its memory is given back,
// and a session beside it goes on without an error.
func TestRunawayQuery(t *testing.T) {
	s := peer.StartHerdFor(t, "server.memory.max.limit=128MB")
	c, other := Connect(t, s.URL), Connect(t, s.URL)
	Exec(t, other, "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t SELECT i, 0 FROM generate_series(1, 1000) i")
	stop, done := make(chan struct{}), make(chan error, 1)
	seen, writes := false, 0
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			results, err := other.Exec(context.Background(), `UPDATE t SET n = n + 1 WHERE id = 7;
				SELECT count(*) FROM herd_memory WHERE query LIKE 'SELECT array_agg%' AND bytes > 1000000`).ReadAll()
			if err != nil {
				done <- err
				return
			}
			writes++
			seen = seen || string(results[len(results)-1].Rows[0][0]) != "0"
		}
	}()
	time.Sleep(100 * time.Millisecond)
	_, err := c.Exec(context.Background(), "SELECT array_agg(repeat('x', 1000) || i) FROM generate_series(1, 10000000) i").ReadAll()
	close(stop)
	if e := <-done; e != nil {
		t.Errorf("the session beside it: %v", e)
	}
	if got := sqlState(err); got != "53200" {
		t.Errorf("the runaway query: %q", got)
	}
	if !seen || writes == 0 {
		t.Errorf("seen in herd_memory: %v; writes beside it: %d", seen, writes)
	}
	if got := Value(t, c, "SELECT sum(bytes) < 4000000 FROM herd_memory WHERE owner = 'session'"); got != "t" {
		t.Error("its memory is still on the books")
	}
}
