package catalog

import (
	"herd/sql/types"
)

// tableStats is what treeStats holds for a table: its own figures, its columns' and its indexes'.
type tableStats struct {
	rel     RelStats
	columns []numberedStats
	indexes []indexStats
}

type numberedStats struct {
	num int16
	st  ColumnStats
}

type indexStats struct {
	id types.OID
	st RelStats
}

func (c *codec) tableStats(v *tableStats) {
	c.frame(func() {
		c.relStats(&v.rel)
		list(c, &v.columns, func(c *codec, n *numberedStats) {
			signed(c, &n.num)
			c.columnStats(&n.st)
		})
		list(c, &v.indexes, func(c *codec, n *indexStats) {
			unsigned(c, &n.id)
			c.relStats(&n.st)
		})
	})
}

// decodeStats puts statistics into a descriptor that is being made.
func decodeStats(val []byte, rel *Relation) error {
	var s tableStats
	if err := decode(val, func(c *codec) { c.tableStats(&s) }); err != nil {
		return err
	}
	rel.Stats = &s.rel
	for i := range s.columns {
		if n := s.columns[i].num; n >= 1 && int(n) <= len(rel.Columns) {
			rel.Columns[n-1].Stats = &s.columns[i].st
		}
	}
	for i := range s.indexes {
		for _, x := range rel.AllIndexes() {
			if x.OID == s.indexes[i].id {
				x.Stats = &s.indexes[i].st
			}
		}
	}
	return nil
}

// SetStats stores what ANALYZE found: columns maps attribute numbers to statistics; a column
// that is not mentioned keeps what it has. indexes maps index identifiers to their figures.
func (w *Writer) SetStats(rel *Relation, st RelStats, columns map[int16]*ColumnStats, indexes map[types.OID]RelStats) error {
	s := tableStats{rel: st}
	for i := range rel.Columns {
		c := &rel.Columns[i]
		have := c.Stats
		if found, ok := columns[c.Num]; ok {
			have = found
		}
		if have != nil && !c.Dropped {
			s.columns = append(s.columns, numberedStats{c.Num, *have})
		}
	}
	for _, x := range rel.AllIndexes() {
		if found, ok := indexes[x.OID]; ok {
			s.indexes = append(s.indexes, indexStats{x.OID, found})
		} else if x.Stats != nil {
			s.indexes = append(s.indexes, indexStats{x.OID, *x.Stats})
		}
	}
	return w.put(treeStats, statsKey(rel.OID), encode(recStats, w.stamp(), func(c *codec) { c.tableStats(&s) }))
}
