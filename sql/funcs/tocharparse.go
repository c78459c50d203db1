package funcs

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// fmtNode is a part of a to_char or to_date template: a field or literal text.
type fmtNode struct {
	field  string // the field's upper-case name, "" for literal text
	word   string // as written: its case matters to names
	lit    string // one literal character
	quoted bool   // lit stood in double quotes
	fm     bool   // FM: no padding
	th     string // "th" or "TH" after it
	tm     bool
}

// datetime template fields, longer ones before their prefixes.
var dateFields = []string{
	"A.D.", "A.M.", "B.C.", "P.M.", "IDDD", "IYYY", "MONTH", "SSSSS", "SSSS", "Y,YYY", "YYYY",
	"DAY", "DDD", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "HH12", "HH24", "IYY", "MON", "TZH", "TZM", "YYY",
	"AD", "AM", "BC", "CC", "DD", "DY", "HH", "ID", "IW", "IY", "MI", "MM", "MS", "OF", "PM", "RM", "SS", "TZ", "US", "WW", "YY",
	"D", "I", "J", "Q", "W", "Y",
}

// number template fields.
var numberFields = []string{"EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", ",", ".", "0", "9", "B", "C", "D", "G", "L", "S", "V"}

// matchCase finds a field at the start of s: fields are written in upper or lower case (names of months and days also
// capitalized).
func matchField(s string, list []string, names bool) string {
	for _, f := range list {
		if len(s) < len(f) {
			continue
		}
		w := s[:len(f)]
		if w == f || w == strings.ToLower(f) {
			return f
		}
		if names && (f == "MONTH" || f == "MON" || f == "DAY" || f == "DY") && w == f[:1]+strings.ToLower(f[1:]) {
			return f
		}
	}
	return ""
}

// parseDateFormat cuts a template for dates; fx is set when it begins with FX.
func parseDateFormat(format []byte) (nodes []fmtNode, fx bool) {
	s := string(format)
	for len(s) > 0 {
		n := fmtNode{}
		for {
			switch {
			case strings.HasPrefix(s, "FM") || strings.HasPrefix(s, "fm"):
				n.fm = true
				s = s[2:]
				continue
			case strings.HasPrefix(s, "TM") && matchField(s[2:], dateFields, true) != "":
				n.tm = true
				s = s[2:]
				continue
			case strings.HasPrefix(s, "FX") || strings.HasPrefix(s, "fx"):
				fx = true
				s = s[2:]
				continue
			}
			break
		}
		if s == "" {
			break
		}
		if f := matchField(s, dateFields, true); f != "" {
			n.field, n.word = f, s[:len(f)]
			s = s[len(f):]
			for {
				switch {
				case strings.HasPrefix(s, "TH"), strings.HasPrefix(s, "th"):
					n.th = s[:2]
					s = s[2:]
					continue
				case strings.HasPrefix(s, "SP"), strings.HasPrefix(s, "sp"):
					s = s[2:]
					continue
				}
				break
			}
			nodes = append(nodes, n)
			continue
		}
		nodes, s = literalNodes(nodes, s)
	}
	return nodes, fx
}

// literalNodes takes one character or a quoted text off s.
func literalNodes(nodes []fmtNode, s string) ([]fmtNode, string) {
	if s[0] == '"' {
		s = s[1:]
		for len(s) > 0 && s[0] != '"' {
			if s[0] == '\\' && len(s) > 1 {
				s = s[1:]
			}
			_, w := utf8.DecodeRuneInString(s)
			nodes = append(nodes, fmtNode{lit: s[:w], quoted: true})
			s = s[w:]
		}
		if len(s) > 0 {
			s = s[1:]
		}
		return nodes, s
	}
	if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
		s = s[1:]
	}
	_, w := utf8.DecodeRuneInString(s)
	return append(nodes, fmtNode{lit: s[:w]}), s[w:]
}

// dateFormat is a compiled template kept with a call site.
type dateFormat struct {
	src   []byte
	nodes []fmtNode
	fx    bool
}

func (r *row) dateFormat(src []byte) *dateFormat {
	f, _ := r.scratch.(*dateFormat)
	if f == nil || !bytes.Equal(f.src, src) {
		f = &dateFormat{src: append([]byte(nil), src...)}
		f.nodes, f.fx = parseDateFormat(f.src)
		r.scratch = f
	}
	return f
}

// ordinal is the suffix of a number: st, nd, rd or th.
func ordinal(num []byte, th string) string {
	s := "th"
	n := len(num)
	if n > 0 && !(n > 1 && num[n-2] == '1') {
		switch num[n-1] {
		case '1':
			s = "st"
		case '2':
			s = "nd"
		case '3':
			s = "rd"
		}
	}
	if th == "TH" {
		return strings.ToUpper(s)
	}
	return s
}
