package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog"
)

// fastPath recognises the named point paths: one table by its full primary key, one VALUES row, a short range with LIMIT.
func (ps *planState) fastPath(n plan.Node) *plan.FastPath {
	p := ps.out
	if len(p.InitPlans) > 0 || len(p.CTEs) > 0 || p.ExecParams > 0 {
		return nil
	}
	switch x := n.(type) {
	case *plan.ModifyTable:
		return fastModify(x)
	case *plan.Limit:
		return fastRange(x)
	}
	scan, attnos := projectedScan(n)
	if scan == nil || scan.Filter != nil {
		return nil
	}
	key := fullKey(scan)
	if key == nil {
		return nil
	}
	return &plan.FastPath{Kind: plan.FastGet, Rel: scan.Rel, Key: key, Attnos: attnos}
}

// projectedScan looks through a projection of plain columns.
func projectedScan(n plan.Node) (*plan.Scan, []int16) {
	if s, ok := n.(*plan.Scan); ok {
		if !userColumns(s.Attnos) || s.RowID {
			return nil, nil
		}
		return s, s.Attnos
	}
	p, ok := n.(*plan.Project)
	if !ok {
		return nil, nil
	}
	s, ok := p.Input.(*plan.Scan)
	if !ok || s.RowID {
		return nil, nil
	}
	attnos := make([]int16, len(p.Exprs))
	for i, e := range p.Exprs {
		sl, ok := e.(*plan.Slot)
		if !ok {
			return nil, nil
		}
		attnos[i] = s.Attnos[sl.Index]
	}
	if !userColumns(attnos) {
		return nil, nil
	}
	return s, attnos
}

func userColumns(attnos []int16) bool {
	for _, a := range attnos {
		if a <= 0 {
			return false
		}
	}
	return len(attnos) > 0
}

// pointValue says whether a key value is a constant or parameter.
func pointValue(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.Const, *plan.Param:
		return true
	case *plan.Relabel:
		return pointValue(x.Arg)
	}
	return false
}

// fullKey returns the values of the whole primary key that a scan is restricted to, nil when it is not.
func fullKey(s *plan.Scan) []plan.Expr {
	if len(s.Ranges) != 1 || s.Rel.PrimaryKey == nil || s.Rel.HiddenRowID {
		return nil
	}
	r := &s.Ranges[0]
	if r.In >= 0 || r.Lo != nil || r.Hi != nil || len(r.Eq) != len(s.Rel.PrimaryKey.Keys) {
		return nil
	}
	for _, e := range r.Eq {
		if e == nil || !pointValue(e) {
			return nil
		}
	}
	return r.Eq
}

// uniqueScan says whether a node yields at most one row because it reads one primary key.
func uniqueScan(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Project:
		return uniqueScan(x.Input)
	case *plan.Scan:
		return len(x.Ranges) == 1 && x.Ranges[0].In < 0 && x.Rel.PrimaryKey != nil && !x.Rel.HiddenRowID && len(x.Ranges[0].Eq) == len(x.Rel.PrimaryKey.Keys)
	}
	return false
}

func fastRange(l *plan.Limit) *plan.FastPath {
	if l.WithTies || l.Offset != nil || l.Count == nil || !pointValue(l.Count) {
		return nil
	}
	s, attnos := projectedScan(l.Input)
	if s == nil || s.Filter != nil || len(s.Ranges) != 1 || s.Rel.PrimaryKey == nil || s.Rel.HiddenRowID {
		return nil
	}
	r := &s.Ranges[0]
	if r.In >= 0 || r.Lo == nil && r.Hi == nil {
		return nil
	}
	for _, e := range r.Eq {
		if e == nil || !pointValue(e) {
			return nil
		}
	}
	for _, b := range [2]*plan.Bound{r.Lo, r.Hi} {
		if b == nil {
			continue
		}
		for _, e := range b.Exprs {
			if !pointValue(e) {
				return nil
			}
		}
	}
	return &plan.FastPath{Kind: plan.FastRange, Rel: s.Rel, Key: r.Eq, Attnos: attnos, Lo: r.Lo, Hi: r.Hi, Limit: l.Count, Reverse: s.Reverse}
}

// plainExpr says whether an expression needs only parameters and the row.
func plainExpr(e plan.Expr) bool {
	return !find(e, func(x plan.Expr) bool {
		switch x.(type) {
		case *plan.SubPlan, *plan.ExecParam:
			return true
		}
		return false
	})
}

func fastModify(m *plan.ModifyTable) *plan.FastPath {
	if len(m.Returning) > 0 || m.Rel.PrimaryKey == nil || m.Rel.HiddenRowID || m.OnConflict != nil {
		return nil
	}
	switch m.Command {
	case plan.CmdInsert:
		return fastInsert(m)
	case plan.CmdDelete:
		s, ok := m.Input.(*plan.Scan)
		if p, isP := m.Input.(*plan.Project); isP {
			s, ok = p.Input.(*plan.Scan)
		}
		if !ok || s.Filter != nil {
			return nil
		}
		if key := fullKey(s); key != nil {
			return &plan.FastPath{Kind: plan.FastDelete, Rel: m.Rel, Key: key, Modify: m}
		}
	case plan.CmdUpdate:
		return fastUpdate(m)
	}
	return nil
}

func fastInsert(m *plan.ModifyTable) *plan.FastPath {
	v, ok := m.Input.(*plan.Values)
	if !ok || len(v.Lists) != 1 {
		return nil
	}
	row := make([]plan.Expr, len(m.Rel.Columns))
	for i, e := range v.Lists[0] {
		if !plainExpr(e) {
			return nil
		}
		row[m.SetAttnos[i]-1] = e
	}
	return &plan.FastPath{Kind: plan.FastInsert, Rel: m.Rel, Row: row, Modify: m}
}

func fastUpdate(m *plan.ModifyTable) *plan.FastPath {
	p, ok := m.Input.(*plan.Project)
	if !ok {
		return nil
	}
	s, ok := p.Input.(*plan.Scan)
	if !ok || s.Filter != nil || len(p.Exprs) != len(m.SetAttnos)+1 || keyAssigned(m.Rel, m.SetAttnos) {
		return nil
	}
	key := fullKey(s)
	if key == nil {
		return nil
	}
	f := &plan.FastPath{Kind: plan.FastUpdate, Rel: m.Rel, Key: key, SetAttnos: m.SetAttnos, Modify: m}
	for _, e := range p.Exprs[:len(m.SetAttnos)] {
		if !plainExpr(e) {
			return nil
		}
		system := false
		x := rewrite(e, func(x plan.Expr) plan.Expr {
			sl, ok := x.(*plan.Slot)
			if !ok {
				return x
			}
			if sl.Index >= len(s.Attnos) || s.Attnos[sl.Index] <= 0 {
				system = true
				return x
			}
			return &plan.Slot{Typed: sl.Typed, Index: int(s.Attnos[sl.Index]) - 1}
		})
		if system {
			return nil
		}
		f.Set = append(f.Set, x)
	}
	return f
}

func keyAssigned(rel *catalog.Relation, attnos []int16) bool {
	for i := range rel.PrimaryKey.Keys {
		for _, a := range attnos {
			if rel.PrimaryKey.Keys[i].Attno == a {
				return true
			}
		}
	}
	return false
}
