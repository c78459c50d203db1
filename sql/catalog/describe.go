package catalog

import (
	"fmt"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Object names an object (Sub 0) or a column of a relation.
type Object struct {
	Class, OID types.OID
	Sub        int32
}

// Describe returns what messages call an object: "table t", "column c of table t", "constraint
// k on table t", "default value for column c of table t" and so on, with names qualified when
// they are not visible.
func (n Names) Describe(o Object) (string, error) {
	switch o.Class {
	case ClassRelation:
		return n.describeRelation(o)
	case ClassConstraint:
		return n.describeConstraint(o.OID)
	case ClassAttrDef:
		return n.describeDefault(o.OID)
	case ClassType:
		name, err := FormatType(n.Reader, o.OID, -1, false, n.Path)
		return "type " + name, err
	case ClassProc:
		p, err := n.Reader.FuncByOID(o.OID)
		if p == nil || err != nil {
			return fmt.Sprintf("function %d", o.OID), err
		}
		name, err := FormatProc(n.Reader, p, n.Path)
		if p.Kind == 'p' {
			return "procedure " + name, err
		}
		return "function " + name, err
	case ClassNamespace:
		s, err := n.Reader.SchemaByOID(o.OID)
		if s == nil || err != nil {
			return fmt.Sprintf("schema %d", o.OID), err
		}
		return "schema " + QuoteIdent(s.Name), nil
	case ClassRewrite:
		return n.describeRule(o.OID)
	case ClassAuthID:
		name, err := n.RoleName(o.OID)
		return "role " + name, err
	}
	if text, err := n.describeBuiltIn(o); text != "" || err != nil {
		return text, err
	}
	return fmt.Sprintf("object %d of class %d", o.OID, o.Class), nil
}

// describeBuiltIn describes objects of the kinds that only PostgreSQL's own catalogs have; "" for others.
func (n Names) describeBuiltIn(o Object) (string, error) {
	switch o.Class {
	case ClassLanguage:
		for _, l := range pgdata.Languages() {
			if l.OID == o.OID {
				return "language " + QuoteIdent(l.Name), nil
			}
		}
	case ClassCollation:
		if c := pgdata.CollationByOID(o.OID); c != nil {
			return "collation " + n.builtinName(QuoteIdent(c.Name)), nil
		}
	case ClassOperator:
		if pgdata.OperatorByOID(o.OID) != nil {
			text, err := n.OperatorSignatureOut(o.OID)
			return "operator " + text, err
		}
	case ClassOpclass:
		if c := pgdata.OpclassByOID(o.OID); c != nil {
			return "operator class " + n.builtinName(QuoteIdent(c.Name)) + " for access method " + methodName(c.Method), nil
		}
	case ClassOpfamily:
		if f := pgdata.OpfamilyByOID(o.OID); f != nil {
			return "operator family " + n.builtinName(QuoteIdent(f.Name)) + " for access method " + methodName(f.Method), nil
		}
	case ClassAccessMethod:
		if m := methodName(o.OID); m != "" {
			return "access method " + m, nil
		}
	}
	return "", nil
}

// methodName returns the name of an access method, "" when there is none.
func methodName(id types.OID) string {
	for _, m := range pgdata.AccessMethods() {
		if m.OID == id {
			return m.Name
		}
	}
	return ""
}

// relationWords are what messages call the kinds of relations.
var relationWords = map[RelKind]string{
	KindTable: "table", KindIndex: "index", KindSequence: "sequence", KindView: "view",
	KindMatView: "materialized view", KindComposite: "composite type",
}

// RelationWord returns "table", "view" and so on.
func RelationWord(k RelKind) string {
	if w := relationWords[k]; w != "" {
		return w
	}
	return "relation"
}

func (n Names) describeRelation(o Object) (string, error) {
	rel, err := n.Reader.RelationByOID(o.OID)
	if rel == nil || err != nil {
		return fmt.Sprintf("relation %d", o.OID), err
	}
	name, err := FormatRelation(n.Reader, rel, n.Path)
	if err != nil {
		return "", err
	}
	text := RelationWord(rel.Kind) + " " + name
	if o.Sub != 0 && int(o.Sub) <= len(rel.Columns) && o.Sub > 0 {
		text = "column " + QuoteIdent(rel.Columns[o.Sub-1].Name) + " of " + text
	}
	return text, nil
}

func (n Names) describeConstraint(id types.OID) (string, error) {
	rel, k, err := n.Reader.ConstraintByOID(id)
	if err != nil {
		return "", err
	}
	if rel == nil {
		return n.describeTypeCheck(id)
	}
	on, err := n.describeRelation(Object{ClassRelation, rel.OID, 0})
	return "constraint " + QuoteIdent(k.Name) + " on " + on, err
}

// describeTypeCheck finds the domain of a constraint by its dependency.
func (n Names) describeTypeCheck(id types.OID) (string, error) {
	text := fmt.Sprintf("constraint %d", id)
	t, k, err := domainOfCheck(n.Reader, id)
	if t == nil || err != nil {
		return text, err
	}
	name, err := FormatType(n.Reader, t.OID, -1, false, n.Path)
	return "constraint " + QuoteIdent(k.Name) + " on domain " + name, err
}

// domainOfCheck returns the domain that a constraint belongs to.
func domainOfCheck(r Reader, id types.OID) (*Type, *pgdata.TypeCheck, error) {
	if id < pgdata.FirstUserOID {
		for i := range pgdata.Types() {
			t := &pgdata.Types()[i]
			for j := range t.Checks {
				if t.Checks[j].OID == id {
					return t, &t.Checks[j], nil
				}
			}
		}
		return nil, nil, nil
	}
	var owner types.OID
	err := r.References(ClassConstraint, id, 0, func(d Dependency) bool {
		if d.RefClass == ClassType && d.Type == 'a' {
			owner = d.RefOID
		}
		return owner == 0
	})
	if owner == 0 || err != nil {
		return nil, nil, err
	}
	t, err := r.TypeByOID(owner)
	if t == nil || err != nil {
		return nil, nil, err
	}
	for i := range t.Checks {
		if t.Checks[i].OID == id {
			return t, &t.Checks[i], nil
		}
	}
	return nil, nil, nil
}

// columnOfDefault returns the column that a default belongs to.
func columnOfDefault(r Reader, id types.OID) (Object, error) {
	var col Object
	err := r.References(ClassAttrDef, id, 0, func(d Dependency) bool {
		if d.RefClass == ClassRelation && d.RefSub != 0 && (d.Type == 'a' || d.Type == 'i') {
			col = Object{d.RefClass, d.RefOID, d.RefSub}
		}
		return col.OID == 0
	})
	return col, err
}

func (n Names) describeDefault(id types.OID) (string, error) {
	col, err := columnOfDefault(n.Reader, id)
	if err != nil {
		return "", err
	}
	if col.OID == 0 {
		return fmt.Sprintf("default value %d", id), nil
	}
	text, err := n.describeRelation(col)
	return "default value for " + text, err
}

// viewOfRule returns the view that a rewrite rule belongs to.
func viewOfRule(r Reader, id types.OID) (types.OID, error) {
	var view types.OID
	err := r.References(ClassRewrite, id, 0, func(d Dependency) bool {
		if d.RefClass == ClassRelation && d.Type == 'i' {
			view = d.RefOID
		}
		return view == 0
	})
	return view, err
}

func (n Names) describeRule(id types.OID) (string, error) {
	view, err := viewOfRule(n.Reader, id)
	if err != nil {
		return "", err
	}
	text, err := n.describeRelation(Object{ClassRelation, view, 0})
	return "rule _RETURN on " + text, err
}
