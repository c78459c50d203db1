package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	queryRuns   = 5 // measurements of a statement, of which the median counts, after one that is not counted
	factRows    = 5_000_000
	dimRows     = 1_000_000
	tupleRows   = 50_000
	importRows  = 100_000
	importBatch = 1000 // rows of a transaction in a file of INSERTs
)

// statement is a row that measures one statement on herd and on PostgreSQL.
type statement struct {
	work   string
	sql    string
	binary bool    // results in binary format
	goal   float64 // times faster than PostgreSQL
}

// statements are over fact (factRows rows) and dim (dimRows rows).
var statements = map[string]statement{
	"group-few":      {work: "GROUP BY with 100 groups over 5 M rows", sql: "SELECT g, count(*), sum(v) FROM fact GROUP BY g", goal: 5},
	"group-many":     {work: "GROUP BY with 1 M groups over 5 M rows", sql: "SELECT count(*) FROM (SELECT d, count(*), sum(v) FROM fact GROUP BY d) x", goal: 5},
	"group-text":     {work: "GROUP BY with 1,000 texts over 5 M rows", sql: "SELECT s, count(*), sum(n) FROM fact GROUP BY s", goal: 5},
	"sum-filtered":   {work: "sum of half of 5 M rows", sql: "SELECT sum(v) FROM fact WHERE r < 500000", goal: 5},
	"sum-numeric":    {work: "sum of a product of numerics over a tenth of 5 M rows", sql: "SELECT sum(n * (1 - q)) FROM fact WHERE r < 100000", goal: 5},
	"join":           {work: "hash join of 1 M and 5 M rows", sql: "SELECT count(*), sum(f.v), sum(d.w) FROM fact f JOIN dim d ON d.id = f.d", goal: 3},
	"count-distinct": {work: "count(DISTINCT) of 1 M values in 5 M rows", sql: "SELECT count(DISTINCT d) FROM fact", goal: 1},
	"rows-text":      {work: "SELECT of 1 M rows to the client, text", sql: "SELECT id, w, name FROM dim", goal: 1.5},
	"rows-binary":    {work: "SELECT of 1 M rows to the client, binary", sql: "SELECT id, w, name FROM dim", binary: true, goal: 1.5},
}

var statementOrder = []string{"group-few", "group-many", "group-text", "sum-filtered", "sum-numeric", "join", "count-distinct", "rows-text", "rows-binary"}

var factTables = []string{
	"CREATE TABLE dim (id int PRIMARY KEY, w bigint NOT NULL, name text NOT NULL)",
	fmt.Sprintf("INSERT INTO dim SELECT i, (i::bigint * 7919) %% 1000, 'name of ' || i FROM generate_series(1, %d) i", dimRows),
	"CREATE TABLE fact (id int PRIMARY KEY, d int NOT NULL, g int NOT NULL, v int NOT NULL, r int NOT NULL, n numeric(12,2) NOT NULL, q numeric(4,2) NOT NULL, s text NOT NULL)",
	fmt.Sprintf(`INSERT INTO fact SELECT i, 1 + (i::bigint * 7919) %% %d, i %% 100, i %% 1000, (i::bigint * 104729) %% 1000000, (i %% 100000) / 100.0, (i %% 11) / 100.0,
		'text ' || i %% 1000 FROM generate_series(1, %d) i`, dimRows, factRows),
	"ANALYZE dim", "ANALYZE fact", "CHECKPOINT",
}

// row measures the time of the statement; smaller is better.
func (s statement) row(b *bench, name string) ([]result, error) {
	r := result{name: name, work: s.work, unit: "ms", goal: 1 / s.goal, smaller: true}
	for _, server := range []string{"herd", "postgres"} {
		value, err := s.measure(b, server)
		r.figures = append(r.figures, figure{server, value, err})
	}
	return []result{r}, nil
}

func (s statement) measure(b *bench, server string) (float64, error) {
	c, _, err := b.connect(server)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	if err := b.once(server+" fact", func() error { return execAll(b.ctx, c, factTables) }); err != nil {
		return 0, err
	}
	return medianTime(func() error { return drain(b.ctx, c, s.sql, s.binary) })
}

// once loads something that several rows use.
func (b *bench) once(key string, load func() error) error {
	if b.ready[key] {
		return nil
	}
	err := load()
	b.ready[key] = err == nil
	return err
}

