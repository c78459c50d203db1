package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// contents are queries for the keys and contents of the model's tables.
var contents = map[string]string{
	"item":     "SELECT k, n || ' ' || v FROM item",
	"large":    "SELECT k, length(body) || ' ' || md5(body) FROM large",
	"copied":   "SELECT k, count(*)::text FROM copied WHERE v = 'row ' || i || ' of ' || k GROUP BY k HAVING min(i) = 0 AND max(i) = count(*) - 1",
	"transfer": "SELECT k, source || '>' || target || ' ' || amount FROM transfer",
}

// empty are queries that must find nothing.
var empty = []string{
	"SELECT k FROM copied GROUP BY k HAVING min(i) <> 0 OR max(i) <> count(*) - 1",
	`SELECT id, balance FROM account a WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM transfer WHERE target = a.id)
		- (SELECT coalesce(sum(amount), 0) FROM transfer WHERE source = a.id)`,
	"SELECT sum(balance) FROM account HAVING sum(balance) <> 0",
}

// both are queries that must give the same by an index and by the table.
var both = []struct{ index, query string }{
	{"item_n", "SELECT count(*), sum(n), sum(hashtext(k)::bigint) FROM item WHERE n >= 0"},
	{"item_v", "SELECT count(*), sum(n), sum(hashtext(k)::bigint) FROM item WHERE v >= ''"},
}

// verify compares a server's data with the model. Nobody else uses the server.
func verify(ctx context.Context, url string, m *model) (problems []string, err error) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect for the check: %w", err)
	}
	defer conn.Close(ctx)
	c := &client{conn: conn, model: m}
	for table, query := range contents {
		rows, err := c.query(ctx, query)
		if err != nil {
			return nil, err
		}
		found := map[string]string{}
		for _, r := range rows {
			found[string(r[0])] = string(r[1])
		}
		problems = append(problems, m.compare(table, found)...)
	}
	more, err := definedTables(ctx, c)
	if err != nil {
		return nil, err
	}
	problems = append(problems, more...)
	for _, query := range empty {
		rows, err := c.query(ctx, query)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			problems = append(problems, fmt.Sprintf("%d rows, the first %q, of %s", len(rows), rows[0], query))
		}
	}
	if more, err = indexesAgree(ctx, c); err != nil {
		return nil, err
	}
	problems = append(problems, more...)
	if err := draws(ctx, c); err != nil {
		problems = append(problems, err.Error())
	}
	return problems, nil
}

// definedTables compares the tables that the clients have made.
func definedTables(ctx context.Context, c *client) ([]string, error) {
	rows, err := c.query(ctx, `SELECT relname, (SELECT count(*) FROM pg_attribute WHERE attrelid = r.oid AND attnum > 0) FROM pg_class r
		WHERE relkind = 'r' AND relname LIKE 'd\_%'`)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, r := range rows {
		count, err := c.query(ctx, "SELECT count(*) FROM "+string(r[0]))
		if err != nil {
			return nil, err
		}
		found[string(r[0])] = string(r[1]) + " " + string(count[0][0])
	}
	return c.model.compare("definition", found), nil
}

// indexesAgree compares what valid indexes give with what the table gives.
func indexesAgree(ctx context.Context, c *client) (problems []string, err error) {
	for _, b := range both {
		rows, err := c.query(ctx, "SELECT indisvalid FROM pg_index i JOIN pg_class r ON r.oid = indexrelid WHERE relname = $1", b.index)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 || string(rows[0][0]) != "t" {
			continue
		}
		var answers, plans [2]string
		for i, on := range []string{"off", "on"} {
			if err := c.exec(ctx, fmt.Sprintf("SET enable_seqscan = %s; SET enable_indexscan = %s; SET enable_bitmapscan = off; SET enable_indexonlyscan = off",
				map[string]string{"on": "off", "off": "on"}[on], on)); err != nil {
				return nil, err
			}
			answer, err := c.query(ctx, b.query)
			if err != nil {
				return nil, err
			}
			plan, err := c.query(ctx, "EXPLAIN "+b.query)
			if err != nil {
				return nil, err
			}
			answers[i] = fmt.Sprintf("%s", answer)
			for _, line := range plan {
				plans[i] += string(line[0]) + "\n"
			}
		}
		if strings.Contains(plans[0], "Index") || !strings.Contains(plans[1], b.index) {
			return nil, fmt.Errorf("the plans do not compare table and index %s:\n%s\n%s", b.index, plans[0], plans[1])
		}
		if answers[0] != answers[1] {
			problems = append(problems, fmt.Sprintf("index %s gives %s, its table %s", b.index, answers[1], answers[0]))
		}
	}
	return problems, nil
}
