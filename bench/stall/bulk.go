package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// delayMost is how long a small commit may take beside a large statement.
const delayMost = 50 * time.Millisecond

// smallRows are the rows that the small commits change.
const smallRows = 1000

// step is a large statement; copyRows has its rows sent by COPY.
type step struct {
	name, sql string
	copyRows  int
}

// steps are the large statements in their order: each finds what those before it have left.
func steps(rows int) []step {
	fill := fmt.Sprintf("SELECT i, i %% 1000, repeat('x', 80) FROM generate_series(1, %d) i", rows)
	return []step{
		{"nothing (2 s)", "SELECT pg_sleep(2)", 0},
		{"SELECT that keeps a processor busy", fmt.Sprintf("SELECT sum(i %% 7) FROM generate_series(1, %d) i", 10*rows), 0},
		{"COPY", "COPY bulk FROM STDIN", rows},
		{"CHECKPOINT", "CHECKPOINT", 0},
		{"INSERT ... SELECT", "INSERT INTO bulk2 " + fill, 0},
		{"UPDATE of all rows", "UPDATE bulk2 SET b = b + 1", 0},
		{"UPDATE of all primary keys", fmt.Sprintf("UPDATE bulk2 SET a = a + %d", 10*rows), 0},
		{"CREATE INDEX", "CREATE INDEX bulk_b ON bulk (b)", 0},
		{"CREATE INDEX CONCURRENTLY", "CREATE INDEX CONCURRENTLY bulk2_b ON bulk2 (b)", 0},
		{"UPDATE of all rows, rolled back", "BEGIN; UPDATE bulk SET b = b + 1; ROLLBACK", 0},
		{"ANALYZE", "ANALYZE bulk", 0},
		{"VACUUM", "VACUUM bulk", 0},
		{"DELETE of all rows", "DELETE FROM bulk2", 0},
		{"TRUNCATE", "TRUNCATE bulk2", 0},
		{"DROP TABLE", "DROP TABLE bulk", 0},
		{"CHECKPOINT after it", "CHECKPOINT", 0},
		{"nothing (6 s)", "SELECT pg_sleep(6)", 0},
		{"DROP DATABASE", "DROP DATABASE bulkdb", 0},
	}
}

// runBulk runs the large statements beside small commits.
func runBulk(ctx context.Context, s *settings) (err error) {
	url := s.url
	if url == "" {
		server, err := s.start(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Shutdown()) }()
		url = server.URL
	}
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if err := prepare(ctx, c, url, s.bulkRows); err != nil {
		return err
	}
	l := &smallLoad{url: url, clients: s.clients, interval: time.Second * time.Duration(s.clients) / time.Duration(s.bulkRate)}
	fmt.Printf("%d commits a second of one row over %d connections beside each statement, %d rows\n\n", s.bulkRate, s.clients, s.bulkRows)
	fmt.Println("| statement | seconds | commits | p50 ms | p99 ms | max ms | over 50 ms |\n|---|---:|---:|---:|---:|---:|---:|")
	var late []string
	for _, st := range steps(s.bulkRows) {
		took, latencies, err := l.beside(ctx, func() error { return runStep(ctx, c, st) })
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
		if n := printRow(os.Stdout, st.name, took, latencies); n > 0 {
			late = append(late, fmt.Sprintf("%s (%d)", st.name, n))
		}
	}
	if late != nil {
		return fmt.Errorf("commits over %s beside: %s", delayMost, strings.Join(late, ", "))
	}
	return nil
}

func prepare(ctx context.Context, c *pgx.Conn, url string, rows int) error {
	for _, sql := range []string{
		"CREATE TABLE small (id int PRIMARY KEY, n int)", fmt.Sprintf("INSERT INTO small SELECT i, 0 FROM generate_series(1, %d) i", smallRows),
		"CREATE TABLE bulk (a bigint PRIMARY KEY, b int, c text)", "CREATE TABLE bulk2 (a bigint PRIMARY KEY, b int, c text)",
		"DROP DATABASE IF EXISTS bulkdb", "CREATE DATABASE bulkdb",
	} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.Database = "bulkdb"
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer other.Close(ctx)
	_, err = other.Exec(ctx, fmt.Sprintf("CREATE TABLE t AS SELECT i, repeat('x', 80) FROM generate_series(1, %d) i", rows))
	return err
}

