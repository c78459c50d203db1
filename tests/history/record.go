package main

import (
	"fmt"
	"sync"
	"time"
)

// level is an isolation level; a greater one forbids more.
type level int

const (
	readCommitted level = iota
	repeatableRead
	serializable
)

var levelNames = [...]string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}

func (l level) String() string { return levelNames[l] }

// fate is how a transaction ended.
type fate int

const (
	committed fate = iota
	aborted
	unknown // the answer to COMMIT did not come
)

// op is one step: an append of an element to the list under a key, or a read of the list.
type op struct {
	key    int
	append bool
	elem   int   // append
	list   []int // read
}

// txn is a transaction as its client saw it.
type txn struct {
	id         int
	ops        []op
	fate       fate
	began, end time.Time // before BEGIN was sent, after the answer to COMMIT had come
}

func (t *txn) String() string { return fmt.Sprintf("T%d", t.id) }

// history is what all clients saw, and the lists at the end.
type history struct {
	mu    sync.Mutex // guards txns while clients run
	txns  []*txn
	final map[int][]int
}

func (h *history) add(t *txn) {
	h.mu.Lock()
	t.id = len(h.txns)
	h.txns = append(h.txns, t)
	h.mu.Unlock()
}
