package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"herd/tests/peer"
)

// rowBytes is about what a row of the table takes.
const rowBytes = 1024

// bench runs the phases on one table: id bigint primary key, grp int, v text.
type bench struct {
	o           options
	h           *peer.Herd
	s           *server
	metricsPort int
	rows        int64
	results     []result
}

// phase is one line of the table; it returns the number of its operations and a remark.
type phase struct {
	name, what string
	run        func(ctx context.Context) (ops int64, note string, err error)
}

func (b *bench) all(ctx context.Context) (failed error) {
	hot := max(b.rows/200, 1)
	for _, p := range []phase{
		{"load", "COPY", b.load},
		{"insert", "1000 rows each, keys at random", b.insert},
		{"read uniform", "by primary key", b.points(readRow, b.uniform)},
		{"read from the disk", "the same, nothing in the page cache", b.readFromDisk},
		{"read zipfian", "by primary key", b.points(readRow, b.zipfian)},
		{"update uniform", "by primary key", b.points(updateRow, b.uniform)},
		{"update zipfian", "by primary key", b.points(updateRow, b.zipfian)},
		{"range", "100 rows", b.points(rangeRows, b.uniform)},
		{"hot before", "by primary key, 0.5 % of the rows", b.points(readRow, within(hot))},
		{"hot beside a full scan", "by primary key, 0.5 % of the rows", b.besideScan(hot)},
		{"hot after", "by primary key, 0.5 % of the rows", b.points(readRow, within(hot))},
		{"full scan", "count, sum", b.query("SELECT count(*), sum(length(v)) FROM t")},
		{"CREATE INDEX", "(grp)", b.query("CREATE INDEX t_grp ON t (grp)")},
		{"read by index", "(grp), the row looked up", b.points(readByIndex, b.uniform)},
		{"sort", "whole rows", b.query("SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY v) FROM t) s")},
		{"hash join", "with itself", b.query("SELECT count(*) FROM t a JOIN t b ON a.grp = b.id")},
		{"long reader", "updates beside an old snapshot", b.longReader},
		{"restart", "to the first answer after a clean stop", b.restart},
		{"replay", "to the first answer after a kill", b.replay},
	} {
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		if p.name != "load" && len(b.o.only) > 0 && !slices.Contains(b.o.only, p.name) {
			continue
		}
		r := b.measure(ctx, p)
		fmt.Println(r.row())
		b.results = append(b.results, r)
		if r.err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, r.err))
		}
	}
	return failed
}

func (b *bench) measure(ctx context.Context, p phase) result {
	r := result{name: p.name, what: p.what}
	before, err := b.s.counters()
	if err != nil {
		r.err = err
		return r
	}
	b.s.rss.take()
	pid := b.s.Pid
	cpu, cpuErr := peer.ProcessorTime(pid)
	begin := time.Now()
	r.ops, r.note, r.err = p.run(ctx)
	r.took = time.Since(begin)
	r.rss = b.s.rss.take()
	if used, err := peer.ProcessorTime(pid); errors.Join(cpuErr, err) == nil && b.s.Pid == pid {
		r.cpu = used - cpu
	}
	if after, err := b.s.counters(); err == nil {
		const loads = "herd_page_reads_total"
		if r.reads = int64(after[loads] - before[loads]); r.reads < 0 { // another process
			r.reads = int64(after[loads])
		}
	}
	return r
}

func (b *bench) connect(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, b.s.URL) }

// query runs one statement.
func (b *bench) query(sql string) func(context.Context) (int64, string, error) {
	return func(ctx context.Context) (int64, string, error) {
		c, err := b.connect(ctx)
		if err != nil {
			return 0, "", err
		}
		defer c.Close(ctx)
		_, err = c.Exec(ctx, sql)
		return b.rows, "", err
	}
}

// load fills the table by COPY, in parts of at most 100,000 rows.
func (b *bench) load(ctx context.Context) (int64, string, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return 0, "", err
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE TABLE t (id bigint PRIMARY KEY, grp int NOT NULL, v text NOT NULL)"); err != nil {
		return 0, "", err
	}
	const part = 100_000
	for from := int64(0); from < b.rows; from += part {
		if _, err := c.PgConn().CopyFrom(ctx, &rowReader{next: from, end: min(from+part, b.rows), of: b.rows}, "COPY t FROM STDIN"); err != nil {
			return from, "", err
		}
	}
	return b.rows, "", nil
}

