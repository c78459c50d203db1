package system

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"herd/tests/peer"
)

// TestDataLargerThanMemory runs what bench/large runs, small: the data are several times the memory for blocks, nothing fails,
// and the process keeps to its limit.
func TestDataLargerThanMemory(t *testing.T) {
	const limit, rows = 100, 80_000
	s := peer.StartHerdFor(t, fmt.Sprintf("server.memory.max.limit=%dM", limit))
	stop := watchResident(t, s.Pid, limit<<20/4*5)
	defer stop()
	c := Connect(t, s.URL)
	Exec(t, c, "CREATE TABLE t (id bigint PRIMARY KEY, grp int NOT NULL, v text NOT NULL)")
	filler := strings.Repeat("larger than memory ", 52)
	var text bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < rows; from += 20_000 {
		text.Reset()
		for i := range 20_000 {
			fmt.Fprintf(&text, "%d\t%d\t%016x%s\n", from+i, random.IntN(rows), random.Uint64(), filler)
		}
		if _, err := c.CopyFrom(context.Background(), &text, "COPY t FROM STDIN"); err != nil {
			t.Fatal(err)
		}
	}
	var clients sync.WaitGroup
	for range 4 {
		seed := random.Uint64()
		clients.Go(func() {
			c, r := Connect(t, s.URL), rand.New(rand.NewPCG(seed, 3))
			for range 500 {
				id := r.IntN(rows)
				sql := fmt.Sprintf("UPDATE t SET v = v || '+' WHERE id = %d; SELECT length(v) FROM t WHERE id = %d", id, id)
				if results, err := c.Exec(context.Background(), sql).ReadAll(); err != nil {
					t.Errorf("%s: %v", sql, err)
					return
				} else if n, _ := strconv.Atoi(string(results[1].Rows[0][0])); n <= 16+len(filler) {
					t.Errorf("row %d has length %d after an update", id, n)
				}
			}
		})
	}
	clients.Wait()
	if t.Failed() {
		return
	}
	Exec(t, c, "CREATE INDEX t_grp ON t (grp)")
	for sql, want := range map[string]string{
		"SELECT count(*) FROM t": fmt.Sprint(rows),
		fmt.Sprintf("SELECT sum(length(v)) - count(*) * %d FROM t", 16+len(filler)):                  "2000",
		"SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY v) AS n FROM t) s WHERE n % 2 = 0": fmt.Sprint(rows / 2),
		"SELECT count(*) FROM t a JOIN t b ON a.grp = b.id":                                          fmt.Sprint(rows),
	} {
		if got := Value(t, c, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// watchResident fails the test when the process has more in memory than most bytes, looking every 50 ms.
func watchResident(t *testing.T, pid int, most int64) (stop func()) {
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		var peak int64
		for {
			if n, err := peer.Resident(pid); err == nil {
				peak = max(peak, n)
			}
			select {
			case <-quit:
				if t.Logf("at most %d MiB were resident", peak>>20); peak > most {
					t.Errorf("%d MiB were resident, more than %d", peak>>20, most>>20)
				}
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func() { close(quit); done.Wait() }
}
