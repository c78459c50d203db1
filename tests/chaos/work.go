package main

import (
	"context"
	"crypto/md5"
	"fmt"
	"strconv"
	"strings"
)

// schema is what the first round begins with.
const schema = `
	CREATE TABLE item (k text PRIMARY KEY, n int NOT NULL, v text NOT NULL);
	CREATE INDEX item_n ON item (n);
	CREATE TABLE large (k text PRIMARY KEY, body text NOT NULL, note int NOT NULL DEFAULT 0);
	ALTER TABLE large ALTER body SET STORAGE EXTERNAL;
	CREATE TABLE copied (k text, i int, v text, PRIMARY KEY (k, i));
	CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL DEFAULT 0);
	INSERT INTO account SELECT generate_series(1, 50);
	CREATE TABLE transfer (k text PRIMARY KEY, source int NOT NULL REFERENCES account, target int NOT NULL REFERENCES account, amount int NOT NULL);
	CREATE SEQUENCE drawn`

// most is how many keys of a table one client lets grow.
const most = 300

// works are the kinds of work with the number of clients that do each.
var works = []struct {
	clients int
	work    work
}{{4, items}, {2, transfers}, {2, largeValues}, {1, copies}, {1, definitions}, {1, indexes}, {1, draws}, {1, checkpoints}}

// items inserts, updates and deletes rows with a second index.
func items(ctx context.Context, c *client) error {
	key, all := c.pick("item")
	n := c.random.IntN(1000)
	v := strings.Repeat("v", c.random.IntN(200)) + strconv.Itoa(n)
	content := fmt.Sprintf("%d %s", n, v)
	switch what := c.random.IntN(4); {
	case all < 20 || what < 2 && all < most:
		key = c.fresh()
		end := c.model.begin("item", key, content)
		return c.settle(ctx, "item", key, end, c.exec(ctx, "INSERT INTO item VALUES ($1, $2::int, $3)", key, strconv.Itoa(n), v))
	case what == 2:
		end := c.model.begin("item", key, "")
		return c.settle(ctx, "item", key, end, c.exec(ctx, "DELETE FROM item WHERE k = $1", key))
	}
	end := c.model.begin("item", key, content)
	return c.settle(ctx, "item", key, end, c.exec(ctx, "UPDATE item SET n = $2::int, v = $3 WHERE k = $1", key, strconv.Itoa(n), v))
}

// transfers moves money between accounts that all clients share.
func transfers(ctx context.Context, c *client) error {
	key := c.fresh()
	from, to, amount := strconv.Itoa(1+c.random.IntN(50)), strconv.Itoa(1+c.random.IntN(50)), strconv.Itoa(c.random.IntN(1000))
	end := c.model.begin("transfer", key, from+">"+to+" "+amount)
	run := func() error {
		for _, s := range []struct {
			sql  string
			args []string
		}{
			{"BEGIN", nil},
			{"UPDATE account SET balance = balance - $2::int WHERE id = $1::int", []string{from, amount}},
			{"UPDATE account SET balance = balance + $2::int WHERE id = $1::int", []string{to, amount}},
			{"INSERT INTO transfer VALUES ($1, $2::int, $3::int, $4::int)", []string{key, from, to, amount}},
			{"COMMIT", nil},
		} {
			if err := c.exec(ctx, s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	}
	return c.settle(ctx, "transfer", key, end, run())
}

// largeValues stores values that lie in chunks of their own, and changes the rows beside them.
func largeValues(ctx context.Context, c *client) error {
	key, all := c.pick("large")
	if all > 8 || all > 0 && c.random.IntN(4) == 0 {
		end := c.model.begin("large", key, "")
		return c.settle(ctx, "large", key, end, c.exec(ctx, "DELETE FROM large WHERE k = $1", key))
	}
	body := strings.Repeat(strconv.Itoa(c.random.IntN(1<<30))+" ", 1+c.random.IntN(60_000))
	content := fmt.Sprintf("%d %x", len(body), md5.Sum([]byte(body)))
	if all > 2 && c.random.IntN(2) == 0 {
		end := c.model.begin("large", key, content)
		return c.settle(ctx, "large", key, end, c.exec(ctx, "UPDATE large SET body = $2, note = note + 1 WHERE k = $1", key, body))
	}
	key = c.fresh()
	end := c.model.begin("large", key, content)
	return c.settle(ctx, "large", key, end, c.exec(ctx, "INSERT INTO large VALUES ($1, $2)", key, body))
}

// copies loads stretches of rows with COPY, each of which must be there as a whole.
func copies(ctx context.Context, c *client) error {
	key, all := c.pick("copied")
	if all > 6 {
		end := c.model.begin("copied", key, "")
		return c.settle(ctx, "copied", key, end, c.exec(ctx, "DELETE FROM copied WHERE k = $1", key))
	}
	key = c.fresh()
	rows := 1 + c.random.IntN(8000)
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "%s\t%d\trow %d of %s\n", key, i, i, key)
	}
	end := c.model.begin("copied", key, strconv.Itoa(rows))
	_, err := c.conn.CopyFrom(ctx, strings.NewReader(b.String()), "COPY copied FROM STDIN")
	return c.settle(ctx, "copied", key, end, wrap("COPY copied", err))
}

