package catalog

import (
	"encoding/binary"
	"fmt"

	"herd/sql/catalog/pgdata"
	"herd/sql/row"
	"herd/sql/types"
	"herd/storage"
)

// ReaderOptions say what a Reader reads.
type ReaderOptions struct {
	Source     Source
	Cache      *Cache
	Shared     Reader    // of the system database: roles and databases; nil = this reader itself
	TempSchema types.OID // 0 none
}

// NewReader returns a Reader of one view. Cheap enough to be made for each statement that
// needs the catalog.
func NewReader(o ReaderOptions) Reader {
	return &reader{src: o.Source, cache: o.Cache, shared: o.Shared, temp: o.TempSchema}
}

type reader struct {
	src    Source
	cache  *Cache
	shared Reader
	temp   types.OID
}

// Version implements Reader.
func (r *reader) Version() (storage.Seq, bool) {
	return r.src.CatalogVersion(), r.src.HasOwn(treeMarker, markerKey)
}

// TempSchema implements Reader.
func (r *reader) TempSchema() types.OID { return r.temp }

// RowCount implements Reader.
func (r *reader) RowCount(rel *Relation) int64 {
	switch {
	case rel.TreeID != 0:
		return r.src.Count(rel.TreeID)
	case rel.Kind == KindSequence:
		return 1
	case rel.Virtual != nil:
		if t, ok := rel.Virtual.(*baseTable); ok {
			return t.estimate(r.src.Count(treeObjects))
		}
	}
	return 0
}

// record reads an object's row.
func (r *reader) record(class, id types.OID) (val []byte, kind recordKind, stamp uint64, err error) {
	val, ok, err := r.src.Get(treeObjects, objectKey(class, id))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read catalog object %d of class %d: %w", id, class, err)
	}
	if !ok {
		return nil, 0, 0, nil
	}
	kind, stamp, err = header(val)
	return val, kind, stamp, err
}

// nameOID reads a name's object identifier, 0 when the name is not in use.
func (r *reader) nameOID(class, schema types.OID, name string) (types.OID, error) {
	val, ok, err := r.src.Get(treeNames, nameKey(class, schema, name))
	if err != nil {
		return 0, fmt.Errorf("look up catalog name %q: %w", name, err)
	}
	if !ok {
		return 0, nil
	}
	return types.OID(binary.BigEndian.Uint32(val)), nil
}

// fetch returns the decoded form of a record, from the cache if it is there.
func fetch[T any](r *reader, class, id types.OID, val []byte, stamp uint64, fields func(*codec, *T), finish func(*T)) (*T, error) {
	k := cacheKey{class, id, stamp, 0}
	if v, ok := r.cache.get(k); ok {
		return v.(*T), nil
	}
	v := new(T)
	if err := decode(val, func(c *codec) { fields(c, v) }); err != nil {
		return nil, fmt.Errorf("object %d of class %d: %w", id, class, err)
	}
	finish(v)
	r.cache.put(k, v, len(val))
	return v, nil
}

// mysqlSchema holds functions and operators that the server itself has; no catalog table shows it.
var mysqlSchema = &Schema{OID: pgdata.MySQLSchema, Name: pgdata.MySQLName, Owner: BootstrapRole, ACL: []string{"10=UC/10", "=U/10"}}

// SchemaByOID implements Reader.
func (r *reader) SchemaByOID(id types.OID) (*Schema, error) {
	if id == pgdata.MySQLSchema {
		return mysqlSchema, nil
	}
	val, _, stamp, err := r.record(ClassNamespace, id)
	if val == nil || err != nil {
		return nil, err
	}
	return fetch(r, ClassNamespace, id, val, stamp, (*codec).schema, func(s *Schema) { s.Version = seq(stamp) })
}

