package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5/pgconn"
)

// client is one connection of one round.
type client struct {
	conn   *pgconn.PgConn
	random *rand.Rand
	model  *model
	prefix string // of the keys that are its own, the same in all rounds
	round  int
	count  int
}

// work is one kind of work; it makes one transaction. An error that is no SQL error ends the client.
type work func(ctx context.Context, c *client) error

// runClient works until the connection ends.
func runClient(ctx context.Context, url string, m *model, number, round int, seed uint64, w work) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		if ctx.Err() == nil {
			m.fail(fmt.Errorf("client %d of round %d: %w", number, round, err))
		}
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	c := &client{conn: conn, random: rand.New(rand.NewPCG(seed, uint64(round)<<8|uint64(number))), model: m,
		prefix: fmt.Sprintf("c%d-", number), round: round}
	for ; ; c.count++ {
		if err := w(ctx, c); err != nil {
			if !conn.IsClosed() && ctx.Err() == nil {
				m.fail(fmt.Errorf("client %d of round %d: %w", number, round, err))
			}
			return
		}
	}
}

// exec runs statements.
func (c *client) exec(ctx context.Context, sql string, args ...string) error {
	_, err := c.query(ctx, sql, args...)
	return err
}

// query runs one statement with arguments, or several without.
func (c *client) query(ctx context.Context, sql string, args ...string) ([][][]byte, error) {
	if len(args) == 0 {
		results, err := c.conn.Exec(ctx, sql).ReadAll()
		if err != nil || len(results) == 0 {
			return nil, wrap(sql, err)
		}
		return results[len(results)-1].Rows, nil
	}
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	r := c.conn.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	return r.Rows, wrap(sql, r.Err)
}

func wrap(sql string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%.80s: %w", sql, err)
}

// passing are SQLSTATEs that a client has to live with: the transaction has not happened and may be tried again.
var passing = map[string]bool{"40001": true, "40P01": true, "53200": true}

// settle ends a change by its error: acknowledged, refused, or open. It returns what ends the client.
func (c *client) settle(ctx context.Context, table, key string, end func(bool), err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		end(true)
		return nil
	case errors.As(err, &pg) && passing[pg.Code] && !c.conn.IsClosed():
		if c.conn.TxStatus() != 'I' {
			if err := c.exec(ctx, "ROLLBACK"); err != nil {
				return err
			}
		}
		c.model.undone(table, key)
		return nil
	}
	end(false)
	return err
}

// pick chooses one of a client's keys, "" when there is none.
func (c *client) pick(table string) (key string, all int) {
	keys := c.model.keys(table, c.prefix)
	if len(keys) == 0 {
		return "", 0
	}
	return keys[c.random.IntN(len(keys))], len(keys)
}

// fresh returns a key that was never used.
func (c *client) fresh() string { return fmt.Sprintf("%sr%d-%d", c.prefix, c.round, c.count) }