func execAll(ctx context.Context, c *pgconn.PgConn, list []string) error {
	for _, sql := range list {
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	return nil
}

// drain runs a query and reads all rows without keeping them.
func drain(ctx context.Context, c *pgconn.PgConn, sql string, binary bool) error {
	var formats []int16
	if binary {
		formats = []int16{1}
	}
	r := c.ExecParams(ctx, sql, nil, nil, nil, formats)
	for r.NextRow() {
	}
	_, err := r.Close()
	return err
}

// medianTime runs do once for nothing, then queryRuns times, and returns the median in milliseconds.
func medianTime(do func() error) (float64, error) {
	var times []float64
	for i := range queryRuns + 1 {
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, float64(time.Since(start).Microseconds())/1000)
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// insertRow measures INSERT ... VALUES with many literal tuples.
func insertRow(b *bench, name string) ([]result, error) {
	var sql strings.Builder
	sql.WriteString("INSERT INTO tuples VALUES ")
	for i := range tupleRows {
		if i > 0 {
			sql.WriteByte(',')
		}
		fmt.Fprintf(&sql, "(%d, 'name of %d', %d.%02d, '2026-01-%02d')", i, i, i%1000, i%100, 1+i%28)
	}
	r := result{name: name, work: fmt.Sprintf("INSERT ... VALUES of %d literal tuples", tupleRows), unit: "ms", goal: 1 / 1.5, smaller: true}
	for _, server := range []string{"herd", "postgres"} {
		value, err := b.insertTime(server, sql.String())
		r.figures = append(r.figures, figure{server, value, err})
	}
	return []result{r}, nil
}

func (b *bench) insertTime(server, sql string) (float64, error) {
	c, _, err := b.connect(server)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	var times []float64
	for range queryRuns {
		if err := execAll(b.ctx, c, []string{"DROP TABLE IF EXISTS tuples", "CREATE TABLE tuples (id int PRIMARY KEY, name text, price numeric(10,2), day date)"}); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := execAll(b.ctx, c, []string{sql}); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// importRow measures psql -f with a file as pg_dump writes it: COPY, an INSERT a row, or INSERTs in transactions.
func importRow(kind string) func(b *bench, name string) ([]result, error) {
	return func(b *bench, name string) ([]result, error) {
		file := filepath.Join(b.fleet.dir, name+".sql")
		if err := os.WriteFile(file, []byte(dumpText(kind)), 0o644); err != nil {
			return nil, err
		}
		defer os.Remove(file)
		r := result{name: name, work: fmt.Sprintf("psql -f with %d rows as %s", importRows, kind), unit: "ms", goal: 1, smaller: true}
		for _, server := range []string{"herd", "postgres"} {
			value, err := b.importTime(server, file)
			r.figures = append(r.figures, figure{server, value, err})
		}
		return []result{r}, nil
	}
}

func (b *bench) importTime(server, file string) (float64, error) {
	c, s, err := b.connect(server)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	return medianTime(func() error {
		out, err := exec.CommandContext(b.ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", s.url, "-f", file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("psql: %w: %.200s", err, out)
		}
		return nil
	})
}

// dumpText is a dump of one table with a key and an index.
func dumpText(kind string) string {
	var b strings.Builder
	b.WriteString("SET client_min_messages = warning;\nDROP TABLE IF EXISTS imported;\n")
	b.WriteString("CREATE TABLE imported (id integer NOT NULL, customer integer NOT NULL, name text, price numeric(10,2), at timestamp without time zone);\n")
	if kind == "COPY" {
		b.WriteString("COPY imported (id, customer, name, price, at) FROM stdin;\n")
	}
	for i := range importRows {
		at := fmt.Sprintf("2026-01-%02d 12:%02d:%02d", 1+i%28, i/60%60, i%60)
		if kind == "COPY" {
			fmt.Fprintf(&b, "%d\t%d\tname of %d\t%d.%02d\t%s\n", i, i%5000, i, i%1000, i%100, at)
			continue
		}
		if kind == "INSERTs in transactions" && i%importBatch == 0 {
			b.WriteString("BEGIN;\n")
		}
		fmt.Fprintf(&b, "INSERT INTO imported VALUES (%d, %d, 'name of %d', %d.%02d, '%s');\n", i, i%5000, i, i%1000, i%100, at)
		if kind == "INSERTs in transactions" && i%importBatch == importBatch-1 {
			b.WriteString("COMMIT;\n")
		}
	}
	if kind == "COPY" {
		b.WriteString("\\.\n")
	}
	b.WriteString("ALTER TABLE ONLY imported ADD CONSTRAINT imported_pkey PRIMARY KEY (id);\nCREATE INDEX imported_customer ON imported USING btree (customer);\n")
	return b.String()
}

// queryRows adds the rows of this file.
func queryRows(add func(name string, run func(*bench, string) ([]result, error))) {
	for _, name := range statementOrder {
		add("query-"+name, statements[name].row)
	}
	add("insert-values", insertRow)
	add("import-copy", importRow("COPY"))
	add("import-inserts", importRow("an INSERT a row"))
	add("import-transactions", importRow("INSERTs in transactions"))
}
