package planner

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
)

// rtes returns the range table of a level, nil before it has a query.
func (s *scope) rtes() []*plan.RTE {
	if s.q == nil {
		return nil
	}
	return s.q.RTable
}

const maxFuzzy = 3

// fuzzyState collects the best candidates for a misspelled column: PostgreSQL's FuzzyAttrMatchState.
type fuzzyState struct {
	distance            int
	first, second       *plan.RTE
	firstCol, secondCol string
	exact1, exact2      *plan.RTE
	exactScope          *scope
	exactRTE            int
}

// missingColumn is errorMissingColumn.
func (s *scope) missingColumn(table, col string, loc int) error {
	st := fuzzyState{distance: maxFuzzy + 1}
	for p := s; p != nil; p = p.parent {
		for i, r := range p.rtes() {
			if r.Kind == plan.RTEJoin {
				continue
			}
			s.fuzzyRTE(&st, p, i, r, table, col)
		}
	}
	var e *sqlerr.Error
	if table != "" {
		e = s.b.errorAt(loc, sqlerr.UndefinedColumn, "column %s.%s does not exist", table, col)
	} else {
		e = s.b.errorAt(loc, sqlerr.UndefinedColumn, "column \"%s\" does not exist", col)
	}
	switch {
	case st.exact1 != nil && st.exact2 == nil && st.first == nil || st.exact1 != nil && st.exact2 == nil:
		return e.WithHint("There is a column named \"%s\" in table \"%s\", but it cannot be referenced from this part of the query.", col, st.exact1.Alias)
	case st.exact1 != nil:
		return e.WithDetail("There are columns named \"%s\", but they are in tables that cannot be referenced from this part of the query.", col)
	case st.first != nil && st.second != nil:
		return e.WithHint("Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".", st.first.Alias, st.firstCol, st.second.Alias, st.secondCol)
	case st.first != nil:
		return e.WithHint("Perhaps you meant to reference the column \"%s.%s\".", st.first.Alias, st.firstCol)
	}
	return e
}

func (s *scope) fuzzyRTE(st *fuzzyState, p *scope, i int, r *plan.RTE, table, col string) {
	penalty := 0
	if table != "" {
		penalty = levenshtein(table, r.Alias)
		if penalty > maxFuzzy {
			penalty = maxFuzzy + 1
		}
	}
	if table == "" || penalty == 0 {
		for k := range r.Cols {
			if r.Cols[k].Name != "" && r.Cols[k].Name == col {
				if table != "" && penalty == 0 || table == "" {
					if st.exact1 == nil {
						st.exact1, st.exactScope, st.exactRTE = r, p, i
					} else if st.exact1 != r {
						st.exact2 = r
					}
				}
			}
		}
	}
	for k := range r.Cols {
		name := r.Cols[k].Name
		if name == "" || penalty > st.distance {
			continue
		}
		d := levenshtein(col, name)
		if d > len(col)/2 && d > 0 {
			continue
		}
		d += penalty
		switch {
		case d < st.distance:
			st.distance, st.first, st.firstCol, st.second = d, r, name, nil
		case d == st.distance:
			if st.second != nil {
				st.first, st.second = nil, nil
				st.distance = d - 1
			} else if st.first != nil {
				st.second, st.secondCol = r, name
			}
		}
	}
}

// levenshtein is the edit distance of two short strings.
func levenshtein(a, b string) int {
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			c := prev[j-1]
			if a[i-1] != b[j-1] {
				c++
			}
			cur[j] = min(c, prev[j]+1, cur[j-1]+1)
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}
