package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// checkServer looks whether the sums agree and every acknowledged transaction is in the history exactly once. It returns the rows of
// the history and what is wrong.
func checkServer(ctx context.Context, url string, l *ledger) (rows int, problems []string, err error) {
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return 0, nil, fmt.Errorf("connect for check: %w", err)
	}
	defer c.Close(ctx)
	var sums []string
	for _, sql := range []string{"SELECT coalesce(sum(delta), 0) FROM pgbench_history", "SELECT sum(bbalance) FROM pgbench_branches",
		"SELECT sum(tbalance) FROM pgbench_tellers", "SELECT sum(abalance) FROM pgbench_accounts"} {
		results, err := c.Exec(ctx, sql).ReadAll()
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", sql, err)
		}
		sums = append(sums, string(results[0].Rows[0][0]))
	}
	if sums[0] != sums[1] || sums[0] != sums[2] || sums[0] != sums[3] {
		problems = append(problems, fmt.Sprintf("sums differ: history %s, branches %s, tellers %s, accounts %s", sums[0], sums[1], sums[2], sums[3]))
	}
	results, err := c.Exec(ctx, "SELECT filler FROM pgbench_history").ReadAll()
	if err != nil {
		return 0, nil, fmt.Errorf("read history: %w", err)
	}
	seen := make(map[string]int, len(results[0].Rows))
	for _, row := range results[0].Rows {
		seen[strings.TrimRight(string(row[0]), " ")]++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	missing, twice := 0, 0
	for mark := range l.acked {
		if seen[mark] == 0 {
			if missing++; missing == 1 {
				problems = append(problems, fmt.Sprintf("acknowledged transaction %q is missing", mark))
			}
		}
	}
	for mark, n := range seen {
		if n > 1 {
			if twice++; twice == 1 {
				problems = append(problems, fmt.Sprintf("transaction %q is there %d times", mark, n))
			}
		}
	}
	if missing > 1 || twice > 1 {
		problems = append(problems, fmt.Sprintf("%d acknowledged transactions are missing, %d are there more than once", missing, twice))
	}
	return len(results[0].Rows), problems, nil
}
