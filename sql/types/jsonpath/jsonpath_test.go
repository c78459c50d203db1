package jsonpath

import (
	"strings"
	"testing"

	"herd/sql/sqlerr"
)

func init() { CheckRegex = func(string, RegexFlags) error { return nil } }

// TestRoundTrip checks that the text of a path gives the path again, also where PostgreSQL's own text would not.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		`$`, `strict $."a"[*].**{2 to last}?(@ > 1).size()`, `(1 - (2 - 3))`, `(2 - ($."a" * 3)."b")`, `((-1).abs() + -(-$))`,
		`$?(!(@ == 1 || @ == 2) && (@ > 3) is unknown)`, `(!($ == 1)).type()`, `(exists ($."x")).type()`, `(($ == 1) is unknown).type()`,
		`$[1,last,$."n" to 5]`, `$."a\"b\\c\n"`, `$"v"`, `($ like_regex "a" flag "imq")`, `($ starts with $"p")`, `$.datetime("YYYY")`,
	} {
		p, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := p.String(); got != text {
			t.Errorf("%s printed as %s", text, got)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 1e6), strings.Repeat("-", 1e6) + "$", "$" + strings.Repeat("[$", 1e6), "1" + strings.Repeat("+1", 1e6),
		"$?(" + strings.Repeat("(@>1)&&", 1e6) + "@>1)",
	} {
		if _, err := Parse(text); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
			t.Errorf("%.20s...: %v, want 54001", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`strict $.a[1 to last] ? (@ like_regex "x" flag "i").keyvalue()`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		q, err := Parse(p.String())
		if err != nil || q.String() != p.String() {
			t.Errorf("%q printed as %q: %v", text, p, err)
		}
	})
}
