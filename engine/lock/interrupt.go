package lock

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"herd/sql/sqlerr"
)

// Cause is a set of reasons to interrupt a session.
type Cause uint32

// The causes.
const (
	// Cancel is a user's cancel request: 57014.
	Cancel Cause = 1 << iota
	// StatementTimeout: 57014.
	StatementTimeout
	// Terminate ends the session: 57P01.
	Terminate
	// IdleInTransaction ends the session: 25P03.
	IdleInTransaction
	// IdleSession ends the session: 57P05.
	IdleSession
	// LockTimeout ends a lock wait: 55P03. Only lock waits look at it.
	LockTimeout
	// deadlockCheck has a lock waiter look for a deadlock.
	deadlockCheck

	causeCount = 7
	// loud are the causes that running statements look at.
	loud = Cancel | StatementTimeout | Terminate | IdleInTransaction | IdleSession
)

var clockStart = time.Now()

// Now returns the monotonic clock that deadlines use, in nanoseconds.
func Now() int64 { return int64(time.Since(clockStart)) }

// Interrupt is a session's word of pending interrupts and its deadlines. Any goroutine may call Set; deadlines belong
// to the session's goroutine.
type Interrupt struct {
	word atomic.Uint32
	next atomic.Int64 // earliest deadline, 0 = none
	wake chan struct{}

	armed Cause // deadlines the session has set; the session's own

	mu        sync.Mutex // makes firing and clearing a deadline exclusive
	deadlines [causeCount]int64
	notify    func(Cause)
}

// NewInterrupt returns an Interrupt without deadlines.
func NewInterrupt() *Interrupt { return &Interrupt{wake: make(chan struct{}, 1)} }

// Set adds causes and wakes the session if it waits for a lock.
func (i *Interrupt) Set(c Cause) {
	i.word.Or(uint32(c))
	i.poke()
	i.mu.Lock()
	f := i.notify
	i.mu.Unlock()
	if f != nil && c&loud != 0 {
		f(c)
	}
}

// poke wakes a sleeper; a token that is there already is enough.
func (i *Interrupt) poke() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// Woken has a token when a cause has come since the session last waited. For waits of the session's goroutine outside this
// package; a token may be old, so the waiter looks at Pending.
func (i *Interrupt) Woken() <-chan struct{} { return i.wake }

// SetNotify has f called, from other goroutines, when a cause arrives that a running statement looks at: the
// connection ends a read that waits for an idle client.
func (i *Interrupt) SetNotify(f func(Cause)) {
	i.mu.Lock()
	i.notify = f
	i.mu.Unlock()
}

// Pending tells whether a running statement should stop and call Err. It costs one load.
func (i *Interrupt) Pending() bool { return i.word.Load()&uint32(loud) != 0 }

// Has tells whether one of the causes is pending.
func (i *Interrupt) Has(c Cause) bool { return i.word.Load()&uint32(c) != 0 }

// Clear removes causes: a cancel that came when no statement ran.
func (i *Interrupt) Clear(c Cause) {
	if i.word.Load()&uint32(c) != 0 {
		i.word.And(^uint32(c))
	}
}

// Err returns the error of the most serious pending cause, or nil. Causes that end a statement are consumed; those
// that end the session stay.
func (i *Interrupt) Err() error {
	w := Cause(i.word.Load())
	switch {
	case w&loud == 0:
		return nil
	case w&Terminate != 0:
		return sqlerr.Fatal(sqlerr.AdminShutdown, "terminating connection due to administrator command")
	case w&IdleInTransaction != 0:
		return sqlerr.Fatal(sqlerr.IdleInTransactionSessionTimeout, "terminating connection due to idle-in-transaction timeout")
	case w&IdleSession != 0:
		return sqlerr.Fatal(sqlerr.IdleSessionTimeout, "terminating connection due to idle-session timeout")
	case w&StatementTimeout != 0:
		i.Clear(StatementTimeout | Cancel)
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
	}
	i.Clear(Cancel)
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
}

// SetDeadline has the causes (one bit) set at a time of Now's clock, accurate to the scanner's tick.
func (i *Interrupt) SetDeadline(c Cause, at int64) {
	i.armed |= c
	i.mu.Lock()
	i.deadlines[bits.TrailingZeros32(uint32(c))] = at
	if n := i.next.Load(); n == 0 || at < n {
		i.next.Store(at)
	}
	i.mu.Unlock()
}

