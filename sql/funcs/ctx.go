package funcs

import (
	"math/rand/v2"

	"herd/internal/mem"
	"herd/sql/types"
)

// Ctx is what kernels get besides their arguments. It belongs to a session; the session fills it before a statement runs.
type Ctx struct {
	IO *types.IOContext
	// StmtTime and TxTime are the starts of the statement and of the transaction, microseconds since 2000-01-01 UTC.
	StmtTime, TxTime int64
	// Clock returns the present time for clock_timestamp(); nil is the wall clock.
	Clock func() int64
	Env   Env
	// Tables answers about stored rows as the statement sees them; nil outside of a statement.
	Tables Tables
	Acct   *mem.Account
	// Interrupt returns the error of a pending cancel or timeout; may be nil. Long kernels call it.
	Interrupt func() error
	// Rand is the session's generator for random(); nil: the process's. Setseed makes one.
	Rand *rand.Rand

	rows    []*row // free list of row headers, so that nested kernels allocate nothing
	decimal [2][1]int64
}

// Fork returns a copy for another goroutine, for functions that use nothing of the session.
func (c *Ctx) Fork() Ctx {
	f := *c
	f.rows, f.Rand, f.Env, f.Tables = nil, nil, nil, nil
	return f
}

func (c *Ctx) interrupted() error {
	if c.Interrupt == nil {
		return nil
	}
	return c.Interrupt()
}