// rowReader makes the text of rows. The key of every row is even: insert takes odd ones.
type rowReader struct {
	next, end, of int64
	buf           []byte
}

func (r *rowReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.buf) == 0 {
			if r.next == r.end {
				if n == 0 {
					return 0, io.EOF
				}
				return n, nil
			}
			r.buf = fmt.Appendf(r.buf, "%d\t%d\t%s\n", 2*r.next, 2*rand.Int64N(r.of), value())
			r.next++
		}
		m := copy(p[n:], r.buf)
		r.buf = r.buf[m:]
		n += m
	}
	return n, nil
}

var filler = strings.Repeat("data larger than memory ", rowBytes/24)

// value is a text that begins at random, so that sorting by it moves the rows.
func value() string { return fmt.Sprintf("%016x", rand.Uint64()) + filler[:rowBytes-64] }

// insert adds 2 % of rows between those that are there.
func (b *bench) insert(ctx context.Context) (int64, string, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return 0, "", err
	}
	defer c.Close(ctx)
	const batch = 1000
	n := max(b.rows/50/batch, 1)
	for range n {
		_, err := c.Exec(ctx, "INSERT INTO t SELECT 2*floor(random()*$1::float8)::bigint+1, i, $2::text FROM generate_series(1, $3::int) i ON CONFLICT DO NOTHING",
			float64(b.rows), value(), batch)
		if err != nil {
			return 0, "", err
		}
	}
	return n * batch, "", nil
}

// operation is what a client of a point phase repeats.
type operation func(ctx context.Context, c *pgx.Conn, id int64) error

func readRow(ctx context.Context, c *pgx.Conn, id int64) error {
	var v string
	return c.QueryRow(ctx, "SELECT v FROM t WHERE id = $1", id).Scan(&v)
}

func readByIndex(ctx context.Context, c *pgx.Conn, id int64) error {
	var n int64
	return c.QueryRow(ctx, "SELECT coalesce(sum(length(v)), 0) FROM t WHERE grp = $1", id).Scan(&n)
}

func updateRow(ctx context.Context, c *pgx.Conn, id int64) error {
	tag, err := c.Exec(ctx, "UPDATE t SET v = $2 WHERE id = $1", id, value())
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("update of row %d changed %d rows", id, tag.RowsAffected())
	}
	return err
}

func rangeRows(ctx context.Context, c *pgx.Conn, id int64) error {
	var n int64
	return c.QueryRow(ctx, "SELECT sum(length(v)) FROM t WHERE id BETWEEN $1::bigint AND $1::bigint + 198", id).Scan(&n)
}

func (b *bench) uniform(r *rand.Rand) int64 { return 2 * r.Int64N(b.rows) }

// zipfian draws keys whose popularity falls as a power of their rank; the popular ones lie all over the table.
func (b *bench) zipfian(r *rand.Rand) int64 {
	z := rand.NewZipf(r, 1.1, 1, uint64(b.rows-1))
	return 2 * int64(z.Uint64()*2654435761%uint64(b.rows))
}

// within draws from the first rows.
func within(hot int64) func(r *rand.Rand) int64 {
	return func(r *rand.Rand) int64 { return 2 * r.Int64N(hot) }
}

// points repeats an operation on all clients for the time of a phase.
func (b *bench) points(op operation, pick func(*rand.Rand) int64) func(context.Context) (int64, string, error) {
	return func(ctx context.Context) (int64, string, error) {
		return b.repeat(ctx, op, pick, time.After(b.o.time))
	}
}

