package ddl

import (
	"math"

	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func (x *executor) createSequence(s *ast.CreateSequence) error {
	schema, err := x.creationSchema(s.Sequence, s.Persistence == ast.Temporary)
	if err != nil {
		return err
	}
	if exists, err := x.notThere(schema, s.Sequence.Name, s.IfNotExists); exists || err != nil {
		return err
	}
	rel, err := x.newSequence(s.Sequence.Name, schema, x.persistence(s.Persistence, schema), types.Int8OID, &s.Options)
	if err != nil {
		return err
	}
	if s.Options.OwnedBy != nil {
		if err := x.ownedBy(rel, s.Options.OwnedBy); err != nil {
			return err
		}
	}
	if err := x.Writer.CreateRelation(rel); err != nil {
		return err
	}
	return x.noteOwner(rel)
}

// newSequence makes a sequence's descriptor; typ is the type when the options name none.
func (x *executor) newSequence(name string, schema types.OID, persistence byte, typ types.OID, o *ast.SequenceOptions) (*catalog.Relation, error) {
	q := &catalog.Sequence{Type: typ, Increment: 1, Cache: 1}
	if err := x.sequenceParams(q, o, true); err != nil {
		return nil, err
	}
	return &catalog.Relation{Name: name, Schema: schema, Kind: catalog.KindSequence, Owner: x.User.OID, Persistence: persistence,
		Columns: catalog.SequenceColumns(), Sequence: q}, nil
}

// sequenceParams applies options to a sequence's parameters: PostgreSQL's init_params.
func (x *executor) sequenceParams(q *catalog.Sequence, o *ast.SequenceOptions, isNew bool) error {
	resetMax, resetMin := isNew, isNew
	if o.Type != nil {
		typ, _, err := x.typeOf(o.Type)
		if err != nil {
			return err
		}
		switch typ {
		case types.Int2OID, types.Int4OID, types.Int8OID:
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
		}
		if !isNew {
			lo, hi := intRange(q.Type)
			resetMax = q.Max == hi
			resetMin = q.Min == lo
		}
		q.Type = typ
	}
	if o.Increment != nil {
		if q.Increment = *o.Increment; q.Increment == 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
		}
	}
	if o.Cycle != nil {
		q.Cycle = *o.Cycle
	}
	lo, hi := intRange(q.Type)
	switch {
	case o.MaxValue != nil:
		q.Max = *o.MaxValue
	case isNew || o.NoMaxValue || resetMax:
		q.Max = hi
		if q.Increment < 0 {
			q.Max = -1
		}
	}
	switch {
	case o.MinValue != nil:
		q.Min = *o.MinValue
	case isNew || o.NoMinValue || resetMin:
		q.Min = 1
		if q.Increment < 0 {
			q.Min = lo
		}
	}
	return x.checkSequence(q, o, isNew, lo, hi)
}

