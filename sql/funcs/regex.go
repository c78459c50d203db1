package funcs

import (
	"regexp"
	"strings"

	"herd/sql/sqlerr"
)

// Regex is a compiled POSIX advanced regular expression as PostgreSQL has them. Patterns that Go's engine can do (linear
// time) run there; look-around, back references and word starts and ends run on a backtracking matcher.
type Regex struct {
	src, flags string
	root       *reNode
	groups     int
	opt        reOptions
	fast       *regexp.Regexp // nil: the backtracking matcher
	lazyTop    bool           // the shortest match is wanted, whatever the parts prefer
	context    bool           // the pattern looks at what is around it: no matching of slices
}

// reOptions are the flags of a pattern.
type reOptions struct {
	fold     bool // i
	nlStop   bool // . and negated sets do not match newline
	nlAnchor bool // ^ and $ match at lines
	expanded bool // x
	literal  bool // q
	global   bool // g: for the functions, not for matching
	basic    bool // b
	extended bool // e: no escapes of AREs
}

func badRegex(what string) error {
	return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", what)
}

// parseFlags reads the flags argument of the regexp functions.
func parseFlags(flags string) (o reOptions, err error) {
	for _, c := range flags {
		switch c {
		case 'g':
			o.global = true
		case 'b':
			o.basic = true
		case 'e':
			o.extended = true
		case 'i':
			o.fold = true
		case 'c':
			o.fold = false
		case 'm', 'n':
			o.nlStop, o.nlAnchor = true, true
		case 'p':
			o.nlStop, o.nlAnchor = true, false
		case 'q':
			o.literal = true
		case 's':
			o.nlStop, o.nlAnchor = false, false
		case 't':
			o.expanded = false
		case 'w':
			o.nlStop, o.nlAnchor = false, true
		case 'x':
			o.expanded = true
		default:
			return o, invalidParam("invalid regular expression option: \"%c\"", c)
		}
	}
	return o, nil
}

// CompileRegex compiles a pattern with the flags of regexp_replace and its kin. Global says whether g was among them.
func CompileRegex(pattern, flags string) (re *Regex, global bool, err error) {
	o, err := parseFlags(flags)
	if err != nil {
		return nil, false, err
	}
	re, err = compileRegex(pattern, o)
	if re != nil {
		re.flags = flags
	}
	return re, o.global, err
}

func compileRegex(pattern string, o reOptions) (*Regex, error) {
	if o.basic {
		return nil, unsupported("basic regular expression (option \"b\")")
	}
	re := &Regex{src: pattern}
	p := reParser{s: pattern, opt: o}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	re.root, re.groups, re.opt, re.context = root, p.groups, p.opt, p.context
	if p.own {
		return re, nil
	}
	lazy := root.preference() == prefLazy
	var b strings.Builder
	if re.opt.fold {
		b.WriteString("(?i)")
	}
	re.lazyTop = lazy
	root.emit(&b, &re.opt, lazy)
	fast, err := regexp.Compile(b.String())
	if err != nil {
		return re, nil // too large a repetition for Go, for example: the matcher does it
	}
	if !lazy {
		fast.Longest()
	}
	re.fast = fast
	return re, nil
}

// Groups returns the number of capturing parentheses.
func (re *Regex) Groups() int { return re.groups }

// Match says whether the pattern occurs in b.
func (re *Regex) Match(c *Ctx, b []byte) (bool, error) {
	if re.fast != nil {
		return re.fast.Match(b), nil
	}
	m, err := re.Find(c, b, 0)
	return m != nil, err
}

// Find returns the first match at or after byte from: start and end of the match and of every group, -1 for a group that
// took no part; nil when there is none.
func (re *Regex) Find(c *Ctx, b []byte, from int) ([]int, error) {
	if re.fast != nil && (from == 0 || !re.context) {
		m := re.fast.FindSubmatchIndex(b[from:])
		if from > 0 {
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
		}
		if m != nil && re.lazyTop && re.groups > 0 {
			return re.within(c, b, m[0], m[1]) // the groups divide the shortest match as they like
		}
		return m, nil
	}
	return re.search(c, b, from)
}

// FindAll calls f for every match from byte from on until it returns false. After an empty match the search goes on one
// character further.
func (re *Regex) FindAll(c *Ctx, b []byte, from int, f func(m []int) bool) error {
	for from <= len(b) {
		m, err := re.Find(c, b, from)
		if err != nil || m == nil {
			return err
		}
		if !f(m) {
			return nil
		}
		from = m[1]
		if m[0] == m[1] {
			_, w := decodeRune(b[from:])
			from += max(w, 1)
		}
		if err := c.interrupted(); err != nil {
			return err
		}
	}
	return nil
}
