package session

import (
	"math"
	"sort"

	"herd/engine/lock"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// Sample sizes of ANALYZE, as PostgreSQL's at statistics target 100.
const (
	analyzeRows   = 30000
	analyzeValues = 100 // most common values and histogram bounds
)

// analyze gathers the statistics of a table in the current transaction. One that was dropped meanwhile is missed when named.
func (s *Session) analyze(rel *catalog.Relation, named bool) error {
	if s.replica {
		return sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute ANALYZE during recovery")
	}
	if err := s.tx.LockTable(uint32(rel.OID), lock.ShareUpdateExclusive, lock.Wait); err != nil {
		return err
	}
	s.tx.Newest() // who held the lock may have rewritten or dropped the table
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	id := rel.OID
	name := rel.Name
	if rel, err = cat.RelationByOID(id); err != nil {
		return err
	}
	if rel == nil && named {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
	} else if rel == nil {
		return nil
	}
	sample, total, err := s.sampleRows(rel)
	if err != nil {
		return err
	}
	cols := make(map[int16]*catalog.ColumnStats)
	layout := rel.Layout()
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Dropped {
			continue
		}
		values := make([]types.Datum, 0, len(sample))
		for _, row := range sample {
			d, err := layout.Decode(row, i, nil)
			if err != nil {
				continue // a value kept out of line: its table has no use for it in a histogram
			}
			values = append(values, d)
		}
		if st := columnStats(c, values, total); st != nil {
			cols[c.Num] = st
		}
	}
	w := s.catalogWriter()
	size := float64(0)
	for _, r := range sample {
		size += float64(len(r))
	}
	if len(sample) > 0 {
		size = size / float64(len(sample)) * total
	}
	return w.SetStats(rel, catalog.RelStats{Rows: total, Pages: math.Ceil(size / 8192)}, cols, nil)
}

// sampleRows reads every row of a small table and evenly spread stretches of a large one.
func (s *Session) sampleRows(rel *catalog.Relation) ([][]byte, float64, error) {
	view := s.tx.BeginStatement()
	total := view.Count(rel.TreeID)
	var sample [][]byte
	take := func(lo, hi []byte, limit int) error {
		var c storage.Cursor
		c.Init(view, rel.TreeID, lo, hi, false)
		defer c.Close()
		for n := 0; (limit == 0 || n < limit) && c.Next(); n++ {
			if n%1000 == 999 {
				if err := s.interrupt(); err != nil {
					return err
				}
			}
			sample = append(sample, append([]byte(nil), c.Value()...))
		}
		return c.Err()
	}
	if total <= 2*analyzeRows {
		err := take(nil, nil, 0)
		return sample, float64(total), err
	}
	const parts = 300
	borders, err := view.Snap.Split(rel.TreeID, nil, nil, parts)
	if err != nil {
		return nil, 0, err
	}
	per := analyzeRows/(len(borders)+1) + 1
	var lo []byte
	for i := 0; i <= len(borders); i++ {
		var hi []byte
		if i < len(borders) {
			hi = borders[i]
		}
		if err := take(lo, hi, per); err != nil {
			return nil, 0, err
		}
		lo = hi
	}
	return sample, float64(total), nil
}

// columnStats computes one column's statistics from a sample of its values.
func columnStats(c *catalog.Column, values []types.Datum, total float64) *catalog.ColumnStats {
	if len(values) == 0 {
		return nil
	}
	st := &catalog.ColumnStats{}
	live := values[:0:0]
	width := 0
	for _, v := range values {
		if v.Null {
			continue
		}
		live = append(live, v)
		width += len(v.B)
	}
	n := float64(len(values))
	st.NullFrac = 1 - float64(len(live))/n
	if len(live) == 0 {
		return st
	}
	st.AvgWidth = 8
	if types.KindOf(c.Type) == types.KindBytes {
		st.AvgWidth = width/len(live) + 1
	}
	if less, _, _ := pgdata.SortOperators(c.Type, nil); less == 0 {
		return st // a type without an order, json for one
	}
	order := make([]int, len(live))
	for i := range order {
		order[i] = i
	}
	cmp := func(a, b types.Datum) int { return types.Compare(c.Type, c.Collation, a, b) }
	sort.SliceStable(order, func(i, j int) bool { return cmp(live[order[i]], live[order[j]]) < 0 })
	st.Correlation = correlation(order)
	fillDistribution(st, live, order, cmp, n, total)
	return st
}

// correlation of physical and logical order, from -1 to 1.
func correlation(order []int) float64 {
	n := float64(len(order))
	if n < 2 {
		return 1
	}
	sum := 0.0
	for rank, pos := range order {
		sum += float64(rank) * float64(pos)
	}
	mean := (n - 1) / 2
	variance := (n*n - 1) / 12
	return (sum/n - mean*mean) / variance
}

type valueRun struct {
	first, count int // position in the sorted order
}

// fillDistribution finds distinct counts, most common values and a histogram of the rest.
func fillDistribution(st *catalog.ColumnStats, live []types.Datum, order []int, cmp func(a, b types.Datum) int, sampled, total float64) {
	var runs []valueRun
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && cmp(live[order[i]], live[order[j]]) == 0 {
			j++
		}
		runs = append(runs, valueRun{i, j - i})
		i = j
	}
	once := 0
	for _, r := range runs {
		if r.count == 1 {
			once++
		}
	}
	st.NDistinct = distinctEstimate(float64(len(runs)), float64(once), float64(len(live)), total*(1-st.NullFrac), total)
	mcv := mostCommon(runs, len(live))
	common := make(map[int]bool, len(mcv))
	for _, r := range mcv {
		st.MCV = append(st.MCV, live[order[r.first]])
		st.MCVFreqs = append(st.MCVFreqs, float64(r.count)/sampled)
		common[r.first] = true
	}
	var rest []int
	for _, r := range runs {
		if !common[r.first] {
			for k := range r.count {
				rest = append(rest, order[r.first+k])
			}
		}
	}
	if len(runs)-len(mcv) < 2 {
		return
	}
	bounds := min(analyzeValues+1, len(rest))
	for i := range bounds {
		st.Histogram = append(st.Histogram, live[rest[i*(len(rest)-1)/(bounds-1)]])
	}
}

// mostCommon picks the values that are clearly more frequent than the average.
func mostCommon(runs []valueRun, n int) []valueRun {
	list := append([]valueRun(nil), runs...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].count > list[j].count })
	if len(list) <= analyzeValues && list[len(list)-1].count > 1 {
		return list
	}
	average := float64(n) / float64(len(runs))
	out := list[:0]
	for _, r := range list {
		if len(out) == analyzeValues || r.count < 2 || float64(r.count) < 1.25*average {
			break
		}
		out = append(out, r)
	}
	return out
}

// distinctEstimate is the Duj1 estimator of Haas and Stokes that PostgreSQL uses; the result follows pg_stats: positive a
// count, negative a fraction of the rows.
func distinctEstimate(distinct, once, sampled, rows, total float64) float64 {
	if total == 0 {
		return 0
	}
	est := distinct
	if sampled < rows {
		est = sampled * distinct / (sampled - once + once*sampled/rows)
	}
	est = math.Floor(min(max(est, distinct), rows) + 0.5)
	if est > 0.1*total {
		return -est / total
	}
	return est
}
