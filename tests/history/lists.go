package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The lists: by primary key, and again by column g with an index of its own, so that both ways of reading are judged.
const listsSchema = "CREATE TABLE lists (k int PRIMARY KEY, g int NOT NULL, v text NOT NULL, pad text); CREATE INDEX lists_g ON lists (g)"

// listLengthMax is how long a list gets before its number is used no more, and listsOpen how many are in use at a time.
const (
	listLengthMax = 40
	listsOpen     = 6
)

// lists is the list-append load.
type lists struct {
	h     history
	elems atomic.Int64 // elements made
	seed  uint64
	level level
}

// key chooses a list. The lists in use move on as elements are made.
func (l *lists) key(r *rand.Rand) int {
	return int(l.elems.Load()/listLengthMax) + r.IntN(listsOpen)
}

// run is one client: it makes transactions until ctx ends.
func (l *lists) run(ctx context.Context, url string, number int) error {
	c := &client{url: url, level: l.level}
	defer c.close()
	r := rand.New(rand.NewPCG(l.seed, uint64(number)))
	for ctx.Err() == nil {
		if c.connect(ctx) != nil {
			break
		}
		t := &txn{began: time.Now()}
		ended, err := c.transact(ctx, func() error { return l.transaction(ctx, c, r, t) })
		if t.fate = ended; ended == committed {
			t.end = time.Now()
		}
		l.h.add(t)
		if err != nil {
			return fmt.Errorf("lists at %s: %w", l.level, err)
		}
	}
	return nil
}

// transaction makes one to six steps.
func (l *lists) transaction(ctx context.Context, c *client, r *rand.Rand, t *txn) error {
	for range 1 + r.IntN(6) {
		o := op{key: l.key(r), append: r.IntN(2) == 0}
		if o.append {
			o.elem = int(l.elems.Add(1))
			t.ops = append(t.ops, o) // it may be there even if no answer comes
			if _, err := c.exec(ctx, "INSERT INTO lists VALUES ($1, $1, $2::int::text, repeat('x', 300)) "+
				"ON CONFLICT (k) DO UPDATE SET v = lists.v || ' ' || excluded.v", o.key, o.elem); err != nil {
				return err
			}
			continue
		}
		by := "k"
		if r.IntN(2) == 0 {
			by = "g"
		}
		rows, err := c.exec(ctx, "SELECT v FROM lists WHERE "+by+" = $1", o.key)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if o.list, err = parseList(string(rows[0][0])); err != nil {
				return err
			}
		}
		t.ops = append(t.ops, o)
	}
	return nil
}

func parseList(s string) ([]int, error) {
	var out []int
	for _, f := range strings.Fields(s) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", s, err)
		}
		out = append(out, n)
	}
	return out, nil
}

// finish reads the lists at the end and judges the history.
func (l *lists) finish(ctx context.Context, url string) ([]string, string, error) {
	c := &client{url: url}
	defer c.close()
	if err := c.connect(ctx); err != nil {
		return nil, "", err
	}
	rows, err := c.exec(ctx, "SELECT k, v FROM lists")
	if err != nil {
		return nil, "", err
	}
	l.h.final = map[int][]int{}
	for _, row := range rows {
		k, err := strconv.Atoi(string(row[0]))
		if err != nil {
			return nil, "", err
		}
		if l.h.final[k], err = parseList(string(row[1])); err != nil {
			return nil, "", err
		}
	}
	count := map[fate]int{}
	for _, t := range l.h.txns {
		count[t.fate]++
	}
	summary := fmt.Sprintf("lists: %d committed, %d aborted, %d unknown", count[committed], count[aborted], count[unknown])
	return check(&l.h, l.level), summary, nil
}

// clients runs n clients of a load and returns the first error.
func clients(wg *sync.WaitGroup, n int, fail func(error), run func(number int) error) {
	for i := range n {
		wg.Go(func() {
			if err := run(i); err != nil {
				fail(err)
			}
		})
	}
}
