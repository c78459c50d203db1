package planner

import (
	"math"

	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/types"
)

// A histogram with fewer bounds says nothing about the part of its values that a pattern matches.
const minLikeSample = 10

// selPattern estimates l LIKE rt from the most common values and from the histogram's bounds, which are a sample of the rest.
func (r *root) selPattern(l, rt plan.Expr) float64 {
	st := r.columnStats(l)
	c, ok := stripRelabel(rt).(*plan.Const)
	if st == nil || !ok || c.Value.Null || types.KindOf(c.Type) != types.KindBytes || !isText(l.T().Type) && l.T().Type != types.BPCharOID {
		return selLike
	}
	match, err := funcs.LikeMatcher(c.Value.B)
	if err != nil {
		return selLike
	}
	s, common := 0.0, 0.0
	for i, m := range st.MCV {
		common += st.MCVFreqs[i]
		if match(m.B) {
			s += st.MCVFreqs[i]
		}
	}
	part := selLike
	if n := len(st.Histogram); n >= minLikeSample {
		hits := 0.0
		for _, h := range st.Histogram {
			if match(h.B) {
				hits++
			}
		}
		// No bound or every bound matching is no proof.
		part = math.Min(math.Max(hits/float64(n), selLike), 1-selLike)
	}
	return s + part*math.Max(0, 1-common-st.NullFrac)
}
