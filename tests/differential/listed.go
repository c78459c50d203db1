package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	brackets   = strings.NewReplacer("(", "", ")", "")
	negative   = regexp.MustCompile(`'-(\d+)'::integer`)
	typmods    = regexp.MustCompile(`/-?\d+/`)
	manyDigits = regexp.MustCompile(`(\d\.\d{12})\d+`)
	posixZone  = regexp.MustCompile(`^time zone "[^"]*\d.*" not recognized$`)
)

// rule is a difference that is meant, with its reason.
type rule struct {
	reason string
	match  func(st *statement, want, got *answer) bool
}

// rules are all differences that are meant.
var rules = []rule{
	{"age() of an infinite timestamp: PostgreSQL 15 computes with the number that stands for infinity, herd answers 22008", func(st *statement, want, got *answer) bool {
		return got.code == "22008" && got.message == "timestamp out of range" && strings.Contains(st.sql, "age(") && strings.Contains(st.text(), "infinity")
	}},
	{"definitions are stored as text, which PostgreSQL would read in the same way: left-deep AND and OR lists are one list, a sign is part of its number", func(st *statement, want, got *answer) bool {
		return strings.Contains(st.sql, "def(") && asRead(want) == asRead(got)
	}},
	{"type modifier of a result: PostgreSQL tells that of what an expression was folded to", func(st *statement, want, got *answer) bool {
		return want.code == "" && got.code == "" && len(want.columns) == len(got.columns) && typmods.ReplaceAllString(fmt.Sprint(want.columns), "/") == typmods.ReplaceAllString(fmt.Sprint(got.columns), "/") &&
			slices.Equal(want.text(st), got.text(st))
	}},
	{"a strict function with a NULL constant is NULL: herd does not compute its other arguments, which fail in PostgreSQL", func(st *statement, want, got *answer) bool {
		return (strings.HasPrefix(want.code, "22") || want.code == "0A000" || want.code == "42704") && got.code == "" && len(got.rows) == 1 && got.rows[0][0] == nil
	}},
	{"pg_typeof does not compute its argument", func(st *statement, want, got *answer) bool {
		return got.code == "" && strings.HasPrefix(want.code, "22") && strings.Contains(st.sql, "pg_typeof(")
	}},
	{"which of several errors of one statement is told", func(st *statement, want, got *answer) bool {
		w, _, _ := strings.Cut(want.message, "\"")
		g, _, _ := strings.Cut(got.message, "\"")
		return failing(want) && failing(got) && (want.code != got.code || w != g)
	}},
	{"which of several unreadable values is told", func(st *statement, want, got *answer) bool {
		w, g := quoted(want.message), quoted(got.message)
		return want.code == got.code && failing(got) && w != "" && g != "" && strings.Contains(st.text(), w) && strings.Contains(st.text(), g) && !strings.HasPrefix(w, g) && !strings.HasPrefix(g, w)
	}},
	{"the case of a time zone's name in a message", func(st *statement, want, got *answer) bool {
		return want.code == "22023" && got.code == "22023" && strings.EqualFold(want.message, got.message)
	}},
	{"last digit of a trigonometric function in a text", func(st *statement, want, got *answer) bool {
		return want.code == "" && slices.Equal(want.columns, got.columns) && slices.Equal(shortened(want.text(st)), shortened(got.text(st)))
	}},
	{"constants under a condition that parameters decide are computed with the plan, which PostgreSQL makes with their values", func(st *statement, want, got *answer) bool {
		return len(st.params) > 0 && want.code == "" && strings.HasPrefix(got.code, "22") && (strings.Contains(st.sql, "case ") || strings.Contains(st.sql, "coalesce("))
	}},
	{"names of time zones that PostgreSQL takes for POSIX rules: a number with anything behind it", func(st *statement, want, got *answer) bool {
		return want.code == "" && got.code == "22023" && posixZone.MatchString(got.message)
	}},
	{"right() of the least integer: PostgreSQL's change of sign overflows, and what follows depends on the memory behind the text", func(st *statement, want, got *answer) bool {
		return strings.Contains(st.sql, "right(") && strings.Contains(st.text(), "-2147483648")
	}},
	{"requests of memory beyond PostgreSQL's limit", func(st *statement, want, got *answer) bool {
		return want.code == "XX000" && strings.HasPrefix(want.message, "invalid memory alloc request size")
	}},
}

// asRead makes definitions equal that are equal once they are read.
func asRead(a *answer) string {
	return negative.ReplaceAllString(brackets.Replace(a.String()), "- $1")
}

// quoted is what a message has in quotes.
func quoted(message string) string {
	_, rest, _ := strings.Cut(message, "\"")
	if i := strings.LastIndexByte(rest, '"'); i > 0 {
		return rest[:i]
	}
	return ""
}

// shortened leaves out the last digits of numbers of many.
func shortened(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = manyDigits.ReplaceAllString(r, "$1")
	}
	return out
}

// failing says that an answer is an error of computing.
func failing(a *answer) bool { return strings.HasPrefix(a.code, "22") || a.code == "0A000" }

// listed returns the reason of a difference that is meant, "" for another one.
func listed(st *statement, want, got *answer) string {
	for _, r := range rules {
		if r.match(st, want, got) {
			return r.reason
		}
	}
	return ""
}
