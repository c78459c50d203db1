package catalog

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

func init() {
	producers = map[string]userRows{
		"pg_class": classRows, "pg_attribute": attributeRows, "pg_index": indexRows, "pg_constraint": constraintRows,
		"pg_attrdef": attrdefRows, "pg_sequence": sequenceRows, "pg_rewrite": rewriteRows, "pg_statistic": statisticRows,
		"pg_type": typeRows, "pg_enum": enumRows, "pg_proc": procRows, "pg_namespace": namespaceRows,
		"pg_depend": dependRows, "pg_description": descriptionRows, "pg_shdescription": sharedDescriptionRows,
		"pg_authid": authidRows, "pg_auth_members": memberRows, "pg_database": databaseRows,
		"pg_db_role_setting": roleSettingRows, "pg_default_acl": defaultACLRows,
	}
}

// estimatedPages guesses a relation's size in PostgreSQL's pages of 8 KiB.
func estimatedPages(rel *Relation, rows int64) int64 {
	if rel.Stats != nil && rel.Stats.Pages > 0 {
		return int64(rel.Stats.Pages)
	}
	width := int64(32)
	for i := range rel.Columns {
		if w := types.FixedWidth(rel.Columns[i].Type); w > 0 {
			width += int64(w)
		} else {
			width += 32
		}
	}
	return (rows*width + 8191) / 8192
}

func classRows(s *scan) (func() (bool, error), error) {
	if schema, ok := s.pinnedOID(3); ok {
		if name, ok := s.pinned(2); ok {
			rel, err := s.r.RelationByName(schema, string(name.B))
			if rel == nil || err != nil || rel.OID < pgdata.FirstUserOID {
				return nil, err
			}
			table, err := s.tableOf(rel.OID)
			return once(func() error { return s.emitClass(table) }), err
		}
		if schema < pgdata.FirstUserOID && schema != pgdata.PublicSchema {
			return nil, nil
		}
		var ids []types.OID
		err := s.r.RelationsInSchema(schema, func(rel *Relation) bool { ids = append(ids, rel.OID); return true })
		return overIDs(ids, func(id types.OID) error {
			rel, err := s.r.RelationByOID(id)
			if rel == nil || err != nil {
				return err
			}
			return s.emitClass(rel)
		}), err
	}
	if name, ok := s.pinned(2); ok {
		return s.classesNamed(string(name.B))
	}
	return s.overRelations(s.emitClass, 1)
}

// classesNamed makes the rows of the relations that have a name, one in each schema at most. They come with those of their tables
// or indexes, which emit drops.
func (s *scan) classesNamed(name string) (func() (bool, error), error) {
	schemas, err := s.r.Schemas()
	if err != nil {
		return nil, err
	}
	var ids []types.OID
	for _, x := range schemas {
		rel, err := s.r.RelationByName(x.OID, name)
		if err != nil {
			return nil, err
		}
		if rel != nil && rel.OID >= pgdata.FirstUserOID {
			ids = append(ids, rel.OID)
		}
	}
	return overIDs(ids, func(id types.OID) error {
		table, err := s.tableOf(id)
		if table == nil || err != nil {
			return err
		}
		return s.emitClass(table)
	}), nil
}

