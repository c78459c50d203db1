package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// client is one connection that comes back after the server was killed.
type client struct {
	url   string
	level level
	conn  *pgconn.PgConn
}

// errEnded says that a statement did not get its answer: the server is gone, or the load is over.
var errEnded = errors.New("connection ended")

// connect waits for the server; it fails when ctx ends.
func (c *client) connect(ctx context.Context) error {
	for c.conn == nil || c.conn.IsClosed() {
		conn, err := pgconn.Connect(ctx, c.url)
		if err == nil {
			c.conn = conn
			return nil
		}
		select {
		case <-ctx.Done():
			return errEnded
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.conn.Close(ctx) // the server may be gone
	}
}

// exec runs a statement and returns its rows. The error is errEnded or the server's.
func (c *client) exec(ctx context.Context, sql string, args ...int) ([][][]byte, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(strconv.Itoa(a))
	}
	r := c.conn.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	if r.Err == nil {
		return r.Rows, nil
	}
	var e *pgconn.PgError
	if errors.As(r.Err, &e) && !c.conn.IsClosed() {
		return nil, fmt.Errorf("%s: %w", sql, r.Err)
	}
	return nil, errEnded
}

// transact runs body in a transaction at the client's level and says how it ended. Any error of the server's that is not one of
// those that ask for a retry is returned.
func (c *client) transact(ctx context.Context, body func() error) (fate, error) {
	_, err := c.exec(ctx, "BEGIN ISOLATION LEVEL "+c.level.String())
	if err == nil {
		err = body()
	}
	if err == nil {
		switch _, err = c.exec(ctx, "COMMIT"); {
		case err == nil:
			return committed, nil
		case errors.Is(err, errEnded):
			return unknown, nil
		}
	}
	if errors.Is(err, errEnded) {
		return aborted, nil // COMMIT was never sent
	}
	if !retryable(err) {
		return aborted, err
	}
	if _, err := c.exec(ctx, "ROLLBACK"); err != nil && !errors.Is(err, errEnded) {
		return aborted, err
	}
	return aborted, nil
}

// retryable tells whether a new attempt is the client's to make: a serialization failure, a deadlock, a server that goes.
func retryable(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "40001", "40P01", "57P01", "57P03":
		return true
	}
	return false
}
