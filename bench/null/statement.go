package main

import (
	"strconv"
	"strings"
)

// statement is what the server does with a text.
type statement struct {
	tag    string // of CommandComplete
	answer answer
	lock   lockKind
	begins bool
	ends   bool
	writes bool // waits for the log outside a transaction
}

// answer is the shape of the rows.
type answer int

const (
	noRows   answer = iota
	oneRow          // one integer column
	tableRow        // what pgbench asks of its tables when it starts: three columns
)

type lockKind int

const (
	noLock lockKind = iota
	branchLock
	tellerLock
)

// classify reads the first words of pgbench's statements.
func classify(text string) statement {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch word := strings.ToUpper(strings.TrimRight(word, ";")); word {
	case "BEGIN":
		return statement{tag: "BEGIN", begins: true}
	case "END", "COMMIT":
		return statement{tag: "COMMIT", ends: true}
	case "INSERT":
		return statement{tag: "INSERT 0 1", writes: true}
	case "UPDATE":
		s := statement{tag: "UPDATE 1", writes: true}
		switch {
		case strings.HasPrefix(rest, "pgbench_branches"):
			s.lock = branchLock
		case strings.HasPrefix(rest, "pgbench_tellers"):
			s.lock = tellerLock
		}
		return s
	case "SELECT":
		if strings.HasPrefix(rest, "abalance") {
			return statement{tag: "SELECT 1", answer: oneRow}
		}
		return statement{tag: "SELECT 1", answer: tableRow}
	default:
		return statement{tag: word}
	}
}

// lastNumber returns the number that a text ends with: in pgbench's updates, the key.
func lastNumber(text string) int {
	text = strings.TrimRight(text, "; \n\x00")
	start := strings.LastIndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) + 1
	n, _ := strconv.Atoi(text[start:]) // no number: row 0
	return n
}

// locks are the rows that transactions hold: a channel with something in it is held.
type locks struct {
	branches, tellers [1024]chan struct{}
}

func newLocks() *locks {
	l := &locks{}
	for i := range l.branches {
		l.branches[i], l.tellers[i] = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	return l
}

func (l *locks) row(kind lockKind, key int) chan struct{} {
	if kind == branchLock {
		return l.branches[key%len(l.branches)]
	}
	return l.tellers[key%len(l.tellers)]
}
