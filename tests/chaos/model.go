package main

import (
	"fmt"
	"sort"
	"sync"
)

// fact is what is known of one key: its content, "" when it must not be there. While a change is under way, or when its answer
// never came, next is allowed as well.
type fact struct {
	now, next string
	open      bool
}

// model is what must be in the database.
type model struct {
	mu       sync.Mutex                  // guards all
	tables   map[string]map[string]*fact // by table and key
	acked    int
	sequence int64 // highest value that a client has got
	trouble  error // the first error that is not the end of a connection
}

func newModel() *model { return &model{tables: map[string]map[string]*fact{}} }

// begin says that key's content is being changed to next. end says how that went.
func (m *model) begin(table, key, next string) (end func(acked bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[table]
	if t == nil {
		t = map[string]*fact{}
		m.tables[table] = t
	}
	f := t[key]
	if f == nil {
		f = &fact{}
		t[key] = f
	}
	f.next, f.open = next, true
	return func(acked bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if acked {
			m.acked++
			f.now, f.open = f.next, false
			if f.now == "" {
				delete(t, key)
			}
		}
	}
}

// undone says that a change was refused with an error: the content before it must be there.
func (m *model) undone(table, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.tables[table][key]
	f.open = false
	if f.now == "" {
		delete(m.tables[table], key)
	}
}

func (m *model) drawn(value int64) {
	m.mu.Lock()
	m.sequence = max(m.sequence, value)
	m.mu.Unlock()
}

func (m *model) fail(err error) {
	m.mu.Lock()
	if m.trouble == nil {
		m.trouble = err
	}
	m.mu.Unlock()
}

// compare takes what is in a table, notes which open changes were made, and returns what is wrong.
func (m *model) compare(table string, found map[string]string) (problems []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	bad := func(key, got string, f *fact) {
		want := fmt.Sprintf("%q", f.now)
		if f.open {
			want += fmt.Sprintf(" or %q", f.next)
		}
		problems = append(problems, fmt.Sprintf("%s %s: %q is there, want %s", table, key, got, want))
	}
	t := m.tables[table]
	for key, f := range t {
		got := found[key]
		if got != f.now && !(f.open && got == f.next) {
			bad(key, got, f)
		}
		f.now, f.open = got, false
		if got == "" {
			delete(t, key)
		}
	}
	for key, got := range found {
		if t[key] == nil {
			bad(key, got, &fact{})
		}
	}
	sort.Strings(problems)
	return problems
}

// keys returns the keys of a client in a table whose content is certain and there.
func (m *model) keys(table, prefix string) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, f := range m.tables[table] {
		if !f.open && len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			out = append(out, key)
		}
	}
	sort.Strings(out)
	return out
}
