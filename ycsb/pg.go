package ycsb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgDriver talks to PostgreSQL and herd.
type pgDriver struct {
	url    string
	fields int
}

// sqlstate of "relation does not exist".
const undefinedTable = "42P01"

func (d *pgDriver) connect(ctx context.Context) (*pgconn.PgConn, error) {
	c, err := pgconn.Connect(ctx, d.url)
	if err != nil {
		return nil, fmt.Errorf("connect for workload: %w", err)
	}
	return c, nil
}

// value runs one statement on a connection of its own and returns the first value of the first row, or "".
func (d *pgDriver) value(ctx context.Context, sql string) (string, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close(ctx)
	results, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", fmt.Errorf("%s: %w", sql, err)
	}
	if len(results) == 0 || len(results[0].Rows) == 0 {
		return "", nil
	}
	return string(results[0].Rows[0][0]), nil
}

func (d *pgDriver) version(ctx context.Context) (string, error) {
	return d.value(ctx, "SELECT version()")
}

func (d *pgDriver) tableRows(ctx context.Context) (int64, bool, error) {
	text, err := d.value(ctx, "SELECT count(*) FROM "+tableName)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == undefinedTable {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	rows, err := strconv.ParseInt(text, 10, 64)
	return rows, true, err
}

func (d *pgDriver) createTable(ctx context.Context) error {
	_, err := d.value(ctx, newStatements(d.fields, dollarMark).create)
	return err
}

func (d *pgDriver) dropTable(ctx context.Context) error {
	_, err := d.value(ctx, "DROP TABLE "+tableName)
	return err
}

// settle vacuums, so that PostgreSQL's planner knows the table, and checkpoints.
func (d *pgDriver) settle(ctx context.Context) error {
	for _, sql := range []string{"VACUUM ANALYZE " + tableName, "CHECKPOINT"} {
		if _, err := d.value(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// activitySQL works in PostgreSQL 15 and herd.
const activitySQL = "SELECT (SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter), (SELECT count(*) FROM pg_stat_progress_create_index)"

func (d *pgDriver) activity(ctx context.Context) (func(context.Context) (activity, error), func(), error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	ask := func(ctx context.Context) (a activity, err error) {
		results, err := c.Exec(ctx, activitySQL).ReadAll()
		if err != nil {
			return a, fmt.Errorf("ask for checkpoints: %w", err)
		}
		row := results[0].Rows[0]
		if a.checkpoints, err = strconv.ParseInt(string(row[0]), 10, 64); err == nil {
			a.builds, err = strconv.ParseInt(string(row[1]), 10, 64)
		}
		return a, err
	}
	return ask, func() { c.Close(ctx) }, nil
}

// pgPrepared is a connection with YCSB's statements.
type pgPrepared struct {
	fast  *pgFast
	limit []byte // scratch for a number as text
}

func (d *pgDriver) open(ctx context.Context) (conn, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := newStatements(d.fields, dollarMark)
	all := map[string]string{"r": s.read, "s": s.scan, "i": s.insert, "k": s.keys}
	for i := range d.fields {
		all["u"+strconv.Itoa(i)] = s.update[i]
		all["f"+strconv.Itoa(i)] = s.readField[i]
	}
	for name, sql := range all {
		if _, err := c.Prepare(ctx, name, sql, nil); err != nil {
			c.Close(ctx)
			return nil, fmt.Errorf("prepare %q: %w", sql, err)
		}
	}
	fast, err := hijack(c)
	if err != nil {
		return nil, err
	}
	return &pgPrepared{fast: fast}, nil
}

func (p *pgPrepared) read(key []byte) (int, error) {
	p.fast.bind("r", 1)
	p.fast.param(key)
	total := 0
	rows, _, err := p.fast.run(func(row []byte) { total += len(row) })
	if err == nil && rows != 1 {
		err = errNotFound
	}
	return total, err
}

func (p *pgPrepared) readField(dst, key []byte, field int) ([]byte, error) {
	p.fast.bindNumbered('f', field, 1)
	p.fast.param(key)
	rows, _, err := p.fast.run(func(row []byte) { dst = append(dst[:0], firstColumn(row)...) })
	if err == nil && rows != 1 {
		err = errNotFound
	}
	return dst, err
}

func (p *pgPrepared) scan(key []byte, limit int) (int, error) {
	p.fast.bind("s", 2)
	p.fast.param(key)
	p.limit = strconv.AppendInt(p.limit[:0], int64(limit), 10)
	p.fast.param(p.limit)
	rows, _, err := p.fast.run(nil)
	if err == nil && rows == 0 {
		err = errNotFound // the start key itself is there
	}
	return rows, err
}

func (p *pgPrepared) update(key []byte, field int, value []byte) error {
	p.fast.bindNumbered('u', field, 2)
	p.fast.param(value)
	p.fast.param(key)
	_, changed, err := p.fast.run(nil)
	if err == nil && changed != 1 {
		err = errNotFound
	}
	return err
}

func (p *pgPrepared) insert(key []byte, values [][]byte) error {
	p.fast.bind("i", 1+len(values))
	p.fast.param(key)
	for _, v := range values {
		p.fast.param(v)
	}
	_, changed, err := p.fast.run(nil)
	if err == nil && changed != 1 {
		err = fmt.Errorf("insert answered %d rows", changed)
	}
	return err
}

func (p *pgPrepared) keys(after []byte, limit int, each func([]byte)) (int, error) {
	p.fast.bind("k", 2)
	p.fast.param(after)
	p.limit = strconv.AppendInt(p.limit[:0], int64(limit), 10)
	p.fast.param(p.limit)
	rows, _, err := p.fast.run(func(row []byte) { each(firstColumn(row)) })
	return rows, err
}

// broken tells an error of the connection from an answer of the server.
func (p *pgPrepared) broken(err error) bool {
	var pgErr *pgconn.PgError
	if errors.Is(err, errNotFound) {
		return false
	}
	return !errors.As(err, &pgErr) || pgErr.Severity == "FATAL" || pgErr.Severity == "PANIC"
}

func (p *pgPrepared) close() { p.fast.close() }
