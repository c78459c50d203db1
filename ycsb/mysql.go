package ycsb

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mysqlDriver talks to MySQL and MariaDB. It drives go-sql-driver's connections itself, without database/sql, whose
// pool and conversions would be the client's cost in every operation.
type mysqlDriver struct {
	connector sqldriver.Connector
	fields    int
}

// newMySQLDriver reads mysql://user:password@host:port/database; ?socket=PATH replaces host and port.
func newMySQLDriver(u *url.URL, fields int) (*mysqlDriver, error) {
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = u.Hostname() + ":3306"
	}
	if socket := u.Query().Get("socket"); socket != "" {
		c.Net, c.Addr = "unix", socket
	}
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.ClientFoundRows = true // an update of a row to what it was is an update
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", u.Redacted(), err)
	}
	return &mysqlDriver{connector: connector, fields: fields}, nil
}

const mysqlNoSuchTable = 1146

func (d *mysqlDriver) connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := d.connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect for workload: %w", err)
	}
	return c, nil
}

// value runs one statement on a connection of its own and returns the first value of the first row, or "".
func (d *mysqlDriver) value(ctx context.Context, sql string) (string, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	rows, err := c.(sqldriver.QueryerContext).QueryContext(ctx, sql, nil)
	if err != nil {
		return "", fmt.Errorf("%s: %w", sql, err)
	}
	defer rows.Close()
	if len(rows.Columns()) == 0 {
		return "", nil
	}
	dest := make([]sqldriver.Value, len(rows.Columns()))
	if err := rows.Next(dest); err == io.EOF {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", sql, err)
	}
	if b, ok := dest[0].([]byte); ok {
		return string(b), nil
	}
	return fmt.Sprint(dest[0]), nil
}

func (d *mysqlDriver) version(ctx context.Context) (string, error) {
	return d.value(ctx, "SELECT version()")
}

func (d *mysqlDriver) tableRows(ctx context.Context) (int64, bool, error) {
	text, err := d.value(ctx, "SELECT count(*) FROM "+tableName)
	var myErr *mysql.MySQLError
	if errors.As(err, &myErr) && myErr.Number == mysqlNoSuchTable {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	rows, err := strconv.ParseInt(text, 10, 64)
	return rows, true, err
}

func (d *mysqlDriver) createTable(ctx context.Context) error {
	// One byte a character for the key, so that it is compared byte by byte as the other servers do.
	sql := newStatements(d.fields, questionMark).create + " CHARACTER SET latin1 COLLATE latin1_bin"
	_, err := d.value(ctx, sql)
	return err
}

func (d *mysqlDriver) dropTable(ctx context.Context) error {
	_, err := d.value(ctx, "DROP TABLE "+tableName)
	return err
}

// activity: there is no portable way to ask.
func (d *mysqlDriver) activity(context.Context) (func(context.Context) (activity, error), func(), error) {
	return nil, nil, errors.New("this protocol has no view of checkpoints")
}

func (d *mysqlDriver) settle(ctx context.Context) error {
	_, err := d.value(ctx, "ANALYZE TABLE "+tableName)
	return err
}

// mysqlPrepared is a connection with YCSB's statements.
type mysqlPrepared struct {
	conn                    sqldriver.Conn
	readStmt, scanStmt      sqldriver.Stmt
	insertStmt, keysStmt    sqldriver.Stmt
	updateStmts, fieldStmts []sqldriver.Stmt
	args, dest              []sqldriver.Value
}

func (d *mysqlDriver) open(ctx context.Context) (conn, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := newStatements(d.fields, questionMark)
	p := &mysqlPrepared{conn: c, args: make([]sqldriver.Value, d.fields+1), dest: make([]sqldriver.Value, d.fields+1)}
	prepare := func(sql string) sqldriver.Stmt {
		if err != nil {
			return nil
		}
		var st sqldriver.Stmt
		if st, err = c.Prepare(sql); err != nil {
			err = fmt.Errorf("prepare %q: %w", sql, err)
		}
		return st
	}
	p.readStmt, p.scanStmt, p.insertStmt, p.keysStmt = prepare(s.read), prepare(s.scan), prepare(s.insert), prepare(s.keys)
	for i := range d.fields {
		p.updateStmts = append(p.updateStmts, prepare(s.update[i]))
		p.fieldStmts = append(p.fieldStmts, prepare(s.readField[i]))
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return p, nil
}

// query runs a prepared SELECT and calls each with every row, valid during the call only.
func (p *mysqlPrepared) query(st sqldriver.Stmt, args []sqldriver.Value, each func(row []sqldriver.Value)) (int, error) {
	rows, err := st.Query(args) //nolint:staticcheck // the context form only wraps this one
	if err != nil {
		return 0, err
	}
	dest, n := p.dest[:len(rows.Columns())], 0
	for {
		err := rows.Next(dest)
		if err == io.EOF {
			return n, rows.Close()
		}
		if err != nil {
			_ = rows.Close()
			return n, err
		}
		n++
		if each != nil {
			each(dest)
		}
	}
}

func (p *mysqlPrepared) exec(st sqldriver.Stmt, args []sqldriver.Value) (int64, error) {
	r, err := st.Exec(args) //nolint:staticcheck // as in query
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (p *mysqlPrepared) read(key []byte) (int, error) {
	p.args[0] = key
	total := 0
	rows, err := p.query(p.readStmt, p.args[:1], func(row []sqldriver.Value) {
		for _, v := range row {
			b, _ := v.([]byte)
			total += len(b)
		}
	})
	if err == nil && rows != 1 {
		err = errNotFound
	}
	return total, err
}

func (p *mysqlPrepared) readField(dst, key []byte, field int) ([]byte, error) {
	p.args[0] = key
	rows, err := p.query(p.fieldStmts[field], p.args[:1], func(row []sqldriver.Value) {
		b, _ := row[0].([]byte)
		dst = append(dst[:0], b...)
	})
	if err == nil && rows != 1 {
		err = errNotFound
	}
	return dst, err
}

func (p *mysqlPrepared) scan(key []byte, limit int) (int, error) {
	p.args[0], p.args[1] = key, int64(limit)
	rows, err := p.query(p.scanStmt, p.args[:2], nil)
	if err == nil && rows == 0 {
		err = errNotFound
	}
	return rows, err
}

func (p *mysqlPrepared) update(key []byte, field int, value []byte) error {
	p.args[0], p.args[1] = value, key
	changed, err := p.exec(p.updateStmts[field], p.args[:2])
	if err == nil && changed != 1 {
		err = errNotFound
	}
	return err
}

func (p *mysqlPrepared) insert(key []byte, values [][]byte) error {
	p.args[0] = key
	for i, v := range values {
		p.args[i+1] = v
	}
	changed, err := p.exec(p.insertStmt, p.args[:len(values)+1])
	if err == nil && changed != 1 {
		err = fmt.Errorf("insert answered %d rows", changed)
	}
	return err
}

func (p *mysqlPrepared) keys(after []byte, limit int, each func([]byte)) (int, error) {
	p.args[0], p.args[1] = after, int64(limit)
	return p.query(p.keysStmt, p.args[:2], func(row []sqldriver.Value) {
		b, _ := row[0].([]byte)
		each(b)
	})
}

// broken tells an error of the connection from an answer of the server.
func (p *mysqlPrepared) broken(err error) bool {
	var myErr *mysql.MySQLError
	return !errors.Is(err, errNotFound) && !errors.As(err, &myErr)
}

func (p *mysqlPrepared) close() { _ = p.conn.Close() }
