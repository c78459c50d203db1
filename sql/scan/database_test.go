package scan

import "testing"

func TestPlainDatabase(t *testing.T) {
	for _, c := range []struct{ text, plain string }{
		{"create database x with (replicas = 3, leader = 'n(1)')", "create database x with  replicas = 3  leader = 'n(1)' "},
		{"ALTER DATABASE \"a b\" SET /* to */ LEADER n2; select (1)", "ALTER DATABASE \"a b\"     /* to */ LEADER n2; select (1)"},
		{"select 1; create database x WITH (replicas 2)", "select 1; create database x WITH  replicas 2 "},
		{"create database x with (replicas = 3", ""},
		{"create database x", ""},
		{"alter database x set work_mem = 1", ""},
		{"create table t with (fillfactor = 3)", ""},
	} {
		got, ok := PlainDatabase(c.text)
		if got != c.plain || ok != (c.plain != "") {
			t.Errorf("PlainDatabase(%q) = %q, %v, want %q", c.text, got, ok, c.plain)
		}
	}
}
