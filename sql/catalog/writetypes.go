package catalog

import (
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// CreateType stores a new enum or domain with its array type; identifiers that are 0 are filled
// in, those of labels and checks too. Composite types are relations of KindComposite. Errors: 42710.
func (w *Writer) CreateType(t *Type) error {
	for _, id := range []*types.OID{&t.OID, &t.Array} {
		if err := w.ensureOID(id); err != nil {
			return err
		}
	}
	taken := sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", t.Name)
	if err := w.claim(nameKey(ClassType, t.Namespace, t.Name), t.OID, taken); err != nil {
		return err
	}
	array, err := w.arrayTypeName(t.Namespace, t.Name)
	if err != nil {
		return err
	}
	if err := w.claim(nameKey(ClassType, t.Namespace, array), t.Array, sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", array)); err != nil {
		return err
	}
	rec := append(pointerRecord(recArrayType, w.stamp(), t.OID), array...)
	if err := w.put(treeObjects, objectKey(ClassType, t.Array), rec); err != nil {
		return err
	}
	if err := w.putType(t); err != nil {
		return err
	}
	return w.AddDependencies(
		Dependency{ClassType, t.OID, 0, ClassNamespace, t.Namespace, 0, 'n'},
		Dependency{ClassType, t.OID, 0, ClassType, t.BaseType, 0, 'n'},
		Dependency{ClassType, t.Array, 0, ClassType, t.OID, 0, 'i'},
	)
}

func (w *Writer) putType(t *Type) error {
	for i := range t.Labels {
		if err := w.ensureOID(&t.Labels[i].OID); err != nil {
			return err
		}
	}
	for i := range t.Checks {
		k := &t.Checks[i]
		isNew := k.OID == 0
		if err := w.ensureOID(&k.OID); err != nil {
			return err
		}
		if isNew {
			if err := w.AddDependencies(Dependency{ClassConstraint, k.OID, 0, ClassType, t.OID, 0, 'a'}); err != nil {
				return err
			}
		}
	}
	t.Version = w.stamp()
	return w.put(treeObjects, objectKey(ClassType, t.OID), encode(recType, t.Version, func(c *codec) { c.pgType(t) }))
}

// UpdateType stores a changed copy of an enum or domain: labels, checks, default, owner, name,
// schema. Its array type follows.
func (w *Writer) UpdateType(old, t *Type) error {
	if err := w.current(ClassType, old.OID, old.Version); err != nil {
		return err
	}
	if old.Name != t.Name || old.Namespace != t.Namespace {
		taken := sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", t.Name)
		if err := w.claim(nameKey(ClassType, t.Namespace, t.Name), t.OID, taken); err != nil {
			return err
		}
		if err := w.remove(treeNames, nameKey(ClassType, old.Namespace, old.Name)); err != nil {
			return err
		}
		if err := w.moveArrayType(old, t); err != nil {
			return err
		}
	}
	kept := map[types.OID]bool{}
	for _, k := range t.Checks {
		kept[k.OID] = true
	}
	for _, k := range old.Checks {
		if !kept[k.OID] {
			if err := w.forgetParts(ClassConstraint, k.OID); err != nil {
				return err
			}
		}
	}
	if old.Namespace != t.Namespace {
		if err := w.removeDependency(Dependency{ClassType, t.OID, 0, ClassNamespace, old.Namespace, 0, 'n'}); err != nil {
			return err
		}
		if err := w.AddDependencies(Dependency{ClassType, t.OID, 0, ClassNamespace, t.Namespace, 0, 'n'}); err != nil {
			return err
		}
	}
	return w.putType(t)
}

// moveArrayType renames an array type after its element type.
func (w *Writer) moveArrayType(old, t *Type) error {
	array, err := w.reader().TypeByOID(old.Array)
	if array == nil || err != nil {
		return err
	}
	if err := w.remove(treeNames, nameKey(ClassType, old.Namespace, array.Name)); err != nil {
		return err
	}
	name, err := w.arrayTypeName(t.Namespace, t.Name)
	if err != nil {
		return err
	}
	if err := w.claim(nameKey(ClassType, t.Namespace, name), t.Array, sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", name)); err != nil {
		return err
	}
	rec := append(pointerRecord(recArrayType, w.stamp(), t.OID), name...)
	return w.put(treeObjects, objectKey(ClassType, t.Array), rec)
}

// dropType removes a type and its array type.
func (w *Writer) dropType(t *Type) error {
	for _, k := range t.Checks {
		if err := w.forgetParts(ClassConstraint, k.OID); err != nil {
			return err
		}
	}
	array, err := w.reader().TypeByOID(t.Array)
	if err != nil {
		return err
	}
	if array != nil {
		if err := w.remove(treeNames, nameKey(ClassType, array.Namespace, array.Name)); err != nil {
			return err
		}
		if err := w.forget(ClassType, array.OID); err != nil {
			return err
		}
	}
	if err := w.remove(treeNames, nameKey(ClassType, t.Namespace, t.Name)); err != nil {
		return err
	}
	return w.forget(ClassType, t.OID)
}

// CreateProc stores a new function. Errors: 42723 when one with these argument types exists.
func (w *Writer) CreateProc(p *Proc) error {
	if err := w.ensureOID(&p.OID); err != nil {
		return err
	}
	if err := w.checkSignature(p); err != nil {
		return err
	}
	if err := w.putProc(p); err != nil {
		return err
	}
	deps := []Dependency{{ClassProc, p.OID, 0, ClassNamespace, p.Namespace, 0, 'n'}, {ClassProc, p.OID, 0, ClassType, p.RetType, 0, 'n'}}
	for _, a := range p.ArgTypes {
		deps = append(deps, Dependency{ClassProc, p.OID, 0, ClassType, a, 0, 'n'})
	}
	return w.AddDependencies(deps...)
}

// checkSignature takes the signature's lock and fails when another function has it.
func (w *Writer) checkSignature(p *Proc) error {
	if err := w.tx.LockKey(treeNames, append(nameKey(ClassProc, p.Namespace, p.Name), 0)); err != nil {
		return err
	}
	have, err := w.reader().FuncsByName(p.Namespace, p.Name)
	if err != nil {
		return err
	}
	for _, f := range have {
		if f.OID != p.OID && sameTypes(f.ArgTypes, p.ArgTypes) {
			return sqlerr.New(sqlerr.DuplicateFunction, "function %q already exists with same argument types", p.Name)
		}
	}
	return nil
}

func sameTypes(a, b []types.OID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (w *Writer) putProc(p *Proc) error {
	p.Version = w.stamp()
	if err := w.put(treeNames, funcNameKey(p.Namespace, p.Name, p.OID), []byte{0, 0, 0, 0}); err != nil {
		return err
	}
	return w.put(treeObjects, objectKey(ClassProc, p.OID), encode(recProc, p.Version, func(c *codec) { c.proc(p) }))
}

// UpdateProc stores a changed copy of a function.
func (w *Writer) UpdateProc(old, p *Proc) error {
	if err := w.current(ClassProc, old.OID, old.Version); err != nil {
		return err
	}
	if old.Name != p.Name || old.Namespace != p.Namespace {
		if err := w.checkSignature(p); err != nil {
			return err
		}
		if err := w.remove(treeNames, funcNameKey(old.Namespace, old.Name, old.OID)); err != nil {
			return err
		}
	}
	return w.putProc(p)
}

func (w *Writer) dropProc(p *Proc) error {
	if err := w.remove(treeNames, funcNameKey(p.Namespace, p.Name, p.OID)); err != nil {
		return err
	}
	return w.forget(ClassProc, p.OID)
}

// NewEnum returns the descriptor of an enum type; labels get their order.
func NewEnum(schema, owner types.OID, name string, labels []string) *Type {
	t := &Type{
		Name: name, Namespace: schema, Owner: owner, Len: 4, ByVal: true, Type: 'e', Category: 'E', Defined: true,
		Delim: ',', Input: 3506, Output: 3507, Receive: 3532, Send: 3533, Align: 'i', Storage: 'p', Typmod: -1,
	}
	for i, l := range labels {
		t.Labels = append(t.Labels, pgdata.EnumLabel{Name: l, Sort: float64(i + 1)})
	}
	return t
}

// NewDomain returns the descriptor of a domain over base.
func NewDomain(schema, owner types.OID, name string, base *Type, typmod types.Typmod, collation types.OID) *Type {
	t := *base
	t.OID, t.Array, t.Elem, t.Relid, t.Version = 0, 0, 0, 0, 0
	t.Name, t.Namespace, t.Owner, t.Type, t.Preferred = name, schema, owner, 'd', false
	t.BaseType, t.Typmod, t.Collation = base.OID, typmod, collation
	t.Input, t.Receive, t.ModIn, t.ModOut, t.Subscript = 2597, 2598, 0, 0, 0
	t.NotNull, t.Default, t.ACL, t.Labels, t.Checks, t.Subtype, t.Range = false, "", "", nil, nil, 0, 0
	return &t
}