// ClearDeadline forgets the deadlines of c, and the causes if they fired meanwhile.
func (i *Interrupt) ClearDeadline(c Cause) {
	c &= i.armed
	if c == 0 {
		return
	}
	i.armed &^= c
	i.mu.Lock()
	for b := range causeCount {
		if c&(1<<b) != 0 {
			i.deadlines[b] = 0
		}
	}
	i.Clear(c)
	i.mu.Unlock()
}

// Cancel requests the end of the running statement: 57014. Any goroutine may call it.
func (i *Interrupt) Cancel() { i.Set(Cancel) }

// Terminate requests the end of the session: 57P01. Any goroutine may call it.
func (i *Interrupt) Terminate() { i.Set(Terminate) }

// Reset forgets what concerned an earlier statement: a cancel that came too late.
func (i *Interrupt) Reset() { i.Clear(Cancel | StatementTimeout) }

// SetStatementDeadline starts statement_timeout for the statement that begins now; 0 ends it.
func (i *Interrupt) SetStatementDeadline(d time.Duration) {
	if d <= 0 {
		i.ClearDeadline(StatementTimeout)
		return
	}
	i.SetDeadline(StatementTimeout, Now()+int64(d))
}

// SetIdle starts idle_in_transaction_session_timeout or idle_session_timeout while the session waits for its client; 0
// sets none.
func (i *Interrupt) SetIdle(d time.Duration, inTransaction bool) {
	if d <= 0 {
		return
	}
	if inTransaction {
		i.SetDeadline(IdleInTransaction, Now()+int64(d))
		return
	}
	i.SetDeadline(IdleSession, Now()+int64(d))
}

// ClearIdle ends SetIdle: the client spoke.
func (i *Interrupt) ClearIdle() { i.ClearDeadline(IdleInTransaction | IdleSession) }

// Sleep waits for ms milliseconds (pg_sleep) and returns early with the error of an interrupt.
func (i *Interrupt) Sleep(ms int) error {
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	for {
		if i.Pending() {
			return i.Err()
		}
		select {
		case <-t.C:
			return i.pendingErr()
		case <-i.wake:
		}
	}
}

func (i *Interrupt) pendingErr() error {
	if i.Pending() {
		return i.Err()
	}
	return nil
}

// fire sets what is due. The scanner calls it.
func (i *Interrupt) fire(now int64) {
	i.mu.Lock()
	var due Cause
	next := int64(0)
	for b := range causeCount {
		switch at := i.deadlines[b]; {
		case at == 0:
		case at <= now:
			due |= 1 << b
			i.deadlines[b] = 0
		case next == 0 || at < next:
			next = at
		}
	}
	i.next.Store(next)
	i.word.Or(uint32(due))
	f := i.notify
	i.mu.Unlock()
	if due == 0 {
		return
	}
	i.poke()
	if f != nil && due&loud != 0 {
		f(due)
	}
}

// Tick is the period of the scanner.
const Tick = 5 * time.Millisecond

// Scanner fires the deadlines of all sessions. Use NewScanner.
type Scanner struct {
	mu   sync.Mutex
	list []*Interrupt
	at   map[*Interrupt]int
	stop chan struct{}
	done sync.WaitGroup
}

// NewScanner starts the goroutine; Close ends it.
func NewScanner() *Scanner {
	s := &Scanner{at: map[*Interrupt]int{}, stop: make(chan struct{})}
	s.done.Add(1)
	go s.run()
	return s
}

// Add has i's deadlines watched.
func (s *Scanner) Add(i *Interrupt) {
	s.mu.Lock()
	s.at[i] = len(s.list)
	s.list = append(s.list, i)
	s.mu.Unlock()
}

// Remove ends it.
func (s *Scanner) Remove(i *Interrupt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.at[i]
	if !ok {
		return
	}
	last := len(s.list) - 1
	s.list[k] = s.list[last]
	s.at[s.list[k]] = k
	s.list[last] = nil
	s.list = s.list[:last]
	delete(s.at, i)
}

func (s *Scanner) run() {
	defer s.done.Done()
	t := time.NewTicker(Tick)
	defer t.Stop()
	var due []*Interrupt
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
		}
		now := Now()
		due = due[:0]
		s.mu.Lock()
		for _, i := range s.list {
			if n := i.next.Load(); n != 0 && n <= now {
				due = append(due, i)
			}
		}
		s.mu.Unlock()
		for _, i := range due {
			i.fire(now)
		}
	}
}

// Close stops the scanner.
func (s *Scanner) Close() {
	close(s.stop)
	s.done.Wait()
}
