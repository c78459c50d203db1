package system

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestCancelWhileIdle sends cancel requests while nothing runs: they concern no statement, neither the last nor the next.
func TestCancelWhileIdle(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		for _, sql := range []string{"SELECT 7", "BEGIN", "SELECT 8", "COMMIT"} {
			Exec(t, c, sql)
			if err := c.CancelRequest(context.Background()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // PostgreSQL passes it on by a signal
		}
		if got := Value(t, c, "SELECT count(*) FROM generate_series(1, 3000)"); got != "3000" { // which looks for interrupts
			t.Errorf("got %s", got)
		}
		if r := c.ExecParams(context.Background(), "SELECT $1::int", [][]byte{[]byte("10")}, nil, nil, nil).Read(); r.Err != nil {
			t.Error(r.Err)
		}
	})
}

// TestTerminateStalled ends a session whose client does not read what it asked for.
func TestTerminateStalled(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c, admin := Connect(t, url), Connect(t, url)
		c.Exec(context.Background(), "SELECT repeat('x', 1000) FROM generate_series(1, 1000000)") // sent, and no row of it read
		time.Sleep(300 * time.Millisecond)
		gone := fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d", c.PID())
		if got := Value(t, admin, gone); got != "1" {
			t.Fatalf("%s sessions with the number before", got)
		}
		Exec(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", c.PID()))
		for began := time.Now(); Value(t, admin, gone) != "0"; time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatal("the session is still there")
			}
		}
	})
}