// SchemaByName implements Reader.
func (r *reader) SchemaByName(name string) (*Schema, error) {
	if name == "pg_temp" {
		if r.temp == 0 {
			return nil, nil
		}
		return r.SchemaByOID(r.temp)
	}
	id, err := r.nameOID(ClassNamespace, 0, name)
	if err == nil && id == 0 && name == pgdata.MySQLName {
		return mysqlSchema, nil
	}
	if id == 0 || err != nil {
		return nil, err
	}
	return r.SchemaByOID(id)
}

// Schemas implements Reader.
func (r *reader) Schemas() ([]*Schema, error) {
	var list []*Schema
	err := r.objects(ClassNamespace, func(id types.OID, val []byte, _ recordKind, stamp uint64) error {
		s, err := fetch(r, ClassNamespace, id, val, stamp, (*codec).schema, func(s *Schema) { s.Version = seq(stamp) })
		list = append(list, s)
		return err
	})
	return list, err
}

// errStop ends objects early.
var errStop = fmt.Errorf("stop")

// objects calls f for all rows of a class.
func (r *reader) objects(class types.OID, f func(id types.OID, val []byte, kind recordKind, stamp uint64) error) error {
	lo := objectKey(class, 0)
	var inner error
	err := r.src.Range(treeObjects, lo, objectKey(class+1, 0), func(key, val []byte) bool {
		kind, stamp, err := header(val)
		if err == nil {
			err = f(types.OID(binary.BigEndian.Uint32(key[4:])), val, kind, stamp)
		}
		inner = err
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("list catalog objects of class %d: %w", class, err)
	}
	if inner == errStop {
		return nil
	}
	return inner
}

// relation decodes a relation's record together with its statistics.
func (r *reader) relation(id types.OID, val []byte, stamp uint64) (*Relation, error) {
	stats, ok, err := r.src.Get(treeStats, statsKey(id))
	if err != nil {
		return nil, fmt.Errorf("read statistics of relation %d: %w", id, err)
	}
	k := cacheKey{class: ClassRelation, id: id, stamp: stamp}
	if ok {
		if _, k.stats, err = header(stats); err != nil {
			return nil, err
		}
	}
	if v, ok := r.cache.get(k); ok {
		return v.(*Relation), nil
	}
	rel := new(Relation)
	if err := decode(val, func(c *codec) { c.relation(rel) }); err != nil {
		return nil, fmt.Errorf("relation %d: %w", id, err)
	}
	if ok {
		if err := decodeStats(stats, rel); err != nil {
			return nil, fmt.Errorf("statistics of relation %d: %w", id, err)
		}
	}
	rel.Version = seq(stamp)
	rel.complete(r.baseType)
	r.cache.put(k, rel, len(val)+len(stats))
	return rel, nil
}

// complete computes what a relation's record does not hold.
func (rel *Relation) complete(base func(types.OID) types.OID) {
	if rel.PrimaryKey != nil {
		rel.PrimaryKey.Version = rel.Version
	}
	for _, x := range rel.Indexes {
		x.Version = rel.Version
	}
	switch rel.Kind {
	case KindTable, KindMatView:
		cols := make([]row.Column, len(rel.Columns))
		for i, c := range rel.Columns {
			cols[i] = row.Column{Type: base(c.Type), Typmod: c.Typmod, Missing: c.Missing, Dropped: c.Dropped}
		}
		rel.layout = row.NewLayout(cols)
	case KindSequence:
		rel.Virtual = sequenceTable{rel.OID}
	}
}

// RelationByOID implements Reader.
func (r *reader) RelationByOID(id types.OID) (*Relation, error) {
	if id < pgdata.FirstUserOID {
		return systemRelation(id), nil
	}
	val, kind, stamp, err := r.record(ClassRelation, id)
	if val == nil || err != nil {
		return nil, err
	}
	if kind == recInTable {
		rel, x, err := r.IndexByOID(id)
		if rel == nil || err != nil {
			return nil, err
		}
		return indexRelation(rel, x), nil
	}
	return r.relation(id, val, stamp)
}

// owner follows an index's or a constraint's record to its table.
func (r *reader) owner(class, id types.OID) (*Relation, error) {
	val, kind, _, err := r.record(class, id)
	if val == nil || err != nil || kind != recInTable {
		return nil, err
	}
	return r.RelationByOID(pointerOf(val))
}

// pointerOf reads the identifier in a recInTable, recRowType or recArrayType record.
func pointerOf(val []byte) types.OID { return types.OID(binary.BigEndian.Uint32(val[headerSize:])) }

// pointerRecord makes such a record.
func pointerRecord(kind recordKind, stamp uint64, to types.OID) []byte {
	return encode(kind, stamp, func(c *codec) { c.out = binary.BigEndian.AppendUint32(c.out, uint32(to)) })
}

// IndexByOID implements Reader.
func (r *reader) IndexByOID(id types.OID) (*Relation, *Index, error) {
	if id < pgdata.FirstUserOID {
		if x := loadSystemParts().indexes[id]; x != nil {
			return systemRelation(x.Rel), x, nil
		}
		return nil, nil, nil
	}
	rel, err := r.owner(ClassRelation, id)
	if rel == nil || err != nil {
		return nil, nil, err
	}
	for _, x := range rel.AllIndexes() {
		if x.OID == id {
			return rel, x, nil
		}
	}
	return nil, nil, fmt.Errorf("index %d is not among the indexes of %q", id, rel.Name)
}

// ConstraintByOID implements Reader.
func (r *reader) ConstraintByOID(id types.OID) (*Relation, *Constraint, error) {
	if id < pgdata.FirstUserOID {
		if k := loadSystemParts().constraints[id]; k != nil {
			return systemRelation(k.Rel), k, nil
		}
		return nil, nil, nil
	}
	rel, err := r.owner(ClassConstraint, id)
	if rel == nil || err != nil {
		return nil, nil, err
	}
	for _, c := range rel.Constraints {
		if c.OID == id {
			return rel, c, nil
		}
	}
	return nil, nil, fmt.Errorf("constraint %d is not among the constraints of %q", id, rel.Name)
}

// RelationByName implements Reader.
func (r *reader) RelationByName(schema types.OID, name string) (*Relation, error) {
	if schema == pgdata.CatalogSchema || schema == pgdata.InformationSchema || schema == pgdata.ToastSchema {
		if x := pgdata.RelationByName(name); x != nil && x.Namespace == schema {
			return systemRelation(x.OID), nil
		}
		return nil, nil
	}
	id, err := r.nameOID(ClassRelation, schema, name)
	if id == 0 || err != nil {
		return nil, err
	}
	return r.RelationByOID(id)
}

// Relations implements Reader.
func (r *reader) Relations(f func(*Relation) bool) error {
	return r.objects(ClassRelation, func(id types.OID, val []byte, kind recordKind, stamp uint64) error {
		if kind != recRelation {
			return nil
		}
		rel, err := r.relation(id, val, stamp)
		if err == nil && !f(rel) {
			err = errStop
		}
		return err
	})
}

// RelationsInSchema implements Reader.
func (r *reader) RelationsInSchema(schema types.OID, f func(*Relation) bool) error {
	var inner error
	prefix := nameKey(ClassRelation, schema, "")
	err := r.src.Range(treeNames, prefix, prefixEnd(prefix), func(_, val []byte) bool {
		var rel *Relation
		rel, inner = r.RelationByOID(types.OID(binary.BigEndian.Uint32(val)))
		if inner != nil {
			return false
		}
		return rel == nil || rel.Kind == KindIndex || f(rel)
	})
	if err != nil {
		return fmt.Errorf("list relations of schema %d: %w", schema, err)
	}
	return inner
}

// baseType looks through domains: rows hold values of the base type.
func (r *reader) baseType(id types.OID) types.OID {
	for range maxDomainDepth {
		if id < firstDomain {
			return id
		}
		t, err := r.TypeByOID(id)
		if err != nil || t == nil || t.Type != 'd' {
			return id
		}
		id = t.BaseType
	}
	return id
}

const (
	maxDomainDepth           = 64
	firstDomain    types.OID = 13000 // information_schema's domains are the only built-in ones
)
