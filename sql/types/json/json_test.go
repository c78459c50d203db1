package json

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"herd/sql/sqlerr"
)

// random writes a random JSON text.
func random(rng *rand.Rand, b *strings.Builder, depth int) {
	blank := func() {
		if rng.IntN(4) == 0 {
			b.WriteByte(' ')
		}
	}
	str := func() {
		b.WriteByte('"')
		for range rng.IntN(4) {
			b.WriteString([]string{"a", "b", "é", `\n`, `\"`, `\u00e9`, `\\`, "日", `\ud83d\ude00`}[rng.IntN(9)])
		}
		b.WriteByte('"')
	}
	blank()
	switch k := rng.IntN(8); {
	case k == 0 && depth > 0:
		b.WriteByte('[')
		for i := range rng.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			random(rng, b, depth-1)
		}
		b.WriteByte(']')
	case k == 1 && depth > 0:
		b.WriteByte('{')
		for i := range rng.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			blank()
			str()
			blank()
			b.WriteByte(':')
			random(rng, b, depth-1)
		}
		b.WriteByte('}')
	case k < 4:
		str()
	case k < 6:
		b.WriteString([]string{"0", "-1.50", "1e3", "1E-2", "12345678901234567890"}[rng.IntN(5)])
	default:
		b.WriteString([]string{"true", "false", "null"}[rng.IntN(3)])
	}
	blank()
}

func TestCanonical(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		var b strings.Builder
		random(rng, &b, 4)
		text := []byte(b.String())
		if err := Validate(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		one, err := Canonical(nil, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		two, err := Canonical(nil, one)
		if err != nil || string(one) != string(two) {
			t.Fatalf("%s\n %s\n %s %v", text, one, two, err)
		}
		v, _ := Parse(text)
		w, _ := Parse(one)
		if Compare(v, w) != 0 || !Contains(v, w) {
			t.Fatalf("%s differs from its canonical text %s", text, one)
		}
		navigate(t, v, one)
	}
}

// navigate checks the walk over a text against the tree.
func navigate(t *testing.T, v *Value, text []byte) {
	t.Helper()
	if KindOf(text) != v.Kind {
		t.Fatalf("%s: kind %d, want %d", text, KindOf(text), v.Kind)
	}
	for i, e := range v.Elems {
		var part []byte
		var ok bool
		if v.Kind == Object {
			part, ok = Field(text, v.Keys[i])
		} else {
			part, ok = Index(text, i)
		}
		if !ok || string(part) != string(e.Append(nil)) {
			t.Fatalf("%s: element %d is %s, want %s", text, i, part, e.Append(nil))
		}
		navigate(t, e, part)
	}
	if n := Length(text); (v.Kind == Array || v.Kind == Object) && n != len(v.Elems) {
		t.Fatalf("%s: length %d", text, n)
	}
	if v.Kind == String {
		if s, ok := AppendText(nil, text); !ok || string(s) != string(v.Text) {
			t.Fatalf("%s: text %q, want %q", text, s, v.Text)
		}
	}
}

func TestDepth(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	if err := Validate([]byte(deep)); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
		t.Errorf("nesting of %d: %v", MaxDepth+1, err)
	}
	fine := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if err := Validate([]byte(fine)); err != nil {
		t.Errorf("nesting of %d: %v", MaxDepth, err)
	}
}

func TestSetAndDelete(t *testing.T) {
	v, _ := Parse([]byte("{}"))
	for i := range 20 {
		n, _ := Parse([]byte(strconv.Itoa(i)))
		v.Set([]byte("k"+strconv.Itoa((i*7)%20)), n)
	}
	for i := range 20 {
		if v.Get([]byte("k"+strconv.Itoa((i*7)%20))).Num.String() != strconv.Itoa(i) {
			t.Fatalf("key %d", i)
		}
	}
	for i := range 10 {
		v.DeleteKey([]byte("k" + strconv.Itoa(i)))
	}
	if w, _ := Parse(v.Append(nil)); len(v.Keys) != 10 || Compare(v, w) != 0 {
		t.Errorf("%s", v.Append(nil))
	}
}
