package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// servers are the addresses of the two servers, and how to end those that were started.
type servers struct {
	postgres, herd string
	stop           []func() error
}

// start starts the servers that have no address.
func start(ctx context.Context, postgres, herd string) (*servers, error) {
	s := &servers{postgres: postgres, herd: herd}
	if postgres == "" {
		p, err := peer.StartPostgres(ctx, []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_parallel_workers_per_gather=0", "jit=off"})
		if err != nil {
			return nil, err
		}
		s.postgres, s.stop = p.URL, append(s.stop, p.Stop)
	}
	if herd == "" {
		dir, err := os.MkdirTemp("", "herd-differential-")
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.stop = append(s.stop, func() error { return os.RemoveAll(dir) })
		binary, err := peer.Program(ctx, os.Getenv("HERD_BINARY"), dir)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		h, err := (&peer.Herd{Binary: binary, Dir: dir + "/data", Settings: []string{"server.log.sync=never"}}).Start(ctx)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.herd, s.stop = h.URL, append(s.stop, h.Stop)
	}
	return s, nil
}

func (s *servers) close() error {
	var errs []error
	for i := len(s.stop) - 1; i >= 0; i-- {
		errs = append(errs, s.stop[i]())
	}
	return errors.Join(errs...)
}

// database makes a database anew and connects to it; done drops it.
func database(ctx context.Context, server, name string) (c *pgconn.PgConn, done func() error, err error) {
	admin, err := pgconn.Connect(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.Exec(ctx, sql).ReadAll(); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%s: %w", sql, err), admin.Close(ctx))
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, nil, errors.Join(err, admin.Close(ctx))
	}
	u.Path = "/" + name
	q := u.Query()
	q.Set("timezone", "UTC")
	q.Set("statement_timeout", "20000")
	u.RawQuery = q.Encode()
	if c, err = pgconn.Connect(ctx, u.String()); err != nil {
		return nil, nil, errors.Join(err, admin.Close(ctx))
	}
	return c, func() error {
		err := c.Close(ctx)
		_, dropped := admin.Exec(ctx, "DROP DATABASE "+name).ReadAll()
		return errors.Join(err, dropped, admin.Close(ctx))
	}, nil
}
