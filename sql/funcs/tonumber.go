package funcs

import (
	"strings"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types/numeric"
)

// toNumber reads a number by a template.
func toNumber(r *row) error {
	f, err := r.numFormat(r.Bytes(1))
	if err != nil {
		return err
	}
	if len(r.Bytes(1)) == 0 || len(r.Bytes(1)) >= 1<<20 {
		return r.RetNull()
	}
	if f.roman {
		return sqlerr.New(sqlerr.FeatureNotSupported, "\"RN\" not supported for input")
	}
	if f.sci {
		return sqlerr.New(sqlerr.FeatureNotSupported, "\"EEEE\" not supported for input")
	}
	p := numReader{f: f, in: r.Bytes(0)}
	for i := range f.nodes {
		if p.i >= len(p.in) {
			break
		}
		p.node(&f.nodes[i], i)
	}
	text := append([]byte{}, p.num...)
	if p.neg {
		text = append([]byte{'-'}, text...)
	}
	if len(text) > 0 && text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	n, err := numeric.Parse(text)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%s\"", " "+strings.TrimPrefix(string(text), "+"))
	}
	if f.isMulti {
		d, err := numeric.Power(numeric.FromInt64(10), numeric.FromInt64(int64(-f.multi)))
		if err != nil {
			return err
		}
		return r.RetNum(numeric.Mul(n, d))
	}
	return r.RetNumOK(n)
}

// numReader is the state of reading one number.
type numReader struct {
	f     *numFormat
	in    []byte
	i     int
	num   []byte
	neg   bool
	point bool
	signd bool
}

func (p *numReader) peek() byte {
	if p.i < len(p.in) {
		return p.in[p.i]
	}
	return 0
}

func (p *numReader) takeSign() {
	if p.signd {
		return
	}
	switch c := p.peek(); {
	case c == '-' || c == '<' && p.f.bracket:
		p.neg = true
	case c == '+':
	default:
		return
	}
	p.signd = true
	p.i++
}

func (p *numReader) node(n *fmtNode, at int) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	switch n.field {
	case "9", "0", ".", "D":
		for p.peek() == ' ' {
			p.i++
		}
		if len(p.num) == 0 {
			p.takeSign()
		}
		c := p.peek()
		switch {
		case isDigit(c) && n.field != "." && n.field != "D":
			p.num = append(p.num, c)
			p.i++
		case c == '.' && p.f.decimal && !p.point && (n.field == "." || n.field == "D" || len(p.num) > 0 || true):
			p.point = true
			p.num = append(p.num, '.')
			p.i++
		case isDigit(c):
			return
		}
		if c := p.peek(); (c == '-' || c == '+') && !p.signd && p.f.hasS && len(p.num) > 0 {
			p.takeSign()
		}
		if p.peek() == '>' && p.f.bracket {
			p.i++
		}
	case ",", "G":
		if p.peek() == ',' {
			p.i++
		}
	case "L":
		for p.i < len(p.in) && !isDigit(p.peek()) && p.peek() != '-' && p.peek() != '+' && p.peek() != '.' && p.peek() != ',' {
			_, w := utf8.DecodeRune(p.in[p.i:])
			p.i += w
		}
	case "S", "MI", "PL", "SG", "PR":
		for p.peek() == ' ' && n.field != "S" {
			p.i++
		}
		if c := p.peek(); c == '-' || c == '+' {
			p.takeSign()
		} else if c == '>' {
			p.i++
		}
	case "TH":
		p.i += min(2, len(p.in)-p.i)
	case "":
		if n.lit == " " || n.quoted || true {
			_, w := utf8.DecodeRune(p.in[p.i:])
			if c := p.peek(); !isDigit(c) && c != '-' && c != '+' && c != '.' && c != ',' {
				p.i += w
			}
		}
	}
}
