package ycsb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// errNotFound is what an operation on a missing row gives, counted like any other error.
var errNotFound = errors.New("row not found")

// conn is one connection with its prepared statements. Its methods are called by one goroutine at a time; byte slices
// that they are given are not kept. After an error for which broken is true the connection is of no more use.
type conn interface {
	// read fetches all fields of a row and returns their total length.
	read(key []byte) (int, error)
	// readField fetches one field into dst, for the check at the end.
	readField(dst []byte, key []byte, field int) ([]byte, error)
	// scan fetches up to limit rows from key on, in key order, and returns how many came.
	scan(key []byte, limit int) (int, error)
	// update sets one field; it fails with errNotFound when no row changed.
	update(key []byte, field int, value []byte) error
	// insert adds a row.
	insert(key []byte, values [][]byte) error
	// keys calls each with the keys above a key in order, at most limit, and returns how many.
	keys(after []byte, limit int, each func(key []byte)) (int, error)
	broken(err error) bool
	close()
}

// driver makes connections to one server and its table.
type driver interface {
	// open connects and prepares the statements; the table exists.
	open(ctx context.Context) (conn, error)
	// version returns the server's own name and version.
	version(ctx context.Context) (string, error)
	// tableRows counts the table's rows; exists is false when there is no table.
	tableRows(ctx context.Context) (rows int64, exists bool, err error)
	createTable(ctx context.Context) error
	dropTable(ctx context.Context) error
	// settle asks the server to write out what the load left in memory, so that a run does not pay for the load.
	settle(ctx context.Context) error
	// activity opens a way to ask what the server does in the background; end gives it back. The error says that the server cannot tell.
	activity(ctx context.Context) (ask func(context.Context) (activity, error), end func(), err error)
}

// tableName is YCSB's; the columns are YCSB_KEY and FIELD0 and so on.
const tableName = "usertable"

// newDriver picks the driver from the scheme of the address.
func newDriver(address string, fields int) (driver, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", address, err)
	}
	switch u.Scheme {
	case "postgres", "postgresql":
		return &pgDriver{url: address, fields: fields}, nil
	case "mysql", "mariadb":
		return newMySQLDriver(u, fields)
	}
	return nil, fmt.Errorf("server address %q: expected postgres://user@host:port/database or mysql://user@host:port/database", address)
}

// statements are the texts of YCSB's JDBC binding. mark gives the n-th parameter in the dialect.
type statements struct {
	create, read, scan, insert, keys string
	update, readField                []string // by field
}

func newStatements(fields int, mark func(n int) string) statements {
	var create, columns, marks strings.Builder
	fmt.Fprintf(&create, "CREATE TABLE %s (YCSB_KEY VARCHAR(255) PRIMARY KEY", tableName)
	for i := range fields {
		fmt.Fprintf(&create, ", FIELD%d TEXT", i)
		fmt.Fprintf(&columns, ",FIELD%d", i)
		marks.WriteString("," + mark(i+2))
	}
	s := statements{
		create: create.String() + ")",
		read:   fmt.Sprintf("SELECT * FROM %s WHERE YCSB_KEY = %s", tableName, mark(1)),
		scan:   fmt.Sprintf("SELECT * FROM %s WHERE YCSB_KEY >= %s ORDER BY YCSB_KEY LIMIT %s", tableName, mark(1), mark(2)),
		insert: fmt.Sprintf("INSERT INTO %s (YCSB_KEY%s) VALUES (%s%s)", tableName, columns.String(), mark(1), marks.String()),
		keys:   fmt.Sprintf("SELECT YCSB_KEY FROM %s WHERE YCSB_KEY > %s ORDER BY YCSB_KEY LIMIT %s", tableName, mark(1), mark(2)),
	}
	for i := range fields {
		s.update = append(s.update, fmt.Sprintf("UPDATE %s SET FIELD%d = %s WHERE YCSB_KEY = %s", tableName, i, mark(1), mark(2)))
		s.readField = append(s.readField, fmt.Sprintf("SELECT FIELD%d FROM %s WHERE YCSB_KEY = %s", i, tableName, mark(1)))
	}
	return s
}

func dollarMark(n int) string { return "$" + strconv.Itoa(n) }

func questionMark(int) string { return "?" }