// checkSequence verifies limits and finds the start value.
func (x *executor) checkSequence(q *catalog.Sequence, o *ast.SequenceOptions, isNew bool, lo, hi int64) error {
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	switch {
	case q.Max < lo || q.Max > hi:
		return bad("MAXVALUE (%d) is out of range for sequence data type %s", q.Max, x.typeText(q.Type))
	case q.Min < lo || q.Min > hi:
		return bad("MINVALUE (%d) is out of range for sequence data type %s", q.Min, x.typeText(q.Type))
	case q.Min >= q.Max:
		return bad("MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	}
	switch {
	case o.Start != nil:
		q.Start = *o.Start
	case isNew && q.Increment > 0:
		q.Start = q.Min
	case isNew:
		q.Start = q.Max
	}
	switch {
	case q.Start < q.Min:
		return bad("START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		return bad("START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	if r := o.RestartAt; r != nil {
		if *r < q.Min {
			return bad("RESTART value (%d) cannot be less than MINVALUE (%d)", *r, q.Min)
		}
		if *r > q.Max {
			return bad("RESTART value (%d) cannot be greater than MAXVALUE (%d)", *r, q.Max)
		}
	}
	if o.Cache != nil {
		if q.Cache = *o.Cache; q.Cache <= 0 {
			return bad("CACHE (%d) must be greater than zero", q.Cache)
		}
	}
	return nil
}

func intRange(t types.OID) (lo, hi int64) {
	switch t {
	case types.Int2OID:
		return math.MinInt16, math.MaxInt16
	case types.Int4OID:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// ownedSequence makes the sequence of a serial or identity column, named table_column_seq.
func (x *executor) ownedSequence(rel *catalog.Relation, attno int16, typ types.OID, o *ast.SequenceOptions) (*catalog.Relation, error) {
	if o == nil {
		o = &ast.SequenceOptions{}
	}
	name, schema := o.Name.Name, rel.Schema
	if name == "" {
		var err error
		if name, err = x.chooseName(rel, []string{rel.Columns[attno-1].Name}, "seq", map[string]bool{}); err != nil {
			return nil, err
		}
	} else if o.Name.Schema != "" {
		var err error
		if schema, err = x.creationSchema(o.Name, false); err != nil {
			return nil, err
		}
	}
	seq, err := x.newSequence(name, schema, rel.Persistence, typ, o)
	if err != nil {
		return nil, err
	}
	seq.Owner = rel.Owner // a column's sequence belongs to the table's owner, whoever adds it
	return seq, x.Writer.CreateRelation(seq)
}

// ownSequence ties a sequence to a column.
func (x *executor) ownSequence(seq, rel types.OID, attno int16, identity bool) error {
	old, err := x.reader().RelationByOID(seq)
	if err != nil || old == nil {
		return err
	}
	now := old.Clone()
	now.Sequence.OwnerRel, now.Sequence.OwnerCol, now.Sequence.Identity = rel, attno, identity
	return x.Writer.UpdateRelation(old, now)
}

// ownedBy applies OWNED BY to a descriptor.
func (x *executor) ownedBy(seq *catalog.Relation, parts []string) error {
	q := seq.Sequence
	if len(parts) == 1 {
		if parts[0] != "none" {
			return sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").WithHint("Specify OWNED BY table.column or OWNED BY NONE.")
		}
		q.OwnerRel, q.OwnerCol = 0, 0
		return nil
	}
	n := ast.Name{Loc: ast.At(ast.NoPos), Name: parts[len(parts)-2]}
	if len(parts) > 2 {
		n.Schema = parts[len(parts)-3]
	}
	rel, err := x.locked(n, lock.AccessShare, false)
	if err != nil {
		return err
	}
	if rel.Kind != catalog.KindTable && rel.Kind != catalog.KindView {
		return sqlerr.New(sqlerr.WrongObjectType, "sequence cannot be owned by relation \"%s\"", rel.Name)
	}
	if rel.Owner != seq.Owner {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "sequence must have same owner as table it is linked to")
	}
	if rel.Schema != seq.Schema {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "sequence must be in same schema as table it is linked to")
	}
	c := rel.ColumnByName(parts[len(parts)-1])
	if c == nil {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", parts[len(parts)-1], rel.Name)
	}
	q.OwnerRel, q.OwnerCol = rel.OID, c.Num
	return nil
}

// noteOwner tells a column about the sequence that it owns now.
func (x *executor) noteOwner(seq *catalog.Relation) error {
	if seq.Sequence.OwnerRel == 0 {
		return nil
	}
	old, err := x.reader().RelationByOID(seq.Sequence.OwnerRel)
	if err != nil || old == nil || old.Column(seq.Sequence.OwnerCol) == nil || old.Column(seq.Sequence.OwnerCol).Sequence != 0 {
		return err
	}
	now := old.Clone()
	now.Columns[seq.Sequence.OwnerCol-1].Sequence = seq.OID
	return x.Writer.UpdateRelation(old, now)
}

func (x *executor) alterSequence(s *ast.AlterSequence) error {
	rel, err := x.locked(s.Sequence, lock.ShareRowExclusive, s.IfExists)
	if rel == nil || err != nil {
		return err
	}
	if rel.Kind != catalog.KindSequence {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	if err := x.own(rel); err != nil {
		return err
	}
	now := rel.Clone()
	if s.Options.OwnedBy != nil && rel.Sequence.Identity {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change ownership of identity sequence").
			WithDetail("Sequence \"%s\" is linked to table \"%s\".", rel.Name, x.relationName(rel.Sequence.OwnerRel))
	}
	if s.Options.OwnedBy != nil {
		if err := x.ownedBy(now, s.Options.OwnedBy); err != nil {
			return err
		}
	}
	if err := x.changeSequence(now, &s.Options); err != nil {
		return err
	}
	if err := x.Writer.UpdateRelation(rel, now); err != nil {
		return err
	}
	return x.noteOwner(now)
}

func (x *executor) relationName(id types.OID) string {
	rel, err := x.reader().RelationByOID(id)
	if err != nil || rel == nil {
		return ""
	}
	return rel.Name
}

// changeSequence applies options to an existing sequence's clone; RESTART takes effect at once, and not only for this transaction, until a rollback.
func (x *executor) changeSequence(now *catalog.Relation, o *ast.SequenceOptions) error {
	if err := x.sequenceParams(now.Sequence, o, false); err != nil {
		return err
	}
	if !o.Restart {
		return nil
	}
	at := now.Sequence.Start
	if o.RestartAt != nil {
		at = *o.RestartAt
	}
	return x.Sequences.RestartSequence(uint32(now.OID), at)
}
