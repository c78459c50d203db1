package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
)

// uniqueIndexes calls f for the indexes of a table that no two of its rows agree on, until one returns true.
func uniqueIndexes(rel *catalog.Relation, f func(ix *catalog.Index) bool) bool {
	if pk := rel.PrimaryKey; pk != nil && !rel.HiddenRowID && !pk.Deferrable && f(pk) {
		return true
	}
	for _, ix := range rel.Indexes {
		if ix.Unique && !ix.Deferrable && ix.Pred == "" && ix.State == catalog.IndexValid && f(ix) {
			return true
		}
	}
	return false
}

// uniqueBy says whether at most one row of a table can meet the conditions, given one row of all other relations: they equate the columns
// of a unique index.
func (r *root) uniqueBy(rte int, on []*clause) bool {
	rel := r.q.RTable[rte].Rel
	if rel == nil || rel.Virtual != nil {
		return false
	}
	return uniqueIndexes(rel, func(ix *catalog.Index) bool {
		for i := range ix.Keys {
			if !r.equated(rte, ix.Keys[i].Attno, on) {
				return false
			}
		}
		return len(ix.Keys) > 0
	})
}

// equated says whether a condition equates a column with something of other relations.
func (r *root) equated(rte int, attno int16, on []*clause) bool {
	for _, c := range on {
		if c.call == nil || c.volatile || rowStrategy(c.call.Op) != pgdata.BTEqual {
			continue
		}
		for side, rels := range [2]relset{c.rightRels, c.leftRels} {
			v, ok := stripText(c.call.Args[side]).(*plan.Var)
			if ok && v.LevelsUp == 0 && v.RTE == rte && v.Attno == int(attno) && attno > 0 && !rels.has(rte) && !rels.empty() {
				return true
			}
		}
	}
	return false
}

// joinSel is the selectivity of join conditions together. Equalities with all columns of a key of several columns are not independent:
// every row of the other side finds one row of the table then, as a foreign key does.
func (r *root) joinSel(on []*clause) float64 {
	s := 1.0
	for _, c := range on {
		s *= r.clauseSel(c)
	}
	return math.Max(s, r.keyedSel(on))
}

// keyedSel is joinSel when the conditions cover a key of several columns, 0 when they do not.
func (r *root) keyedSel(on []*clause) float64 {
	s := 0.0
	if len(on) < 2 {
		return s
	}
	seen := relset{}
	for _, c := range on {
		for _, v := range r.equatedColumns(c) {
			if rel := r.q.RTable[v.RTE].Rel; rel != nil && rel.Virtual == nil && !seen.has(v.RTE) {
				seen = seen.union(rset(v.RTE))
				s = math.Max(s, r.keySel(rel, v.RTE, on))
			}
		}
	}
	return s
}

// keySel is keyedSel for the keys of one relation.
func (r *root) keySel(rel *catalog.Relation, rte int, on []*clause) float64 {
	best := 0.0
	uniqueIndexes(rel, func(ix *catalog.Index) bool {
		if len(ix.Keys) < 2 {
			return false
		}
		used := map[*clause]bool{}
		for i := range ix.Keys {
			found := false
			for _, c := range on {
				for _, v := range r.equatedColumns(c) {
					if v.RTE == rte && v.Attno == int(ix.Keys[i].Attno) && !found {
						found, used[c] = true, true
					}
				}
			}
			if !found {
				return false
			}
		}
		var rest []*clause
		for _, c := range on {
			if !used[c] {
				rest = append(rest, c)
			}
		}
		s := 1 / math.Max(1, r.tableRows(rel))
		if len(rest) > 0 {
			s *= r.selClauses(rest)
		}
		best = math.Max(best, s)
		return false
	})
	return best
}

// equatedColumns are the columns that an equality between relations makes equal, with those that others imply.
func (r *root) equatedColumns(c *clause) (out []*plan.Var) {
	if c.call == nil || c.volatile || rowStrategy(c.call.Op) != pgdata.BTEqual || c.leftRels.empty() || c.rightRels.empty() {
		return nil
	}
	list := c.call.Args
	if c.class != nil {
		list = c.class.members
	}
	for _, e := range list {
		if v, ok := stripText(e).(*plan.Var); ok && v.LevelsUp == 0 && v.RTE < len(r.q.RTable) {
			out = append(out, v)
		}
	}
	return out
}

// plainSelect says whether the query locks and changes nothing: no row of it is ever looked at again by itself.
func (r *root) plainSelect() bool {
	return r.q.Command == plan.CmdSelect && len(r.q.Locks) == 0 && len(r.rowIDs) == 0
}
