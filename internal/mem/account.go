package mem

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Step is the granularity, in bytes, in which an account asks its parent. One that holds little, up to smallMax, asks in smallStep:
// hundreds of idle sessions must not reserve a step each.
const (
	Step      = 64 << 10
	smallStep = 4 << 10
	smallMax  = 48 << 10 // an idle session's buffers and 16 KiB: with less, each of 200 sessions reserved 60 KiB that it did not use
)

// ErrLimit is returned by Grow when an account on the way to the root has a limit that the request would exceed.
// Nothing is granted then. The SQL layers report it as 53200 (out of memory).
var ErrLimit = errors.New("memory limit exceeded")

// Account counts the bytes one holder uses. The zero value is not usable: see NewRoot and Child.
type Account struct {
	name    string
	parent  *Account
	limit   atomic.Int64 // bytes, 0 = none
	used    atomic.Int64 // bytes in use by the holder (for a parent: granted to children and to itself)
	granted atomic.Int64 // bytes obtained from the parent, >= used except inside Grow
	peak    atomic.Int64 // highest used seen at a slow path

	uses *Uses // shared by all below a child of the root; nil: the root
	use  Use   // what all of this account is for; UseOther: as noted

	mu      sync.Mutex // guards changes of granted against each other
	closed  bool       // under mu
	reclaim atomic.Pointer[func(need int64) bool]
}

// NewRoot returns the account of a process that may hold limit bytes; 0 means no limit.
func NewRoot(limit int64) *Account {
	a := &Account{name: "process"}
	a.limit.Store(limit)
	return a
}

// Child returns a new account below a. The caller closes it.
func (a *Account) Child(name string) *Account {
	c := &Account{name: name, parent: a, uses: a.uses, use: a.use}
	if a.parent == nil {
		c.uses = new(Uses)
	}
	return c
}

// Name returns the name given to Child.
func (a *Account) Name() string { return a.name }

// SetLimit sets the most bytes this account and everything below it may hold; 0 means no limit of its own. What is
// already granted stays.
func (a *Account) SetLimit(limit int64) { a.limit.Store(limit) }

// Limit returns the account's own limit in bytes, 0 when there is none.
func (a *Account) Limit() int64 { return a.limit.Load() }

// SetReclaim installs the function that is asked to free need bytes before an account with a limit refuses. It
// returns true when it freed something; the request is then tried again. The engine's eviction uses it.
func (a *Account) SetReclaim(f func(need int64) bool) { a.reclaim.Store(&f) }

// Used returns the bytes in use.
func (a *Account) Used() int64 { return a.used.Load() }

// Peak returns the highest use in bytes noticed so far, exact to one Step.
func (a *Account) Peak() int64 { return max(a.peak.Load(), a.used.Load()) }

// Grow asks for n more bytes, n >= 0, before they are allocated. It returns nil or ErrLimit.
func (a *Account) Grow(n int64) error {
	u := a.used.Add(n)
	if u <= a.granted.Load() {
		return nil
	}
	return a.growSlow(n, u)
}

// growSlow obtains the missing grant from the parent, or takes n back and refuses.
func (a *Account) growSlow(n, u int64) error {
	for tries := 0; ; tries++ {
		limit := a.limit.Load()
		if limit == 0 || u <= limit {
			break
		}
		f := a.reclaim.Load()
		if tries >= 2 || f == nil || !(*f)(u-limit) {
			a.used.Add(-n)
			return ErrLimit
		}
		u = a.used.Load()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.peak.Load(); u > p {
		a.peak.Store(u)
	}
	missing := a.used.Load() - a.granted.Load()
	if missing <= 0 {
		return nil
	}
	if a.parent == nil {
		a.granted.Add(missing)
		return nil
	}
	step := int64(Step)
	if a.granted.Load()+missing <= smallMax {
		step = smallStep
	}
	granted := roundUp(missing, step)
	err := a.parent.Grow(granted)
	if err != nil && step > smallStep { // near the limit what is needed may still be there
		granted = roundUp(missing, smallStep)
		err = a.parent.Grow(granted)
	}
	if err != nil {
		a.used.Add(-n)
		return err
	}
	a.granted.Add(granted)
	return nil
}

func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }

// Force adds n bytes without asking: for memory that is held already and must be on the books whatever the limit
// says (connection state, DELETE over a full budget). It never fails.
func (a *Account) Force(n int64) {
	for p := a; p != nil; p = p.parent {
		p.used.Add(n)
		p.granted.Add(n)
	}
}

// Shrink gives n bytes back.
func (a *Account) Shrink(n int64) {
	u := a.used.Add(-n)
	if a.granted.Load()-u >= 3*Step || a.parent == nil {
		a.giveBack(Step)
	}
}

// giveBack returns grants above used+keep to the parent. granted is lowered before used is looked at again: a Grow
// that raced either sees the lower grant and takes its slow path, or is seen here.
func (a *Account) giveBack(keep int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.parent == nil {
		keep = 0
	}
	give := (a.granted.Load() - a.used.Load() - keep) / Step * Step
	if a.parent == nil {
		give = a.granted.Load() - a.used.Load()
	}
	if give <= 0 {
		return
	}
	if left := a.granted.Add(-give); a.used.Load() > left {
		a.granted.Add(give)
		return
	}
	if a.parent != nil {
		a.parent.Shrink(give)
	}
}

// Close gives back everything the account still has. Calling it twice is harmless. Children must be closed first.
func (a *Account) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	a.used.Store(0)
	g := a.granted.Swap(0)
	if a.parent != nil && g > 0 {
		a.parent.Shrink(g)
	}
}

// Reset gives back everything but keeps the account usable: a session's statement account between statements.
func (a *Account) Reset() {
	if a.used.Load() == 0 && a.granted.Load() <= Step {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used.Store(0)
	g := a.granted.Load()
	keep := min(g, Step)
	a.granted.Store(keep)
	if a.parent != nil && g > keep {
		a.parent.Shrink(g - keep)
	}
}
