package ddl

import (
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// pendingComment is a comment for a column, a constraint or an index of the new table.
type pendingComment struct {
	column            int16
	constraint, index string
	text              string
}

// like copies columns, and what the options say, from another table.
func (b *tableBuild) like(l *ast.LikeClause) error {
	src, err := b.x.find(l.Table)
	if err != nil {
		return err
	}
	if src == nil {
		return b.x.at(l.Off, sqlerr.UndefinedTable, "relation \"%s\" does not exist", l.Table.String())
	}
	switch src.Kind {
	case catalog.KindTable, catalog.KindView, catalog.KindMatView, catalog.KindComposite:
	default:
		return b.x.at(l.Off, sqlerr.WrongObjectType, "relation \"%s\" is invalid in LIKE clause", src.Name)
	}
	attno := map[int16]int16{}
	for i := range src.Columns {
		c := src.Columns[i]
		if c.Dropped {
			continue
		}
		n := catalog.Column{Num: int16(len(b.rel.Columns) + 1), Name: c.Name, Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Dims: c.Dims, NotNull: c.NotNull}
		if err := b.freeColumn(n.Name); err != nil {
			return err
		}
		attno[c.Num] = n.Num
		if l.Options&ast.LikeDefaults != 0 {
			n.Default = c.Default
		}
		b.rel.Columns = append(b.rel.Columns, n)
		if l.Options&ast.LikeIdentity != 0 && c.Identity != 0 {
			if err := b.likeIdentity(&b.rel.Columns[n.Num-1], &c); err != nil {
				return err
			}
		}
		if l.Options&ast.LikeComments != 0 {
			if err := b.likeComment(pendingComment{column: n.Num}, catalog.ClassRelation, src.OID, int32(c.Num)); err != nil {
				return err
			}
		}
	}
	return b.likeParts(src, l.Options, attno)
}

// likeParts copies generated columns, checks and indexes. Texts name columns, and names are the same.
func (b *tableBuild) likeParts(src *catalog.Relation, o ast.LikeOptions, attno map[int16]int16) error {
	for from, to := range attno {
		c, n := src.Column(from), &b.rel.Columns[to-1]
		if o&ast.LikeGenerated != 0 && c.Generated != "" {
			n.Generated, n.Default = c.Generated, ""
		}
		if n.Default != "" || n.Generated != "" {
			if err := b.storedDeps(to); err != nil {
				return err
			}
		}
	}
	if o&ast.LikeConstraints != 0 {
		for _, k := range src.Constraints {
			if k.Type == 'c' {
				if err := b.storedCheck(k); err != nil {
					return err
				}
				if o&ast.LikeComments != 0 {
					if err := b.likeComment(pendingComment{constraint: k.Name}, catalog.ClassConstraint, k.OID, 0); err != nil {
						return err
					}
				}
			}
		}
	}
	if o&ast.LikeIndexes == 0 {
		return nil
	}
	for _, ix := range src.AllIndexes() {
		name, err := b.likeIndex(src, ix, attno)
		if err != nil {
			return err
		}
		if o&ast.LikeComments != 0 {
			if err := b.likeComment(pendingComment{index: name}, catalog.ClassRelation, ix.OID, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// likeIndex copies an index and returns its name.
func (b *tableBuild) likeIndex(src *catalog.Relation, ix *catalog.Index, attno map[int16]int16) (string, error) {
	c := *ix
	c.OID, c.Tree, c.Constraint, c.Rel, c.State = 0, 0, 0, 0, catalog.IndexValid
	c.Keys = append([]catalog.IndexKey(nil), ix.Keys...)
	c.Include = nil
	// The index as a relation has names for its columns, those of expressions included.
	named, err := b.x.reader().RelationByName(src.Schema, ix.Name)
	if err != nil {
		return "", err
	}
	parts := make([]string, 0, len(c.Keys))
	for i := range c.Keys {
		if named != nil && i < len(named.Columns) {
			parts = append(parts, named.Columns[i].Name)
		}
		if c.Keys[i].Attno > 0 {
			c.Keys[i].Attno = attno[c.Keys[i].Attno]
		}
	}
	for _, n := range ix.Include {
		c.Include = append(c.Include, attno[n])
	}
	label, typ := "idx", byte(0)
	switch {
	case ix.Primary:
		label, typ, parts = "pkey", 'p', nil
	case ix.Constraint != 0:
		label, typ = "key", 'u'
	}
	name, err := b.x.chooseName(b.rel, parts, label, b.names)
	if err != nil {
		return "", err
	}
	c.Name = name
	b.names[name] = true
	if c.Primary {
		b.rel.PrimaryKey = &c
	} else {
		b.rel.Indexes = append(b.rel.Indexes, &c)
	}
	if typ != 0 {
		k := &catalog.Constraint{Name: name, Type: typ, Validated: true, Deferrable: ix.Deferrable, InitiallyDeferred: ix.InitiallyDeferred}
		for _, key := range c.Keys {
			k.Cols = append(k.Cols, key.Attno)
		}
		b.rel.Constraints = append(b.rel.Constraints, k)
	}
	return name, nil
}

// likeIdentity makes a column an identity column as another table's is, with a sequence of its own.
func (b *tableBuild) likeIdentity(c, src *catalog.Column) error {
	k := &ast.Constraint{Kind: ast.ConIdentity, Always: src.Identity == 'a'}
	seq, err := b.x.reader().RelationByOID(src.Sequence)
	if err != nil {
		return err
	}
	if seq != nil && seq.Sequence != nil {
		q := seq.Sequence
		bigint := &ast.TypeName{Loc: ast.At(ast.NoPos), Name: ast.Name{Loc: ast.At(ast.NoPos), Schema: "pg_catalog", Name: "int8"}}
		k.Sequence = &ast.SequenceOptions{Type: bigint, Increment: &q.Increment, MinValue: &q.Min, MaxValue: &q.Max, Start: &q.Start, Cache: &q.Cache, Cycle: &q.Cycle}
	}
	return b.identity(c, k)
}

// likeComment notes the comment of a part of another table for the copy of it.
func (b *tableBuild) likeComment(p pendingComment, class, id types.OID, sub int32) error {
	text, err := b.x.reader().Comment(class, id, sub)
	if err != nil || text == "" {
		return err
	}
	p.text = text
	b.comments = append(b.comments, p)
	return nil
}

// addComments stores the comments of a table that has been stored.
func (x *executor) addComments(b *tableBuild) error {
	if len(b.comments) == 0 {
		return nil
	}
	rel, err := x.reader().RelationByOID(b.rel.OID)
	if err != nil {
		return err
	}
	for _, c := range b.comments {
		class, id, sub := types.OID(catalog.ClassRelation), rel.OID, int32(c.column)
		switch {
		case c.constraint != "":
			k := rel.ConstraintByName(c.constraint)
			if k == nil {
				continue
			}
			class, id = catalog.ClassConstraint, k.OID
		case c.index != "":
			id = 0
			for _, ix := range rel.AllIndexes() {
				if ix.Name == c.index {
					id = ix.OID
				}
			}
			if id == 0 {
				continue
			}
		}
		if err := x.Writer.SetComment(class, id, sub, c.text); err != nil {
			return err
		}
	}
	return nil
}
