package sqlerr

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestCodesHaveTheirTable(t *testing.T) {
	f, err := os.Open("codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		p := strings.Fields(s.Text())
		if len(p) == 0 || p[0] == "#" {
			continue
		}
		if _, ok := conditionNames[Code(p[0])]; !ok {
			t.Errorf("code %s is not in codes.go: run go generate", p[0])
		}
		n++
	}
	if n < 250 || UndefinedTable != "42P01" || UniqueViolation.Name() != "unique_violation" || SerializationFailure.Class() != "40" {
		t.Fatalf("table of %d codes is broken", n)
	}
}

func TestFromCopies(t *testing.T) {
	e := New(UndefinedColumn, "column %q does not exist", "x").WithHint("h").WithTable("s", "t")
	c := From(fmt.Errorf("wrapped: %w", e))
	c.Position = 7
	if e.Position != 0 || c.Message != `column "x" does not exist` || c.Table != "t" || CodeOf(c) != "42703" {
		t.Fatalf("%+v %+v", e, c)
	}
	if From(errors.New("boom")).Code != InternalError || CodeOf(nil) != "" {
		t.Fatal("a foreign error is XX000")
	}
	if New("42601", "100%").Message != "100%" {
		t.Fatal("without arguments the text is taken as it is")
	}
}
