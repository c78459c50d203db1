package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load measures one system. Keys are numbers; those below next have been put.
type load struct {
	system   system
	value    int
	duration time.Duration
	next     atomic.Int64
	done     atomic.Int64 // operations of the measurement, those of the warm-up too
}

// figure is the result of one measurement.
type figure struct {
	rate     float64
	p50, p99 time.Duration
	cpu      time.Duration // of the servers, an operation
}

// String implements fmt.Stringer.
func (f figure) String() string {
	return fmt.Sprintf("%.0f/s, p50 %v, p99 %v, processor time an operation %v", f.rate, f.p50, f.p99, f.cpu)
}

// warmUp is not counted.
const warmUp = time.Second

// measure runs clients for a while.
func (l *load) measure(ctx context.Context, work string, clients int) (figure, error) {
	var all []client
	defer func() {
		for _, c := range all {
			_ = c.close() // the measurement is over
		}
	}()
	for range clients {
		c, err := l.system.client(ctx)
		if err != nil {
			return figure{}, err
		}
		all = append(all, c)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now().Add(warmUp)
	took := make([][]time.Duration, clients)
	errs := make([]error, clients)
	used, err := l.system.cpu()
	if err != nil {
		return figure{}, err
	}
	l.done.Store(0)
	var wait sync.WaitGroup
	for i, c := range all {
		wait.Go(func() {
			if took[i], errs[i] = l.run(ctx, c, work, began); errs[i] != nil {
				cancel() // the others need not go on
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return figure{}, err
	}
	total := slices.Concat(took...)
	if len(total) == 0 {
		return figure{}, errors.New("no operation has ended")
	}
	now, err := l.system.cpu()
	if err != nil {
		return figure{}, err
	}
	slices.Sort(total)
	at := func(q float64) time.Duration { return total[int(q*float64(len(total)-1))].Round(time.Microsecond) }
	each := ((now - used) / time.Duration(l.done.Load())).Round(100 * time.Nanosecond)
	return figure{float64(len(total)) / l.duration.Seconds(), at(0.5), at(0.99), each}, nil
}

// run is one client: it returns how long each operation took that ended in the time that counts.
func (l *load) run(ctx context.Context, c client, work string, began time.Time) ([]time.Duration, error) {
	value := make([]byte, l.value)
	var took []time.Duration
	for end := began.Add(l.duration); ; {
		for i := range value { // printable, and not always the same
			value[i] = byte('a' + rand.IntN(26))
		}
		key := l.next.Load()
		start := time.Now()
		var err error
		if work == "put" {
			err = c.put(ctx, l.next.Add(1)-1, value)
		} else {
			err = c.get(ctx, rand.Int64N(max(key, 1)))
		}
		now := time.Now()
		l.done.Add(1)
		switch {
		case err != nil:
			return nil, err
		case now.After(end):
			return took, nil
		case now.After(began):
			took = append(took, now.Sub(start))
		}
	}
}
