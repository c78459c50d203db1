package exec

import "herd/sql/catalog"

// largeFactor tells the sum of a table's large values from that of its rows. It is odd: no difference is lost.
const largeFactor = 0x9E3779B97F4A7C15

// TableSum implements funcs.Tables. Both figures lie ready in the roots of the table's trees; only the rows that the
// transaction itself has changed are looked at.
func (env *Env) TableSum(rel *catalog.Relation) (rows int64, sum uint64, err error) {
	if rows, sum, err = env.View.Sum(rel.TreeID, env.Interrupt); err != nil || rel.LargeTree == 0 {
		return rows, sum, err
	}
	_, large, err := env.View.Sum(rel.LargeTree, env.Interrupt)
	return rows, sum + largeFactor*large, err
}
