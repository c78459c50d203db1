package funcs

import (
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

// regexSite caches the patterns of a call site: a constant pattern compiles once.
type regexSite struct {
	last *Regex
	opt  reOptions
}

// regex returns the compiled pattern of the arguments.
func (r *row) regex(pattern []byte, flags string, fold bool) (*Regex, reOptions, error) {
	site, _ := r.scratch.(*regexSite)
	if site == nil {
		site = &regexSite{}
		r.scratch = site
	}
	if site.last != nil && site.last.flags == flags && site.last.src == string(pattern) {
		return site.last, site.opt, nil
	}
	o, err := parseFlags(flags)
	if err != nil {
		return nil, o, err
	}
	o.fold = o.fold || fold
	re, err := compileRegex(string(pattern), o)
	if err != nil {
		return nil, o, err
	}
	re.flags = flags
	site.last, site.opt = re, o
	return re, o, nil
}

// noGlobal refuses the flag g where it has no meaning.
func noGlobal(o reOptions, fn string) error {
	if o.global {
		return invalidParam("%s does not support the \"global\" option", fn)
	}
	return nil
}

func regexMatch(negate, fold, trim bool) rowFunc {
	return func(r *row) error {
		re, _, err := r.regex(r.Bytes(1), "", fold)
		if err != nil {
			return err
		}
		ok, err := re.Match(r.c, r.Bytes(0))
		if err != nil {
			return err
		}
		return r.RetBool(ok != negate)
	}
}

func init() {
	for _, p := range []string{"text", "bpchar", "name"} {
		each(regexMatch(false, false, p == "bpchar"), p+"regexeq")
		each(regexMatch(true, false, p == "bpchar"), p+"regexne")
		each(regexMatch(false, true, p == "bpchar"), p+"icregexeq")
		each(regexMatch(true, true, p == "bpchar"), p+"icregexne")
	}
	each(regexSubstring, "textregexsubstr")
	each(similarSubstring, "substring(text,text,text)")
	each(func(r *row) error { return regexpMatch(r, "") }, "regexp_match_no_flags")
	each(func(r *row) error { return regexpMatch(r, r.Str(2)) }, "regexp_match")
	each(func(r *row) error { return regexpReplace(r, 0, 1, "") }, "textregexreplace_noopt")
	each(regexpReplaceFlags, "textregexreplace")
	each(func(r *row) error { return regexpReplaceAt(r, r.Int(3), r.Int(4), r.Str(5)) }, "textregexreplace_extended")
	each(func(r *row) error { return regexpReplaceAt(r, r.Int(3), r.Int(4), "") }, "textregexreplace_extended_no_flags")
	each(func(r *row) error { return regexpReplaceAt(r, r.Int(3), 1, "") }, "textregexreplace_extended_no_n")
	each(func(r *row) error { return regexpSplit(r, "") }, "regexp_split_to_array_no_flags")
	each(func(r *row) error { return regexpSplit(r, r.Str(2)) }, "regexp_split_to_array")
	each(func(r *row) error { return regexpLike(r, "") }, "regexp_like_no_flags")
	each(func(r *row) error { return regexpLike(r, r.Str(2)) }, "regexp_like")
	each(func(r *row) error { return regexpCount(r, 1, "") }, "regexp_count_no_start")
	each(func(r *row) error { return regexpCount(r, r.Int(2), "") }, "regexp_count_no_flags")
	each(func(r *row) error { return regexpCount(r, r.Int(2), r.Str(3)) }, "regexp_count")
	for n, sym := range []string{"regexp_instr_no_start", "regexp_instr_no_n", "regexp_instr_no_endoption", "regexp_instr_no_flags", "regexp_instr_no_subexpr", "regexp_instr"} {
		each(func(r *row) error { return regexpInstr(r, n+2) }, sym)
	}
	for n, sym := range []string{"regexp_substr_no_start", "regexp_substr_no_n", "regexp_substr_no_flags", "regexp_substr_no_subexpr", "regexp_substr"} {
		each(func(r *row) error { return regexpSubstr(r, n+2) }, sym)
	}
}

// regexSubstring is substring(text from pattern): the first group, or the whole match when there is none.
func regexSubstring(r *row) error {
	re, _, err := r.regex(r.Bytes(1), "", false)
	if err != nil {
		return err
	}
	b := r.Bytes(0)
	m, err := re.Find(r.c, b, 0)
	if err != nil {
		return err
	}
	g := 0
	if re.Groups() > 0 {
		g = 1
	}
	if m == nil || m[2*g] < 0 {
		return r.RetNull()
	}
	return r.RetBytes(b[m[2*g]:m[2*g+1]])
}

// similarSubstring is substring(text similar pattern escape e).
func similarSubstring(r *row) error {
	k, _ := Lookup(CallInfo{Func: 1986, ArgTypes: []types.OID{types.TextOID, types.TextOID}, Result: types.TextOID})
	p, err := callText(r.c, k, r.Datum(1), r.Datum(2))
	if err != nil {
		return err
	}
	re, _, err := r.regex(p, "", false)
	if err != nil {
		return err
	}
	b := r.Bytes(0)
	m, err := re.Find(r.c, b, 0)
	if err != nil {
		return err
	}
	g := 0
	if re.Groups() > 0 {
		g = 1
	}
	if m == nil || m[2*g] < 0 {
		return r.RetNull()
	}
	return r.RetBytes(b[m[2*g]:m[2*g+1]])
}

// groupsArray returns the groups of a match as a text array, the whole match when the pattern has none.
func groupsArray(b []byte, m []int) []byte {
	if len(m) == 2 {
		return types.MakeArray(types.TextOID, []types.Datum{types.Bytes(b[m[0]:m[1]])})
	}
	a := types.BuildArray(nil, types.TextOID, []int{len(m)/2 - 1}, nil)
	for i := 2; i < len(m); i += 2 {
		if m[i] < 0 {
			a.Null()
		} else {
			a.Raw(b[m[i]:m[i+1]])
		}
	}
	return a.Buf
}

func regexpMatch(r *row, flags string) error {
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err != nil {
		return err
	}
	if o.global {
		return sqlerr.New(sqlerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
			WithHint("Use the regexp_matches function instead.")
	}
	m, err := re.Find(r.c, r.Bytes(0), 0)
	if err != nil {
		return err
	}
	if m == nil {
		return r.RetNull()
	}
	return r.RetBytes(groupsArray(r.Bytes(0), m))
}

func regexpReplaceFlags(r *row) error {
	flags := r.Str(3)
	if flags != "" && flags[0] >= '0' && flags[0] <= '9' {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", flags[0]).
			WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
	}
	return regexpReplace(r, 0, -1, flags)
}

// startOf turns a character position (from 1) into a byte offset; past the end is len+1.
func startOf(b []byte, start int64) (int, error) {
	if start <= 0 {
		return 0, invalidParam("invalid value for parameter \"%s\": %d", "start", start)
	}
	if n := int64(utf8.RuneCount(b)); start > n+1 {
		return len(b) + 1, nil
	}
	return runeOffset(b, int(start-1)), nil
}

func regexpReplaceAt(r *row, start, n int64, flags string) error {
	from, err := startOf(r.Bytes(0), start)
	if err != nil {
		return err
	}
	if n < 0 {
		return invalidParam("invalid value for parameter \"%s\": %d", "n", n)
	}
	return regexpReplace(r, from, n, flags)
}

// regexpReplace replaces the n-th match from byte from on; n = 0 all, n = -1 as the flag g says.
func regexpReplace(r *row, from int, n int64, flags string) error {
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err != nil {
		return err
	}
	if n < 0 {
		if n = 1; o.global {
			n = 0
		}
	} else if o.global && r.N() == 6 {
		return noGlobal(o, "regexp_replace()")
	}
	b, repl := r.Bytes(0), r.Bytes(2)
	var dst []byte
	done, seen := 0, int64(0)
	if from <= len(b) {
		err = re.FindAll(r.c, b, from, func(m []int) bool {
			if seen++; n > 0 && seen < n {
				return true
			}
			dst = append(dst, b[done:m[0]]...)
			dst = appendReplacement(dst, b, repl, m)
			done = m[1]
			return n == 0
		})
	}
	if err != nil {
		return err
	}
	return r.RetBytes(append(dst, b[done:]...))
}

// appendReplacement expands \1..\9, \& and \\.
func appendReplacement(dst, b, repl []byte, m []int) []byte {
	for i := 0; i < len(repl); i++ {
		c := repl[i]
		if c != '\\' || i+1 >= len(repl) {
			dst = append(dst, c)
			continue
		}
		i++
		switch e := repl[i]; {
		case e >= '1' && e <= '9':
			if g := 2 * int(e-'0'); g < len(m) && m[g] >= 0 {
				dst = append(dst, b[m[g]:m[g+1]]...)
			}
		case e == '&':
			dst = append(dst, b[m[0]:m[1]]...)
		case e == '\\':
			dst = append(dst, '\\')
		default:
			dst = append(dst, '\\', e)
		}
	}
	return dst
}

// RegexSplit calls f for the parts of b between matches, as regexp_split_to_table returns them.
func RegexSplit(c *Ctx, re *Regex, b []byte, f func(part []byte)) error {
	done := 0
	err := re.FindAll(c, b, 0, func(m []int) bool {
		if m[0] == m[1] && (m[0] == done || m[0] == len(b)) {
			return true // an empty match at a border splits nothing off
		}
		f(b[done:m[0]])
		done = m[1]
		return true
	})
	f(b[done:])
	return err
}

func regexpSplit(r *row, flags string) error {
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err == nil {
		err = noGlobal(o, "regexp_split_to_array()")
	}
	if err != nil {
		return err
	}
	list := types.BuildList(nil, types.TextOID)
	n := 0
	if err := RegexSplit(r.c, re, r.Bytes(0), func(p []byte) { list.Raw(p); n++ }); err != nil {
		return err
	}
	return r.RetBytes(list.FinishList(n))
}

func regexpLike(r *row, flags string) error {
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err == nil {
		err = noGlobal(o, "regexp_like()")
	}
	if err != nil {
		return err
	}
	ok, err := re.Match(r.c, r.Bytes(0))
	if err != nil {
		return err
	}
	return r.RetBool(ok)
}

func regexpCount(r *row, start int64, flags string) error {
	from, err := startOf(r.Bytes(0), start)
	if err != nil {
		return err
	}
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err == nil {
		err = noGlobal(o, "regexp_count()")
	}
	if err != nil {
		return err
	}
	n := int64(0)
	if from <= len(r.Bytes(0)) {
		if err := re.FindAll(r.c, r.Bytes(0), from, func([]int) bool { n++; return true }); err != nil {
			return err
		}
	}
	return r.RetInt(n)
}

// nth finds match n from byte from on.
func nth(c *Ctx, re *Regex, b []byte, from int, n int64) (m []int, err error) {
	if from > len(b) {
		return nil, nil
	}
	err = re.FindAll(c, b, from, func(x []int) bool {
		if n--; n == 0 {
			m = append([]int(nil), x...)
		}
		return n > 0
	})
	return m, err
}

func parameter(name string, v int64) error {
	return invalidParam("invalid value for parameter \"%s\": %d", name, v)
}

// regexpInstr has 2 to 7 arguments: string, pattern, start, N, endoption, flags, subexpr.
func regexpInstr(r *row, args int) error {
	start, n, endOpt, flags, sub := int64(1), int64(1), int64(0), "", int64(0)
	if args > 2 {
		start = r.Int(2)
	}
	if args > 3 {
		n = r.Int(3)
	}
	if args > 4 {
		endOpt = r.Int(4)
	}
	if args > 5 {
		flags = r.Str(5)
	}
	if args > 6 {
		sub = r.Int(6)
	}
	b := r.Bytes(0)
	from, err := startOf(b, start)
	switch {
	case err != nil:
		return err
	case n <= 0:
		return parameter("n", n)
	case endOpt != 0 && endOpt != 1:
		return parameter("endoption", endOpt)
	case sub < 0:
		return parameter("subexpr", sub)
	}
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err == nil {
		err = noGlobal(o, "regexp_instr()")
	}
	if err != nil {
		return err
	}
	m, err := nth(r.c, re, b, from, n)
	if err != nil {
		return err
	}
	if m == nil || int(sub) > re.Groups() || m[2*sub] < 0 {
		return r.RetInt(0)
	}
	return r.RetInt(int64(utf8.RuneCount(b[:m[2*sub+endOpt]])) + 1)
}

// regexpSubstr has 2 to 6 arguments: string, pattern, start, N, flags, subexpr.
func regexpSubstr(r *row, args int) error {
	start, n, flags, sub := int64(1), int64(1), "", int64(0)
	if args > 2 {
		start = r.Int(2)
	}
	if args > 3 {
		n = r.Int(3)
	}
	if args > 4 {
		flags = r.Str(4)
	}
	if args > 5 {
		sub = r.Int(5)
	}
	b := r.Bytes(0)
	from, err := startOf(b, start)
	switch {
	case err != nil:
		return err
	case n <= 0:
		return parameter("n", n)
	case sub < 0:
		return parameter("subexpr", sub)
	}
	re, o, err := r.regex(r.Bytes(1), flags, false)
	if err == nil {
		err = noGlobal(o, "regexp_substr()")
	}
	if err != nil {
		return err
	}
	m, err := nth(r.c, re, b, from, n)
	if err != nil {
		return err
	}
	if m == nil || int(sub) > re.Groups() || m[2*sub] < 0 {
		return r.RetNull()
	}
	return r.RetBytes(b[m[2*sub]:m[2*sub+1]])
}