// emitClass emits a relation's row and those of its indexes.
func (s *scan) emitClass(rel *Relation) error {
	if err := s.emitClassRow(rel, rel); err != nil {
		return err
	}
	for _, x := range rel.AllIndexes() {
		if err := s.emitClassRow(indexRelation(rel, x), rel); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) emitClassRow(rel, table *Relation) error {
	acl, err := s.aclD(31, rel.ACL)
	if err != nil {
		return err
	}
	isTable := rel.Kind == KindTable || rel.Kind == KindMatView
	am, file := types.OID(0), rel.OID
	var rows, pages int64
	switch rel.Kind {
	case KindTable, KindMatView:
		am = pgdata.Heap
		rows = s.r.RowCount(table)
		pages = estimatedPages(rel, rows)
	case KindIndex:
		am = pgdata.BTree
		rows = s.r.RowCount(rel)
		pages = estimatedPages(rel, rows) + 1
	case KindSequence:
		rows, pages = 1, 1
	default:
		file = 0
	}
	checks := 0
	for _, k := range rel.Constraints {
		if k.Type == 'c' {
			checks++
		}
	}
	triggers := len(rel.ReferencedBy) > 0
	for _, k := range rel.Constraints {
		triggers = triggers || k.Type == 'f'
	}
	ident := byte('n')
	if isTable {
		ident = 'd'
	}
	s.emit(oidD(rel.OID), textD(rel.Name), oidD(rel.Schema), oidD(rel.RowType), oidD(0), oidD(rel.Owner), oidD(am), oidD(file),
		oidD(0), intD(pages), floatD(float64(float32(rows))), intD(pages), oidD(0), boolD(len(rel.AllIndexes()) > 0), boolD(false),
		charD(rel.Persistence), charD(rel.Kind), intD(len(rel.Columns)), intD(checks), boolD(rel.Kind == KindView || rel.Kind == KindMatView),
		boolD(triggers), boolD(false), boolD(false), boolD(false), boolD(!rel.Unpopulated), charD(ident), boolD(false), oidD(0),
		intD(0), intD(0), acl, listD(types.TextOID, rel.Options, textD), nullD)
	return nil
}

// systemColumns are the columns that every table has.
var systemColumns = []struct {
	num  int16
	name string
	typ  types.OID
}{
	{-1, "ctid", types.TIDOID}, {-2, "xmin", types.XIDOID}, {-3, "cmin", types.CIDOID},
	{-4, "xmax", types.XIDOID}, {-5, "cmax", types.CIDOID}, {-6, "tableoid", types.OIDOID},
}

func attributeRows(s *scan) (func() (bool, error), error) {
	id, one := s.pinnedOID(1)
	return s.overRelations(func(rel *Relation) error {
		if !one || id == rel.OID {
			if err := s.emitAttributes(rel); err != nil {
				return err
			}
		}
		for _, x := range rel.AllIndexes() {
			if !one || id == x.OID {
				if err := s.emitAttributes(indexRelation(rel, x)); err != nil {
					return err
				}
			}
		}
		return nil
	}, 1)
}

func (s *scan) emitAttributes(rel *Relation) error {
	for i := range rel.Columns {
		if err := s.emitAttribute(rel, &rel.Columns[i]); err != nil {
			return err
		}
	}
	if rel.Kind != KindTable && rel.Kind != KindMatView && rel.Kind != KindSequence {
		return nil
	}
	for _, c := range systemColumns {
		t := pgdata.TypeByOID(c.typ)
		s.emit(oidD(rel.OID), textD(c.name), oidD(c.typ), intD(0), intD(t.Len), intD(c.num), intD(0), intD(-1), intD(-1),
			boolD(t.ByVal), charD(t.Align), charD(t.Storage), charD(byte(0)), boolD(true), boolD(false), boolD(false),
			charD(byte(0)), charD(byte(0)), boolD(false), boolD(true), intD(0), oidD(0), nullD, nullD, nullD, nullD)
	}
	return nil
}

func (s *scan) emitAttribute(rel *Relation, c *Column) error {
	acl, err := s.aclD(23, c.ACL)
	if err != nil {
		return err
	}
	name, typ := c.Name, c.Type
	var t *Type
	if c.Dropped {
		name, typ = "........pg.dropped."+itoa(int(c.Num))+"........", 0
		t = &Type{Len: -1, Align: 'i', Storage: 'x'}
	} else if t, err = s.r.TypeByOID(c.Type); err != nil {
		return err
	} else if t == nil {
		t = &Type{Len: -1, Align: 'i', Storage: 'x'}
	}
	generated := byte(0)
	if c.Generated != "" {
		generated = 's'
	}
	missing := nullD
	if c.Missing != nil && !c.Missing.Null && s.wants(26) {
		missing = types.Bytes(types.MakeArray(c.Type, []types.Datum{*c.Missing}))
	}
	target, storage := -1, t.Storage
	s.emit(oidD(rel.OID), textD(name), oidD(typ), intD(target), intD(t.Len), intD(c.Num), intD(c.Dims), intD(-1), intD(c.Typmod),
		boolD(t.ByVal), charD(t.Align), charD(storage), charD(byte(0)), boolD(c.NotNull), boolD(c.Default != "" || c.Generated != ""),
		boolD(!missing.Null), charD(c.Identity), charD(generated), boolD(c.Dropped), boolD(true), intD(0), oidD(c.Collation),
		acl, nullD, nullD, missing)
	return nil
}

func indexRows(s *scan) (func() (bool, error), error) {
	return s.overRelations(func(rel *Relation) error {
		for _, x := range rel.AllIndexes() {
			s.emitIndex(rel, x)
		}
		return nil
	}, 1, 2)
}

func (s *scan) emitIndex(rel *Relation, x *Index) {
	var attnos, options []int16
	var collations, classes []types.OID
	exprs := ""
	for _, k := range x.Keys {
		attnos = append(attnos, k.Attno)
		collations = append(collations, k.Collation)
		classes = append(classes, k.OpClass)
		option := int16(0)
		if k.Desc {
			option |= 1
		}
		if k.NullsFirst {
			option |= 2
		}
		options = append(options, option)
		if k.Attno == 0 {
			if exprs != "" {
				exprs += ", "
			}
			exprs += k.Expr
		}
	}
	attnos = append(attnos, x.Include...)
	valid := x.State == IndexValid
	s.emit(oidD(x.OID), oidD(rel.OID), intD(len(attnos)), intD(len(x.Keys)), boolD(x.Unique), boolD(x.NullsNotDistinct),
		boolD(x.Primary), boolD(false), boolD(!x.Deferrable), boolD(false), boolD(valid), boolD(false), boolD(x.State != IndexInvalid), boolD(true),
		boolD(false), vectorD(types.Int2OID, attnos, intD[int16]), vectorD(types.OIDOID, collations, oidD),
		vectorD(types.OIDOID, classes, oidD), vectorD(types.Int2OID, options, intD[int16]), optD(exprs), optD(x.Pred))
}

func constraintRows(s *scan) (func() (bool, error), error) {
	if ref, ok := s.pinnedOID(12); ok && ref != 0 {
		return s.referencing(ref)
	}
	if id, ok := s.pinnedOID(1); ok {
		rel, _, err := s.r.ConstraintByOID(id)
		if err != nil {
			return nil, err
		}
		if rel != nil {
			return once(func() error { s.emitConstraints(rel); return nil }), nil
		}
		return once(s.emitTypeChecks), nil
	}
	if typ, ok := s.pinnedOID(9); ok && typ != 0 {
		return once(func() error {
			t, err := s.r.TypeByOID(typ)
			if t != nil && t.OID >= pgdata.FirstUserOID {
				s.emitChecks(t)
			}
			return err
		}), nil
	}
	table, one := s.pinnedOID(8)
	if one && table == 0 {
		return once(s.emitTypeChecks), nil
	}
	tables, err := s.overRelations(func(rel *Relation) error { s.emitConstraints(rel); return nil }, 8)
	if one || err != nil {
		return tables, err
	}
	return func() (bool, error) {
		more, err := tables()
		if more || err != nil {
			return more, err
		}
		return false, s.emitTypeChecks()
	}, nil
}

// referencing emits the constraints of tables that reference a table.
func (s *scan) referencing(ref types.OID) (func() (bool, error), error) {
	if ref < pgdata.FirstUserOID {
		return nil, nil
	}
	rel, err := s.r.RelationByOID(ref)
	if rel == nil || err != nil {
		return nil, err
	}
	seen := map[types.OID]bool{}
	return overIDs(rel.ReferencedByRel, func(id types.OID) error {
		child, err := s.r.RelationByOID(id)
		if child != nil && !seen[id] {
			s.emitConstraints(child)
		}
		seen[id] = true
		return err
	}), nil
}

func (s *scan) emitTypeChecks() error {
	return s.r.UserTypes(func(t *Type) bool { s.emitChecks(t); return true })
}

// emitChecks emits the constraints of a domain.
func (s *scan) emitChecks(t *Type) {
	blank := charD(byte(' '))
	for _, k := range t.Checks {
		s.emit(oidD(k.OID), textD(k.Name), oidD(t.Namespace), charD(byte('c')), boolD(false), boolD(false), boolD(k.Validated),
			oidD(0), oidD(t.OID), oidD(0), oidD(0), oidD(0), blank, blank, blank, boolD(true), intD(0), boolD(false),
			nullD, nullD, nullD, nullD, nullD, nullD, nullD, textD(k.Expr))
	}
}

func (s *scan) emitConstraints(rel *Relation) {
	for _, k := range rel.Constraints {
		upd, del, match := byte(' '), byte(' '), byte(' ')
		eq, refCols, delCols := nullD, nullD, nullD
		if k.Type == 'f' {
			upd, del, match = k.OnUpdate, k.OnDelete, k.Match
			eq = listD(types.OIDOID, k.EqOps, oidD)
			refCols = listD(types.Int2OID, k.RefCols, intD[int16])
			delCols = listD(types.Int2OID, k.OnDeleteCols, intD[int16])
		}
		s.emit(oidD(k.OID), textD(k.Name), oidD(rel.Schema), charD(k.Type), boolD(k.Deferrable), boolD(k.InitiallyDeferred),
			boolD(k.Validated), oidD(rel.OID), oidD(0), oidD(k.Index), oidD(0), oidD(k.Ref), charD(upd), charD(del), charD(match),
			boolD(true), intD(0), boolD(k.NoInherit || k.Type != 'c'), listD(types.Int2OID, k.Cols, intD[int16]), refCols,
			eq, eq, eq, delCols, nullD, optD(k.Expr))
	}
}

func attrdefRows(s *scan) (func() (bool, error), error) {
	return s.overRelations(func(rel *Relation) error {
		for i := range rel.Columns {
			c := &rel.Columns[i]
			expr := c.Default
			if c.Generated != "" {
				expr = c.Generated
			}
			if expr != "" && !c.Dropped {
				s.emit(oidD(c.DefaultOID), oidD(rel.OID), intD(c.Num), textD(expr))
			}
		}
		return nil
	}, 2)
}

func sequenceRows(s *scan) (func() (bool, error), error) {
	return s.overRelations(func(rel *Relation) error {
		if q := rel.Sequence; q != nil {
			s.emit(oidD(rel.OID), oidD(q.Type), intD(q.Start), intD(q.Increment), intD(q.Max), intD(q.Min), intD(q.Cache), boolD(q.Cycle))
		}
		return nil
	}, 1)
}

func rewriteRows(s *scan) (func() (bool, error), error) {
	return s.overRelations(func(rel *Relation) error {
		if rel.RuleOID != 0 {
			s.emit(oidD(rel.RuleOID), textD("_RETURN"), oidD(rel.OID), charD(byte('1')), charD(byte('O')), boolD(true), nullD, textD(rel.ViewDef))
		}
		return nil
	}, 3)
}

func statisticRows(s *scan) (func() (bool, error), error) {
	return s.overRelations(func(rel *Relation) error {
		for i := range rel.Columns {
			if c := &rel.Columns[i]; c.Stats != nil && !c.Dropped {
				if err := s.emitStatistic(rel, c); err != nil {
					return err
				}
			}
		}
		return nil
	}, 1)
}

// emitStatistic emits a column's statistics in PostgreSQL's slots: 1 most common values,
// 2 histogram, 3 correlation.
func (s *scan) emitStatistic(rel *Relation, c *Column) error {
	st := c.Stats
	lookup := func(id types.OID) *Type { t, _ := s.r.TypeByOID(id); return t }
	less, equal, _ := pgdata.SortOperators(c.Type, lookup)
	kinds, ops, colls := make([]types.Datum, 5), make([]types.Datum, 5), make([]types.Datum, 5)
	numbers, values := make([]types.Datum, 5), make([]types.Datum, 5)
	for i := range 5 {
		kinds[i], ops[i], colls[i], numbers[i], values[i] = intD(0), oidD(0), oidD(0), nullD, nullD
	}
	n := 0
	add := func(kind int, op types.OID, nums []float64, vals []types.Datum) {
		kinds[n], ops[n], colls[n] = intD(kind), oidD(op), oidD(c.Collation)
		numbers[n] = listD(types.Float4OID, nums, floatD)
		if vals != nil {
			values[n] = types.Bytes(types.MakeArray(c.Type, vals))
		}
		n++
	}
	if len(st.MCV) > 0 {
		add(1, equal, st.MCVFreqs, st.MCV)
	}
	if len(st.Histogram) > 0 {
		add(2, less, nil, st.Histogram)
	}
	if less != 0 {
		add(3, less, []float64{st.Correlation}, nil)
	}
	row := []types.Datum{oidD(rel.OID), intD(c.Num), boolD(false), floatD(st.NullFrac), intD(st.AvgWidth), floatD(st.NDistinct)}
	for _, part := range [][]types.Datum{kinds, ops, colls, numbers, values} {
		row = append(row, part...)
	}
	s.emit(row...)
	return nil
}

// sequenceTable reads a sequence's state: SELECT last_value, log_cnt, is_called FROM seq.
type sequenceTable struct{ id types.OID }

// Paths implements VirtualTable.
func (sequenceTable) Paths() []AccessPath { return nil }

// Scan implements VirtualTable.
func (t sequenceTable) Scan(env VirtualEnv, _ int, _ []types.Datum, _ []bool) (RowIter, error) {
	last, logged, called, err := env.Server().SequenceState(t.id)
	return &sequenceRow{last: last, logged: logged, called: called}, err
}

type sequenceRow struct {
	last, logged int64
	called, done bool
}

// Next implements RowIter.
func (r *sequenceRow) Next(dst []types.Datum) (bool, error) {
	if r.done {
		return false, nil
	}
	r.done = true
	dst[0], dst[1], dst[2] = intD(r.last), intD(r.logged), boolD(r.called)
	return true, nil
}

// SequenceColumns are the columns of a sequence's relation.
func SequenceColumns() []Column {
	return []Column{
		{Num: 1, Name: "last_value", Type: types.Int8OID, Typmod: -1, NotNull: true},
		{Num: 2, Name: "log_cnt", Type: types.Int8OID, Typmod: -1, NotNull: true},
		{Num: 3, Name: "is_called", Type: types.BoolOID, Typmod: -1, NotNull: true},
	}
}
