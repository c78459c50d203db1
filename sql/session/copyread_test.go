package session

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"herd/sql/ast"
)

// pieces gives COPY data in pieces of random sizes up to max bytes.
type pieces struct {
	data []byte
	max  int
	r    *rand.Rand
}

func (p *pieces) NextCopyData() ([]byte, bool, error) {
	if len(p.data) == 0 {
		return nil, true, nil
	}
	n := min(1+p.r.Intn(p.max), len(p.data))
	d := bytes.Clone(p.data[:n]) // what was given before may not be used any more
	p.data = p.data[n:]
	return d, false, nil
}

var textEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\v", `\v`)

// TestCopyReader reads random fields back, whatever the pieces the data comes in.
func TestCopyReader(t *testing.T) {
	words := []string{"", "a", "plain text", `back\slash`, "tab\there", "line\nfeed", "car\rriage", `quo"te`, `"`, "comma,s", "\v", "é€😀", `\.`,
		strings.Repeat("long ", 100), "\\N", `\\`}
	for seed := range int64(60) {
		for _, kind := range []ast.CopyFormat{ast.CopyText, ast.CopyCSV} {
			r := rand.New(rand.NewSource(seed))
			var data []byte
			var want []string
			cols := 1 + r.Intn(4)
			var escape *string
			if kind == ast.CopyCSV && seed%4 == 0 {
				escape = new(string)
				*escape = `\`
			}
			plain := r.Intn(2) == 0 // half of the lines need no closer look
			inside := int64(0)      // line ends in quotes, of the kind that ends lines once one has been seen
			for n := range 1 + r.Intn(40) {
				var fields, shown []string
				for range cols {
					w := words[r.Intn(len(words))]
					if plain && r.Intn(10) > 0 {
						w = words[1+r.Intn(2)]
					}
					null := r.Intn(8) == 0
					if kind == ast.CopyCSV && !null {
						end := "\r"
						if n > 0 && seed%3 == 0 {
							end = "\n"
						}
						inside += int64(strings.Count(w, end))
					}
					switch {
					case null && kind == ast.CopyText:
						fields, shown = append(fields, `\N`), append(shown, "NULL")
					case null:
						fields, shown = append(fields, ""), append(shown, "NULL")
					case kind == ast.CopyText:
						fields, shown = append(fields, textEscapes.Replace(w)), append(shown, "="+w)
					case escape != nil && (w == "" || strings.ContainsAny(w, "\",\n\r\\") || r.Intn(3) == 0):
						fields, shown = append(fields, `"`+strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(w)+`"`), append(shown, "="+w)
					case w == "" || strings.ContainsAny(w, "\",\n\r\\") || r.Intn(3) == 0:
						fields, shown = append(fields, `"`+strings.ReplaceAll(w, `"`, `""`)+`"`), append(shown, "="+w)
					default:
						fields, shown = append(fields, w), append(shown, "="+w)
					}
				}
				data = append(data, strings.Join(fields, map[ast.CopyFormat]string{ast.CopyText: "\t", ast.CopyCSV: ","}[kind])...)
				data = append(data, []string{"\n", "\r\n", "\r"}[seed%3]...)
				want = append(want, strings.Join(shown, "|"))
			}
			if r.Intn(2) == 0 {
				data = bytes.TrimRight(data, "\r\n")
			}
			format, err := newCopyFormat(&ast.CopyOptions{Format: kind, Escape: escape}, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, most := range []int{1, 7, 1 << 20} {
				cr := &copyReader{src: &pieces{data: data, max: most, r: r}, format: format}
				for i := range want {
					ok, err := cr.next(cols)
					if err != nil || !ok {
						t.Fatalf("seed %d, kind %v, pieces %d, row %d: %v %v of %q", seed, kind, most, i, ok, err, data)
					}
					var got []string
					for _, f := range cr.fields {
						if f == nil {
							got = append(got, "NULL")
						} else {
							got = append(got, "="+string(f))
						}
					}
					if s := strings.Join(got, "|"); s != want[i] {
						t.Fatalf("seed %d, kind %v, pieces %d, row %d: %q, want %q", seed, kind, most, i, s, want[i])
					}
				}
				if ok, err := cr.next(cols); ok || err != nil {
					t.Fatalf("seed %d: more rows, or %v", seed, err)
				}
				if cr.line != int64(len(want))+inside {
					t.Errorf("seed %d: %d lines, want %d", seed, cr.line, int64(len(want))+inside)
				}
			}
		}
	}
}

// TestCopyReaderAllocations reads rows without an allocation a row.
func TestCopyReaderAllocations(t *testing.T) {
	for _, line := range []string{"1\tsome text\t\\N\n", "1\tsome \\\\ text\t\\N\n"} {
		format, err := newCopyFormat(&ast.CopyOptions{}, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		cr := &copyReader{src: &again{[]byte(strings.Repeat(line, 5000))}, format: format}
		row := func() {
			if ok, err := cr.next(3); !ok || err != nil || len(cr.fields) != 3 || cr.fields[2] != nil {
				t.Fatal(ok, err, fmt.Sprintf("%q", cr.fields))
			}
		}
		row()
		if n := testing.AllocsPerRun(20000, row); n != 0 {
			t.Errorf("%q: %v allocations a row", line, n)
		}
	}
}

// again gives the same data for ever.
type again struct{ data []byte }

func (a *again) NextCopyData() ([]byte, bool, error) { return a.data, false, nil }

// TestCopyReaderNulls reads fields that look like the null string.
func TestCopyReaderNulls(t *testing.T) {
	opts := &ast.CopyOptions{Format: ast.CopyCSV, ForceNotNull: []string{"b"}, ForceNotNullSet: true, ForceNull: []string{"c"}, ForceNullSet: true}
	format, err := newCopyFormat(opts, true, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	cr := &copyReader{src: &pieces{data: []byte(",,\n\"\",\"\",\"\"\nx,,y\n"), max: 100, r: rand.New(rand.NewSource(1))}, format: format}
	for _, want := range []string{`[] "" []`, `"" "" []`, `"x" "" "y"`} {
		if ok, err := cr.next(3); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var got []string
		for _, f := range cr.fields {
			if f == nil {
				got = append(got, "[]")
			} else {
				got = append(got, fmt.Sprintf("%q", f))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
}