// runStep runs one large statement to its end.
func runStep(ctx context.Context, c *pgx.Conn, st step) error {
	if st.copyRows == 0 {
		_, err := c.PgConn().Exec(ctx, st.sql).ReadAll()
		return err
	}
	r, w := io.Pipe()
	go func() {
		text := strings.Repeat("y", 80)
		var b []byte
		for i := range st.copyRows {
			if b = fmt.Appendf(b, "%d\t%d\t%s\n", i, i%1000, text); len(b) > 32<<10 || i == st.copyRows-1 {
				if _, err := w.Write(b); err != nil {
					return
				}
				b = b[:0]
			}
		}
		w.Close()
	}()
	_, err := c.PgConn().CopyFrom(ctx, r, st.sql)
	return errors.Join(err, r.Close())
}

// smallLoad is clients that commit one-row updates at a fixed rate.
type smallLoad struct {
	url      string
	clients  int
	interval time.Duration // between two commits of one client
}

// beside runs f beside the load, and for half a second before and a second behind it, and returns how long f took and the
// latencies, each from when its commit was due.
func (l *smallLoad) beside(ctx context.Context, f func() error) (took time.Duration, latencies []time.Duration, err error) {
	stop := make(chan struct{})
	var mu sync.Mutex
	var group sync.WaitGroup
	var errs []error
	for i := range l.clients {
		c, err := pgconn.Connect(ctx, l.url)
		if err != nil {
			close(stop)
			group.Wait()
			return 0, nil, err
		}
		group.Go(func() {
			defer c.Close(ctx)
			mine, err := l.client(ctx, c, i, stop)
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, mine...)
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	start := time.Now()
	err = f()
	took = time.Since(start)
	time.Sleep(time.Second)
	close(stop)
	group.Wait()
	return took, latencies, errors.Join(append(errs, err)...)
}

func (l *smallLoad) client(ctx context.Context, c *pgconn.PgConn, number int, stop <-chan struct{}) (latencies []time.Duration, err error) {
	if _, err := c.Prepare(ctx, "u", "UPDATE small SET n = n + 1 WHERE id = $1", nil); err != nil {
		return nil, err
	}
	due := time.Now().Add(l.interval * time.Duration(number) / time.Duration(l.clients))
	for i := 0; ; i++ {
		select {
		case <-stop:
			return latencies, nil
		default:
		}
		from := due
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
			from = time.Now() // how late a timer fires is not the server's doing
		}
		due = due.Add(l.interval)
		id := fmt.Sprint(1 + (i*l.clients+number)%smallRows)
		if r := c.ExecPrepared(ctx, "u", [][]byte{[]byte(id)}, nil, nil).Read(); r.Err != nil {
			return latencies, r.Err
		}
		latencies = append(latencies, time.Since(from))
	}
}

// printRow prints a line of the table and returns the number of commits that took too long.
func printRow(w io.Writer, name string, took time.Duration, latencies []time.Duration) (late int) {
	slices.Sort(latencies)
	for _, d := range latencies {
		if d > delayMost {
			late++
		}
	}
	at := func(share float64) float64 {
		if len(latencies) == 0 {
			return 0
		}
		return float64(latencies[min(len(latencies)-1, int(share*float64(len(latencies))))]) / float64(time.Millisecond)
	}
	fmt.Fprintf(w, "| %s | %.2f | %d | %.2f | %.2f | %.1f | %d |\n", name, took.Seconds(), len(latencies), at(0.5), at(0.99), at(1), late)
	return late
}
