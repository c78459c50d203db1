package planner

import (
	"strings"
	"sync"
	"sync/atomic"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// candidate is a function or operator that may be meant.
type candidate struct {
	proc     *pgdata.Proc
	op       *pgdata.Operator
	args     []types.OID // expanded: one for each actual argument, then defaults
	argNums  []int       // for named arguments: position in the declared order of each actual; nil = in order
	defaults int         // arguments to be taken from defaults
	variadic types.OID   // element type when expanded from VARIADIC
	pathPos  int
}

type opKey struct {
	name        string
	left, right types.OID
}

// opTable remembers resolutions over built-in types, which no catalog change can alter.
type opTable struct {
	mu sync.Mutex
	m  atomic.Pointer[map[opKey]*pgdata.Operator]
}

var opCache opTable

const opCacheMax = 4096

func (t *opTable) get(k opKey) *pgdata.Operator {
	if m := t.m.Load(); m != nil {
		return (*m)[k]
	}
	return nil
}

// put copies the table: writes stop once all operators in use have been seen.
func (t *opTable) put(k opKey, o *pgdata.Operator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := make(map[opKey]*pgdata.Operator)
	if m := t.m.Load(); m != nil && len(*m) < opCacheMax {
		for k, v := range *m {
			next[k] = v
		}
	}
	next[k] = o
	t.m.Store(&next)
}

// matchBest filters candidates by implicit casts and selects the best: func_match_argtypes, func_select_candidate.
func (b *binder) matchBest(cands []candidate, in []types.OID) (best *candidate, ambiguous bool) {
	keep := cands[:0:0]
	for _, c := range cands {
		if b.canCoerce(in, c.args[:len(in)], coerceImplicit) {
			keep = append(keep, c)
		}
	}
	switch len(keep) {
	case 0:
		return nil, false
	case 1:
		return &keep[0], false
	}
	if best = b.selectCandidate(keep, in); best == nil {
		return nil, true
	}
	return best, false
}

// keepBest keeps the candidates with the highest score, when any scores.
func keepBest(cands []candidate, score func(c *candidate) int) []candidate {
	out := cands[:0:0]
	best := 0
	for i := range cands {
		n := score(&cands[i])
		if n > best || len(out) == 0 {
			best = n
			out = append(out[:0], cands[i])
		} else if n == best {
			out = append(out, cands[i])
		}
	}
	return out
}

func (b *binder) selectCandidate(cands []candidate, in []types.OID) *candidate {
	n := len(in)
	base := make([]types.OID, n)
	cats := make([]byte, n)
	unknowns := 0
	for i, t := range in {
		base[i] = t
		if t == types.UnknownOID {
			unknowns++
		} else {
			base[i] = b.baseType(t)
		}
	}
	cands = keepBest(cands, func(c *candidate) int {
		m := 0
		for i, t := range base {
			if t != types.UnknownOID && c.args[i] == t {
				m++
			}
		}
		return m
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	for i, t := range base {
		cats[i], _ = b.category(t)
	}
	cands = keepBest(cands, func(c *candidate) int {
		m := 0
		for i, t := range base {
			if t == types.UnknownOID {
				continue
			}
			if c.args[i] == t {
				m++
			} else if cat, pref := b.category(c.args[i]); pref && cat == cats[i] {
				m++
			}
		}
		return m
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns == 0 {
		return nil
	}
	cands = b.resolveUnknowns(cands, base, cats)
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns < n {
		return b.assumeSame(cands, base)
	}
	return nil
}

// resolveUnknowns narrows candidates by the category that unknown arguments are taken for.
func (b *binder) resolveUnknowns(cands []candidate, base []types.OID, cats []byte) []candidate {
	pref := make([]bool, len(base))
	for i, t := range base {
		if t != types.UnknownOID {
			continue
		}
		cats[i] = 0
		conflict := false
		for k := range cands {
			cat, p := b.category(cands[k].args[i])
			switch {
			case cats[i] == 0:
				cats[i], pref[i] = cat, p
			case cat == cats[i]:
				pref[i] = pref[i] || p
			case cat == catString:
				cats[i], pref[i] = cat, p
			default:
				conflict = true
			}
		}
		if conflict && cats[i] != catString {
			return cands
		}
	}
	out := cands[:0:0]
next:
	for k := range cands {
		for i, t := range base {
			if t != types.UnknownOID {
				continue
			}
			cat, p := b.category(cands[k].args[i])
			if cat != cats[i] || pref[i] && !p {
				continue next
			}
		}
		out = append(out, cands[k])
	}
	if len(out) == 0 {
		return cands
	}
	return out
}

// assumeSame takes unknown arguments for the type that all known ones have.
func (b *binder) assumeSame(cands []candidate, base []types.OID) *candidate {
	known := types.OID(0)
	for _, t := range base {
		if t == types.UnknownOID {
			continue
		}
		if known != 0 && known != t {
			return nil
		}
		known = t
	}
	if known == 0 {
		return nil
	}
	same := make([]types.OID, len(base))
	for i := range same {
		same[i] = known
	}
	var found *candidate
	for k := range cands {
		if b.canCoerce(same, cands[k].args[:len(same)], coerceImplicit) {
			if found != nil {
				return nil
			}
			found = &cands[k]
		}
	}
	return found
}

// funcCandidates is FuncnameGetCandidates: every function of the name that could take nargs arguments.
func (b *binder) funcCandidates(name ast.Name, nargs int, argNames []string, expandVariadic, expandDefaults bool) ([]candidate, error) {
	procs, err := b.funcsByName(name)
	if err != nil {
		return nil, err
	}
	var out []candidate
	for _, p := range procs {
		c, ok := b.candidateFor(p, nargs, argNames, expandVariadic, expandDefaults)
		if ok {
			out = b.addCandidate(out, c)
		}
	}
	return out, nil
}

func (b *binder) candidateFor(p *pgdata.Proc, nargs int, argNames []string, expandVariadic, expandDefaults bool) (candidate, bool) {
	c := candidate{proc: p, args: p.ArgTypes, pathPos: b.pathPos(p.Namespace)}
	n := p.NArgs
	useVariadic := p.Variadic != 0 && expandVariadic && nargs >= n
	if len(argNames) > 0 {
		if n < nargs || n > nargs+p.NArgDefaults || n > nargs && !expandDefaults {
			return c, false
		}
		nums, ok := matchNamed(p, nargs, argNames)
		if !ok {
			return c, false
		}
		c.argNums, c.defaults = nums, n-nargs
		c.args = make([]types.OID, n)
		for i, k := range nums {
			c.args[i] = p.ArgTypes[k]
		}
		return c, true
	}
	if n > nargs {
		if !expandDefaults || n > nargs+p.NArgDefaults {
			return c, false
		}
		c.defaults = n - nargs
		return c, true
	}
	if n < nargs && !useVariadic {
		return c, false
	}
	if useVariadic {
		args := make([]types.OID, nargs)
		copy(args, p.ArgTypes[:n-1])
		for i := n - 1; i < nargs; i++ {
			args[i] = p.Variadic
		}
		c.args, c.variadic = args, p.Variadic
	}
	return c, true
}

// matchNamed maps call arguments (the last len(argNames) named) to declared positions; unnamed parameters without argument follow.
func matchNamed(p *pgdata.Proc, nargs int, argNames []string) ([]int, bool) {
	positional := nargs - len(argNames)
	if p.ArgNames == nil {
		return nil, false
	}
	nums := make([]int, 0, p.NArgs)
	given := make([]bool, p.NArgs)
	for i := range positional {
		nums = append(nums, i)
		given[i] = true
	}
	for _, name := range argNames {
		at, in := -1, 0
		for k, an := range p.ArgNames {
			if p.ArgModes != nil && p.ArgModes[k] != 'i' && p.ArgModes[k] != 'b' && p.ArgModes[k] != 'v' {
				continue
			}
			if an == name {
				at = in
			}
			in++
		}
		if at < 0 || given[at] {
			return nil, false
		}
		given[at] = true
		nums = append(nums, at)
	}
	firstDefault := p.NArgs - p.NArgDefaults
	for k, g := range given {
		if !g {
			if k < firstDefault {
				return nil, false
			}
			nums = append(nums, k)
		}
	}
	return nums, true
}

// addCandidate drops duplicates: one earlier on the path hides a later one, a non-variadic one hides a variadic one.
func (b *binder) addCandidate(list []candidate, c candidate) []candidate {
	for i := range list {
		o := &list[i]
		if len(o.args) != len(c.args) || !sameOIDs(o.args, c.args) {
			continue
		}
		if o.pathPos != c.pathPos {
			if c.pathPos < o.pathPos {
				list[i] = c
			}
			return list
		}
		if o.variadic != 0 && c.variadic == 0 {
			list[i] = c
			return list
		}
		if c.variadic != 0 && o.variadic == 0 {
			return list
		}
	}
	return append(list, c)
}

func sameOIDs(a, b []types.OID) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// funcDetail is the outcome of a function's resolution.
type funcDetail uint8

const (
	funcNotFound funcDetail = iota
	funcMultiple
	funcNormal
	funcCoercion
)

// getFunc is func_get_detail.
func (b *binder) getFunc(name ast.Name, args []plan.Expr, argNames []string, in []types.OID, expandVariadic, expandDefaults bool) (funcDetail, *candidate, types.OID, error) {
	cands, err := b.funcCandidates(name, len(in), argNames, expandVariadic, expandDefaults)
	if err != nil {
		return funcNotFound, nil, 0, err
	}
	for i := range cands {
		if len(cands[i].args) >= len(in) && sameOIDs(in, cands[i].args[:len(in)]) {
			return funcNormal, &cands[i], 0, nil
		}
	}
	if len(in) == 1 && len(argNames) == 0 && args != nil {
		if t := b.funcNameAsType(name); t != 0 {
			_, literal := args[0].(*plan.Const)
			ok := in[0] == types.UnknownOID && literal
			if !ok {
				switch k, _ := b.castPath(t, in[0], coerceExplicit); k {
				case pathRelabel:
					ok = true
				case pathViaIO:
					ok = !(b.isRowType(in[0]) && b.category1(t) == catString)
				}
			}
			if ok {
				return funcCoercion, nil, t, nil
			}
		}
	}
	best, ambiguous := b.matchBest(cands, in)
	if best == nil {
		if ambiguous {
			return funcMultiple, nil, 0, nil
		}
		return funcNotFound, nil, 0, nil
	}
	return funcNormal, best, 0, nil
}

// signature is "name(type, type)" for messages.
func (b *binder) signature(name string, argNames []string, in []types.OID) string {
	var s strings.Builder
	s.WriteString(name)
	s.WriteByte('(')
	positional := len(in) - len(argNames)
	for i, t := range in {
		if i > 0 {
			s.WriteString(", ")
		}
		if i >= positional {
			s.WriteString(argNames[i-positional])
			s.WriteString(" => ")
		}
		s.WriteString(b.typeName(t))
	}
	s.WriteByte(')')
	return s.String()
}

func (b *binder) funcError(d funcDetail, name ast.Name, argNames []string, in []types.OID, loc int) error {
	sig := b.signature(name.String(), argNames, in)
	if d == funcMultiple {
		return b.errorAt(loc, sqlerr.AmbiguousFunction, "function %s is not unique", sig).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
	}
	return b.errorAt(loc, sqlerr.UndefinedFunction, "function %s does not exist", sig).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}
