package catalog

import (
	"fmt"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Functions of the types that the catalog derives: row types and arrays.
const (
	funcRecordIn, funcRecordOut, funcRecordRecv, funcRecordSend types.OID = 2290, 2291, 2402, 2403
	funcArrayIn, funcArrayOut, funcArrayRecv, funcArraySend     types.OID = 750, 751, 2400, 2401
	funcArraySubscript, funcArrayAnalyze                        types.OID = 6179, 3816
)

// rowType derives the composite type of a relation.
func rowType(rel *Relation) *Type {
	return &Type{
		OID: rel.RowType, Name: rel.Name, Namespace: rel.Schema, Owner: rel.Owner, Len: -1, Type: 'c', Category: 'C',
		Defined: true, Delim: ',', Relid: rel.OID, Array: rel.ArrayType, Input: funcRecordIn, Output: funcRecordOut,
		Receive: funcRecordRecv, Send: funcRecordSend, Align: 'd', Storage: 'x', Typmod: -1,
		Version: uint64(rel.Version),
	}
}

// arrayType derives the array type over an element type.
func arrayType(id types.OID, elem *Type, name string) *Type {
	align := byte('i')
	if elem.Align == 'd' {
		align = 'd'
	}
	return &Type{
		OID: id, Name: name, Namespace: elem.Namespace, Owner: elem.Owner, Len: -1, Type: 'b', Category: 'A',
		Defined: true, Delim: elem.Delim, Elem: elem.OID, Subscript: funcArraySubscript, Input: funcArrayIn,
		Output: funcArrayOut, Receive: funcArrayRecv, Send: funcArraySend, Analyze: funcArrayAnalyze,
		ModIn: elem.ModIn, ModOut: elem.ModOut, Align: align, Storage: 'x', Typmod: -1, Collation: elem.Collation,
		Version: elem.Version,
	}
}

// TypeByOID implements Reader.
func (r *reader) TypeByOID(id types.OID) (*Type, error) {
	if id < pgdata.FirstUserOID {
		return pgdata.TypeByOID(id), nil
	}
	val, kind, stamp, err := r.record(ClassType, id)
	if val == nil || err != nil {
		return nil, err
	}
	return r.typeOf(id, val, kind, stamp)
}

// typeOf makes a type of its record.
func (r *reader) typeOf(id types.OID, val []byte, kind recordKind, stamp uint64) (*Type, error) {
	switch kind {
	case recType:
		return fetch(r, ClassType, id, val, stamp, (*codec).pgType, func(t *Type) { t.Version = stamp })
	case recRowType:
		rel, err := r.RelationByOID(pointerOf(val))
		if rel == nil || err != nil {
			return nil, err
		}
		k := cacheKey{class: ClassType, id: id, stamp: uint64(rel.Version)}
		if t, ok := r.cache.get(k); ok {
			return t.(*Type), nil
		}
		t := rowType(rel)
		r.cache.put(k, t, len(val))
		return t, nil
	case recArrayType:
		elem, err := r.TypeByOID(pointerOf(val))
		if elem == nil || err != nil {
			return nil, err
		}
		k := cacheKey{class: ClassType, id: id, stamp: stamp, stats: elem.Version}
		if t, ok := r.cache.get(k); ok {
			return t.(*Type), nil
		}
		t := arrayType(id, elem, string(val[headerSize+4:]))
		r.cache.put(k, t, len(val))
		return t, nil
	}
	return nil, fmt.Errorf("type %d: unknown record kind %q", id, kind)
}

// TypeByName implements Reader.
func (r *reader) TypeByName(schema types.OID, name string) (*Type, error) {
	if schema == pgdata.CatalogSchema || schema == pgdata.InformationSchema || schema == pgdata.ToastSchema {
		return pgdata.TypeByName(schema, name), nil
	}
	id, err := r.nameOID(ClassType, schema, name)
	if id == 0 || err != nil {
		return nil, err
	}
	return r.TypeByOID(id)
}

// UserTypes implements Reader.
func (r *reader) UserTypes(f func(*Type) bool) error {
	return r.objects(ClassType, func(id types.OID, val []byte, kind recordKind, stamp uint64) error {
		t, err := r.typeOf(id, val, kind, stamp)
		if err == nil && t != nil && !f(t) {
			err = errStop
		}
		return err
	})
}

// FuncByOID implements Reader.
func (r *reader) FuncByOID(id types.OID) (*Proc, error) {
	if id < pgdata.FirstUserOID {
		return pgdata.FuncByOID(id), nil
	}
	val, _, stamp, err := r.record(ClassProc, id)
	if val == nil || err != nil {
		return nil, err
	}
	return fetch(r, ClassProc, id, val, stamp, (*codec).proc, func(p *Proc) { p.Version = stamp })
}

// FuncsByName implements Reader.
func (r *reader) FuncsByName(schema types.OID, name string) ([]*Proc, error) {
	if schema == pgdata.CatalogSchema || schema == pgdata.InformationSchema {
		all := pgdata.FuncsByName(name)
		for _, p := range all {
			if p.Namespace != schema {
				return funcsIn(all, schema), nil
			}
		}
		return all, nil
	}
	var list []*Proc
	var inner error
	prefix := append(nameKey(ClassProc, schema, name), 0)
	err := r.src.Range(treeNames, prefix, prefixEnd(prefix), func(key, _ []byte) bool {
		id := types.OID(uint32(key[len(key)-4])<<24 | uint32(key[len(key)-3])<<16 | uint32(key[len(key)-2])<<8 | uint32(key[len(key)-1]))
		var p *Proc
		if p, inner = r.FuncByOID(id); p != nil {
			list = append(list, p)
		}
		return inner == nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up function %q: %w", name, err)
	}
	return list, inner
}

// funcsIn keeps the functions of a schema.
func funcsIn(all []*Proc, schema types.OID) []*Proc {
	var list []*Proc
	for _, p := range all {
		if p.Namespace == schema {
			list = append(list, p)
		}
	}
	return list
}

// UserFuncs implements Reader.
func (r *reader) UserFuncs(f func(*Proc) bool) error {
	return r.objects(ClassProc, func(id types.OID, val []byte, _ recordKind, stamp uint64) error {
		p, err := fetch(r, ClassProc, id, val, stamp, (*codec).proc, func(p *Proc) { p.Version = stamp })
		if err == nil && !f(p) {
			err = errStop
		}
		return err
	})
}
