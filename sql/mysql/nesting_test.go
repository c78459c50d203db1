package mysql

import (
	"strings"
	"testing"

	"herd/sql/sqlerr"
)

// TestDeepTexts parses texts whose trees would overflow the stack of whoever walks them, and long ones that are flat.
func TestDeepTexts(t *testing.T) {
	const deep = 12_000_000
	for name, text := range map[string]string{
		"brackets": "SELECT " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep),
		"signs":    "SELECT " + strings.Repeat("!", deep) + "1",
		"sums":     "SELECT 1" + strings.Repeat("+1", deep),
		"NOT":      "SELECT " + strings.Repeat("NOT ", deep) + "1",
		"in lists": "SELECT 1 IN (2, 3" + strings.Repeat("+1", deep) + ")",
	} {
		if _, err := Parse(text); err == nil || sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"rows":    "INSERT INTO t VALUES (1, 'a')" + strings.Repeat(", (1+1, 'a')", 100_000),
		"list":    "SELECT 1 IN (2" + strings.Repeat(", 3", 100_000) + ")",
		"texts":   strings.Repeat("SELECT 1; ", 50_000),
		"columns": "SELECT 1" + strings.Repeat(", 1 + 1", 50_000),
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
