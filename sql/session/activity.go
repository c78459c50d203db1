package session

import (
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// activity is what pg_stat_activity shows; written by the session, read by others.
type activity struct {
	state      atomic.Uint32 // activityState
	query      queryText
	queryStart atomic.Int64 // microseconds since 2000-01-01
	xactStart  atomic.Int64
	stateSince atomic.Int64
	app        atomic.Pointer[string]
	build      atomic.Pointer[buildProgress] // an index that the session is building
}

// Activity states.
const (
	stateIdle uint32 = iota
	stateActive
	stateIdleInTx
	stateIdleInAborted
)

// queryTextMax is PostgreSQL's track_activity_query_size less its zero byte: longer texts are shown cut.
const queryTextMax = 1023

// queryText is the text of the last statement. Setting it copies into memory of its own, since the text may lie in the
// connection's buffer.
type queryText struct {
	mu   sync.Mutex
	text []byte // guarded by mu
	set  bool   // guarded by mu
}

func (q *queryText) store(text string) {
	text = clipText(text, queryTextMax)
	q.mu.Lock()
	q.text, q.set = append(q.text[:0], text...), true
	q.mu.Unlock()
}

// load returns the text; ok is false before the first statement.
func (q *queryText) load() (text string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return string(q.text), q.set
}

// clipText cuts text to at most max bytes, between characters.
func clipText(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}
