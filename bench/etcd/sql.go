package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herd/tests/peer"
)

// sqlSystem is a server that speaks PostgreSQL's protocol.
type sqlSystem struct {
	url  string
	end  func() error
	used func() (time.Duration, error)
	lean bool // clients write the protocol themselves
}

const makeTable = "create table kv(k bigint primary key, v text not null)"

func startPostgres(ctx context.Context, s *settings) (system, error) {
	p, err := peer.StartPostgres(ctx, []string{"shared_buffers=1GB", "max_connections=300"})
	if err != nil {
		return nil, err
	}
	x := sqlSystem{p.URL, p.Stop, func() (time.Duration, error) { return 0, nil }, s.lean}
	if err := x.prepare(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return x, nil
}

func (x sqlSystem) prepare(ctx context.Context) error {
	c, err := pgx.Connect(ctx, x.url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, makeTable)
	return errors.Join(err, c.Close(ctx))
}

func (x sqlSystem) stop() error { return x.end() }

func (x sqlSystem) cpu() (time.Duration, error) { return x.used() }

func (x sqlSystem) client(ctx context.Context) (client, error) {
	c, err := pgx.Connect(ctx, x.url)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", x.url, err)
	}
	for name, text := range map[string]string{"put": "insert into kv values ($1, $2)", "get": "select v from kv where k = $1"} {
		if _, err := c.Prepare(ctx, name, text); err != nil {
			return nil, errors.Join(err, c.Close(ctx))
		}
	}
	if x.lean {
		return newLeanClient(ctx, c)
	}
	return sqlClient{c}, nil
}

// sqlClient is one connection through the driver; every operation is a transaction. Operations cannot be cancelled: the driver would start a
// goroutine for each one to watch for that, on the processors that the servers need.
type sqlClient struct{ c *pgx.Conn }

func (s sqlClient) put(_ context.Context, key int64, value []byte) error {
	_, err := s.c.Exec(context.Background(), "put", key, string(value))
	return err
}

func (s sqlClient) get(_ context.Context, key int64) error {
	var v string
	return s.c.QueryRow(context.Background(), "get", key).Scan(&v)
}

func (s sqlClient) close() error { return s.c.Close(context.Background()) }