// repeat is points until the channel gives something or is closed.
func (b *bench) repeat(ctx context.Context, op operation, pick func(*rand.Rand) int64, until <-chan time.Time) (int64, string, error) {
	var ops, worst atomic.Int64
	var over atomic.Bool
	errs := make([]error, b.o.clients)
	var clients sync.WaitGroup
	for i := range b.o.clients {
		clients.Go(func() {
			c, err := b.connect(ctx)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close(ctx)
			r := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))
			for !over.Load() && errs[i] == nil {
				begin := time.Now()
				errs[i] = op(ctx, c, pick(r))
				ops.Add(1)
				took := int64(time.Since(begin))
				for w := worst.Load(); took > w && !worst.CompareAndSwap(w, took); w = worst.Load() {
				}
			}
		})
	}
	select {
	case <-until:
	case <-ctx.Done():
	}
	over.Store(true)
	clients.Wait()
	return ops.Load(), fmt.Sprintf("slowest %.0f ms", float64(worst.Load())/1e6), errors.Join(errs...)
}

// besideScan reads hot rows while the whole table is scanned.
func (b *bench) besideScan(hot int64) func(context.Context) (int64, string, error) {
	return func(ctx context.Context) (ops int64, note string, err error) {
		done := make(chan time.Time)
		var failed error
		go func() {
			defer close(done)
			_, _, failed = b.query("SELECT count(*), sum(length(v)) FROM t")(ctx)
		}()
		ops, note, err = b.repeat(ctx, readRow, within(hot), done)
		<-done
		return ops, note + "; blocks read are the scan's too", errors.Join(err, failed)
	}
}

// longReader updates rows while a transaction keeps an old snapshot, which must see its state to the end.
func (b *bench) longReader(ctx context.Context) (int64, string, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return 0, "", err
	}
	defer c.Close(ctx)
	const sum = "SELECT sum(hashtext(v)) FROM t WHERE id < 20000"
	var before, after string
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return 0, "", err
	}
	defer tx.Rollback(ctx)
	if err := tx.QueryRow(ctx, sum+" ").Scan(&before); err != nil {
		return 0, "", err
	}
	first, err := b.s.counters()
	if err != nil {
		return 0, "", err
	}
	ops, note, err := b.repeat(ctx, updateRow, within(max(b.rows/20, 1)), time.After(b.o.time))
	if err != nil {
		return ops, note, err
	}
	if err := tx.QueryRow(ctx, sum).Scan(&after); err != nil {
		return ops, note, err
	}
	if before != after {
		return ops, note, fmt.Errorf("the snapshot changed: sum %s became %s", before, after)
	}
	last, err := b.s.counters()
	const checkpoints = "herd_checkpoints_total"
	return ops, fmt.Sprintf("%s; %.0f checkpoints meanwhile", note, last[checkpoints]-first[checkpoints]), err
}

// again starts the server and returns the time to the first answer.
func (b *bench) again(ctx context.Context) (string, error) {
	begin := time.Now()
	s, err := startServer(ctx, b.h, b.metricsPort, b.s.rss)
	if err != nil {
		return "", err
	}
	b.s = s
	up := time.Since(begin)
	if _, _, err := b.query("SELECT v FROM t WHERE id = 0")(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("listens after %.2f s, answers after %.2f s", up.Seconds(), time.Since(begin).Seconds()), nil
}

func (b *bench) restart(ctx context.Context) (int64, string, error) {
	begin := time.Now()
	if err := b.s.Shutdown(); err != nil {
		return 0, "", err
	}
	stop := time.Since(begin)
	if err := b.dropCache(); err != nil {
		return 0, "", err
	}
	note, err := b.again(ctx)
	return 0, fmt.Sprintf("%s, nothing in the page cache; stopped in %.2f s", note, stop.Seconds()), err
}

// replay updates rows, kills the server and starts it again.
func (b *bench) replay(ctx context.Context) (int64, string, error) {
	ops, _, err := b.repeat(ctx, updateRow, b.uniform, time.After(b.o.time))
	if err != nil {
		return ops, "", err
	}
	m, err := b.s.counters()
	if err != nil {
		return ops, "", err
	}
	if err := b.s.Kill(); err != nil {
		return ops, "", err
	}
	note, err := b.again(ctx)
	return 0, fmt.Sprintf("%.0f MiB of log kept; %s", m["herd_log_kept_bytes"]/(1<<20), note), err
}
