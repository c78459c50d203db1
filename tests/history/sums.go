package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	accountCount   = 8
	accountBalance = 100
	pairCount      = 6
)

const sumsSchema = "CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL); " +
	"INSERT INTO accounts SELECT g, 100 FROM generate_series(0, 7) g; " +
	"CREATE TABLE pairs (p int, side int, duty int NOT NULL, PRIMARY KEY (p, side)); " +
	"INSERT INTO pairs SELECT p, s, 1 FROM generate_series(0, 5) p, generate_series(0, 1) s; " +
	"CREATE TABLE counter (id int PRIMARY KEY, v int NOT NULL); INSERT INTO counter VALUES (1, 0)"

// sums are the loads whose rule is a number: accounts, pairs, counter.
type sums struct {
	seed  uint64
	level level

	transfers, looks, turns     atomic.Int64
	skewed                      atomic.Int64 // pairs seen with nobody on duty
	incremented, maybe, refused atomic.Int64

	mu       sync.Mutex // guards problems
	problems []string
}

func (s *sums) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < problemsMax {
		s.problems = append(s.problems, fmt.Sprintf(format, args...))
	}
}

// run is one client of a load until ctx ends; step makes one transaction.
func (s *sums) run(ctx context.Context, url string, number int, step func(context.Context, *client, *rand.Rand) error) error {
	c := &client{url: url, level: s.level}
	defer c.close()
	r := rand.New(rand.NewPCG(s.seed, uint64(number)))
	for ctx.Err() == nil {
		if c.connect(ctx) != nil {
			break
		}
		if err := step(ctx, c, r); err != nil {
			return fmt.Errorf("at %s: %w", s.level, err)
		}
	}
	return nil
}

// bank moves money, or looks whether it is all there: in one statement, and in one transaction account by account.
func (s *sums) bank(ctx context.Context, c *client, r *rand.Rand) error {
	if r.IntN(3) > 0 {
		from, to, amount := r.IntN(accountCount), r.IntN(accountCount), r.IntN(20)
		f, err := c.transact(ctx, func() error {
			if _, err := c.exec(ctx, "UPDATE accounts SET balance = balance - $2 WHERE id = $1", from, amount); err != nil {
				return err
			}
			_, err := c.exec(ctx, "UPDATE accounts SET balance = balance + $2 WHERE id = $1", to, amount)
			return err
		})
		if f == committed {
			s.transfers.Add(1)
		}
		return err
	}
	total, one := 0, 0
	f, err := c.transact(ctx, func() (err error) {
		if one, err = c.number(ctx, "SELECT sum(balance) FROM accounts"); err != nil {
			return err
		}
		for id := range accountCount {
			n, err := c.number(ctx, "SELECT balance FROM accounts WHERE id = $1", id)
			if err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	if f != committed || err != nil {
		return err
	}
	s.looks.Add(1)
	if one != accountCount*accountBalance {
		s.problem("bank: one statement saw %d in all accounts", one)
	}
	if s.level >= repeatableRead && total != accountCount*accountBalance {
		s.problem("bank: one transaction saw %d in all accounts", total)
	}
	return nil
}

// skew goes off duty when the other one of a pair is on, else on. A snapshot alone lets both go.
func (s *sums) skew(ctx context.Context, c *client, r *rand.Rand) error {
	p, side := r.IntN(pairCount), r.IntN(2)
	nobody := false
	f, err := c.transact(ctx, func() error {
		both, err := c.number(ctx, "SELECT sum(duty) FROM pairs WHERE p = $1", p)
		if err != nil {
			return err
		}
		nobody = both == 0
		duty := 1
		if both == 2 {
			duty = 0
		}
		_, err = c.exec(ctx, "UPDATE pairs SET duty = $3 WHERE p = $1 AND side = $2", p, side, duty)
		return err
	})
	if f == committed {
		s.turns.Add(1)
		if nobody {
			s.skewed.Add(1)
			if s.level == serializable {
				s.problem("write skew: nobody of pair %d is on duty", p)
			}
		}
	}
	return err
}

// count adds one to the counter.
func (s *sums) count(ctx context.Context, c *client, r *rand.Rand) error {
	f, err := c.transact(ctx, func() error {
		_, err := c.exec(ctx, "UPDATE counter SET v = v + 1 WHERE id = 1")
		return err
	})
	switch f {
	case committed:
		s.incremented.Add(1)
	case unknown:
		s.maybe.Add(1)
	default:
		s.refused.Add(1)
		select { // a hundred at once would leave the other loads no room
		case <-ctx.Done():
		case <-time.After(time.Duration(r.IntN(100)) * time.Millisecond):
		}
	}
	return err
}

// finish checks the numbers at the end.
func (s *sums) finish(ctx context.Context, url string) ([]string, string, error) {
	c := &client{url: url}
	defer c.close()
	if err := c.connect(ctx); err != nil {
		return nil, "", err
	}
	money, err1 := c.number(ctx, "SELECT sum(balance) FROM accounts")
	v, err2 := c.number(ctx, "SELECT v FROM counter")
	if err := errors.Join(err1, err2); err != nil {
		return nil, "", err
	}
	if money != accountCount*accountBalance {
		s.problem("bank: %d in all accounts at the end", money)
	}
	if low, high := int(s.incremented.Load()), int(s.incremented.Load()+s.maybe.Load()); v < low || v > high {
		s.problem("counter: %d after %d answered increments and %d without an answer", v, low, high-low)
	}
	return s.problems, fmt.Sprintf("bank: %d transfers, %d looks; pairs: %d turns, %d with nobody on duty; counter: %d (%d unknown, %d refused)",
		s.transfers.Load(), s.looks.Load(), s.turns.Load(), s.skewed.Load(), v, s.maybe.Load(), s.refused.Load()), nil
}

// number runs a query for one number.
func (c *client) number(ctx context.Context, sql string, args ...int) (int, error) {
	rows, err := c.exec(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 {
		return 0, fmt.Errorf("%s: %d rows", sql, len(rows))
	}
	return strconv.Atoi(string(rows[0][0]))
}