// definitions makes, changes, empties and drops tables. The model keeps a table's number of columns and of rows.
func definitions(ctx context.Context, c *client) error {
	key, all := c.pick("definition")
	if all < 3 {
		key = strings.ReplaceAll(fmt.Sprintf("d_%s", c.fresh()), "-", "_")
		c.prefix = "d_" // its keys are names of tables
		rows := c.random.IntN(500)
		end := c.model.begin("definition", key, fmt.Sprintf("2 %d", rows))
		return c.settle(ctx, "definition", key, end, c.exec(ctx, fmt.Sprintf(`BEGIN; CREATE TABLE %[1]s (id serial PRIMARY KEY, v text);
			INSERT INTO %[1]s (v) SELECT 'v' || i FROM generate_series(1, %[2]d) i; CREATE INDEX ON %[1]s (v); COMMIT`, key, rows)))
	}
	found, err := c.query(ctx, "SELECT count(*) FROM pg_attribute WHERE attnum > 0 AND attrelid = '"+key+"'::regclass")
	if err != nil {
		return err
	}
	columns, _ := strconv.Atoi(string(found[0][0]))
	if found, err = c.query(ctx, "SELECT count(*) FROM "+key); err != nil {
		return err
	}
	rows := string(found[0][0])
	var sql, content string
	switch c.random.IntN(4) {
	case 0:
		sql = "DROP TABLE " + key
	case 1:
		sql, content = "TRUNCATE "+key, fmt.Sprintf("%d 0", columns)
	case 2:
		sql, content = fmt.Sprintf("ALTER TABLE %s ADD COLUMN x%d text DEFAULT 'new'", key, columns), fmt.Sprintf("%d %s", columns+1, rows)
	default: // a rewrite
		sql, content = fmt.Sprintf("ALTER TABLE %s ALTER v TYPE varchar USING v || '!'", key), fmt.Sprintf("%d %s", columns, rows)
	}
	end := c.model.begin("definition", key, content)
	return c.settle(ctx, "definition", key, end, c.exec(ctx, sql))
}

// indexes builds and drops an index on a table that others write. What it leaves when it is killed may be invalid, as in PostgreSQL.
func indexes(ctx context.Context, c *client) error {
	for _, sql := range []string{"DROP INDEX IF EXISTS item_v", "CREATE INDEX CONCURRENTLY item_v ON item (v)", "REINDEX INDEX CONCURRENTLY item_n",
		"DROP INDEX CONCURRENTLY item_v", "CREATE INDEX item_v ON item (v)", "REINDEX TABLE item"} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// draws takes values from a sequence.
func draws(ctx context.Context, c *client) error {
	rows, err := c.query(ctx, "SELECT nextval('drawn')")
	if err != nil {
		return err
	}
	v, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
	if err != nil {
		return err
	}
	c.model.mu.Lock()
	last := c.model.sequence
	c.model.mu.Unlock()
	if v <= last {
		return fmt.Errorf("nextval gave %d after %d", v, last)
	}
	c.model.drawn(v)
	return nil
}

// checkpoints asks for checkpoints now and then.
func checkpoints(ctx context.Context, c *client) error {
	return c.exec(ctx, fmt.Sprintf("SELECT pg_sleep(%f); CHECKPOINT", c.random.Float64()/3))
}
