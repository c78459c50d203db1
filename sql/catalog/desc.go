package catalog

import (
	"herd/sql/row"
	"herd/sql/types"
	"herd/storage"
)

// RelKind is pg_class.relkind.
type RelKind byte

// Relation kinds.
const (
	KindTable     RelKind = 'r'
	KindIndex     RelKind = 'i'
	KindSequence  RelKind = 'S'
	KindView      RelKind = 'v'
	KindMatView   RelKind = 'm'
	KindComposite RelKind = 'c'
)

// Schema is a namespace.
type Schema struct {
	OID     types.OID
	Name    string
	Owner   types.OID
	ACL     []string // aclitem texts with role identifiers, see acl.go; nil = default
	Version storage.Seq
}

// Column is one attribute of a relation. Numbers are never reused.
type Column struct {
	Num        int16 // attnum, 1-based; index in Relation.Columns is Num-1
	Name       string
	Type       types.OID
	Typmod     types.Typmod
	Collation  types.OID
	Dims       int
	NotNull    bool
	Default    string       // canonical SQL, "" none
	DefaultOID types.OID    // pg_attrdef row of Default or Generated
	Identity   byte         // 0, 'a' always, 'd' by default
	Generated  string       // canonical SQL of a stored generated column, "" none
	Sequence   types.OID    // owned sequence of an identity or serial column, 0 none
	Missing    *types.Datum // value in rows written before the column existed
	Dropped    bool
	ACL        []string
	UpdateNow  bool         // an UPDATE that changes another column sets this one to the statement's time: MySQL's ON UPDATE CURRENT_TIMESTAMP
	Stats      *ColumnStats // filled by the Reader, not part of the stored descriptor
}

// Relation is a table, view, sequence, composite type ... of one catalog version; immutable once published.
type Relation struct {
	OID             types.OID
	Name            string
	Schema          types.OID
	Kind            RelKind
	Owner           types.OID
	Persistence     byte // 'p' permanent, 't' temporary, 'u' unlogged
	Columns         []Column
	TreeID          storage.TreeID // rows; changes with TRUNCATE and rewrites
	LargeTree       storage.TreeID // chunks of large values
	HiddenRowID     bool           // no primary key: the tree's key is an 8-byte row id
	PrimaryKey      *Index         // the clustered index (its Tree is TreeID), nil if none
	Indexes         []*Index       // secondary indexes
	Constraints     []*Constraint
	ReferencedBy    []types.OID // OIDs of foreign key constraints of other tables that reference this one, with their relation in ReferencedByRel
	ReferencedByRel []types.OID
	ViewDef         string    // canonical SQL of a view
	RuleOID         types.OID // pg_rewrite row of a view
	Sequence        *Sequence
	RowType         types.OID // pg_type row of the table's composite type
	ArrayType       types.OID
	Options         []string
	ACL             []string
	Unpopulated     bool         // a materialized view WITH NO DATA: it has no rows to read yet
	Version         storage.Seq  // stamp under which this descriptor was written: plan dependencies compare it
	Stats           *RelStats    // filled by the Reader, not part of the stored descriptor; nil before the first ANALYZE
	Virtual         VirtualTable // non-nil: a base catalog or a sequence's state, read by VirtualScan

	layout *row.Layout
}

// IndexState says who may use an index.
type IndexState uint8

// Index states.
const (
	IndexValid     IndexState = iota
	IndexWriteOnly            // being built: writers maintain it, readers may not use it
	IndexInvalid              // its build failed: nobody maintains it and nobody may use it; REINDEX builds it anew
)

// IndexKey is one key column of an index.
type IndexKey struct {
	Attno     int16  // 0 = expression
	Expr      string // canonical SQL when Attno is 0
	Type      types.OID
	Collation types.OID
	OpClass   types.OID
	// ExprCollation is what an expression has of itself: Collation when the index names no other.
	ExprCollation types.OID
	Desc          bool
	NullsFirst    bool
}

// Index is a primary key or a secondary index.
type Index struct {
	OID               types.OID
	Name              string
	Rel               types.OID
	Tree              storage.TreeID
	Unique            bool
	Primary           bool
	NullsNotDistinct  bool
	Deferrable        bool
	InitiallyDeferred bool
	Keys              []IndexKey
	Include           []int16
	Pred              string // canonical SQL, "" none
	State             IndexState
	Constraint        types.OID
	Method            string // btree
	Options           []string
	Version           storage.Seq // of the table's descriptor
	Stats             *RelStats   // of an index: rows and pages; nil before ANALYZE
}

// Constraint is a table constraint.
type Constraint struct {
	OID                           types.OID
	Name                          string
	Type                          byte // 'p' primary key, 'u' unique, 'c' check, 'f' foreign key
	Rel                           types.OID
	Cols                          []int16
	Expr                          string // canonical SQL of a check
	NoInherit                     bool
	Index                         types.OID // supporting index ('p', 'u'; 'f': the referenced one)
	Ref                           types.OID
	RefCols                       []int16
	OnDelete, OnUpdate            byte // 'a' no action, 'r' restrict, 'c' cascade, 'n' set null, 'd' set default
	OnDeleteCols                  []int16
	Match                         byte // 's' simple, 'f' full
	Deferrable, InitiallyDeferred bool
	Validated                     bool
	EqOps                         []types.OID // 'f': parent = child operator of each column pair
}

// Sequence holds the parameters of a sequence; its state lives in the engine.
type Sequence struct {
	Type                              types.OID
	Start, Increment, Min, Max, Cache int64
	Cycle                             bool
	OwnerRel                          types.OID // column that owns the sequence, 0 none
	OwnerCol                          int16
	Identity                          bool // of an identity column (cannot be dropped alone), not of a serial one
}

// RelStats is what ANALYZE found, plus the exact row count at that time.
type RelStats struct {
	Rows  float64
	Pages float64
}

// ColumnStats are a column's statistics as in pg_stats.
type ColumnStats struct {
	NullFrac    float64
	AvgWidth    int
	NDistinct   float64 // > 0 count, < 0 fraction of rows
	MCV         []types.Datum
	MCVFreqs    []float64
	Histogram   []types.Datum
	Correlation float64
}

// AllIndexes returns the primary key, if any, and the secondary indexes.
func (r *Relation) AllIndexes() []*Index {
	if r.PrimaryKey == nil {
		return r.Indexes
	}
	return append([]*Index{r.PrimaryKey}, r.Indexes...)
}

// ColumnByName returns a live column, nil when there is none.
func (r *Relation) ColumnByName(name string) *Column {
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Name == name && !c.Dropped {
			return c
		}
	}
	return nil
}

// Column returns a column by number (1-based), nil when it is out of range or dropped.
func (r *Relation) Column(num int16) *Column {
	if num < 1 || int(num) > len(r.Columns) || r.Columns[num-1].Dropped {
		return nil
	}
	return &r.Columns[num-1]
}

// ConstraintByName returns a constraint, nil when there is none.
func (r *Relation) ConstraintByName(name string) *Constraint {
	for _, c := range r.Constraints {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Clone returns a deep copy for a DDL statement to change; what the Reader fills in is not copied.
func (r *Relation) Clone() *Relation {
	c := *r
	c.Stats, c.Virtual, c.layout = nil, nil, nil
	c.Columns = append([]Column(nil), r.Columns...)
	for i := range c.Columns {
		c.Columns[i].ACL = append([]string(nil), r.Columns[i].ACL...)
		c.Columns[i].Stats = nil
	}
	if r.PrimaryKey != nil {
		c.PrimaryKey = r.PrimaryKey.clone()
	}
	c.Indexes = nil
	for _, x := range r.Indexes {
		c.Indexes = append(c.Indexes, x.clone())
	}
	c.Constraints = nil
	for _, x := range r.Constraints {
		k := *x
		c.Constraints = append(c.Constraints, &k)
	}
	c.ReferencedBy = append([]types.OID(nil), r.ReferencedBy...)
	c.ReferencedByRel = append([]types.OID(nil), r.ReferencedByRel...)
	if r.Sequence != nil {
		s := *r.Sequence
		c.Sequence = &s
	}
	c.Options = append([]string(nil), r.Options...)
	c.ACL = append([]string(nil), r.ACL...)
	return &c
}

func (x *Index) clone() *Index {
	c := *x
	c.Stats = nil
	c.Keys = append([]IndexKey(nil), x.Keys...)
	c.Include = append([]int16(nil), x.Include...)
	return &c
}

// Prepare computes what a descriptor's record does not hold, for a descriptor that was made and not read; it returns r.
func (r *Relation) Prepare() *Relation {
	r.complete(func(t types.OID) types.OID { return t })
	return r
}

// Layout returns the row layout of the relation's columns.
func (r *Relation) Layout() *row.Layout { return r.layout }

// AccessPath is a way to read a virtual table: Cols are attribute numbers that can be pinned by equality; Rows the expected
// result, 0 a good part of the table.
type AccessPath struct {
	Cols []int16
	Rows float64
}

// RowIter yields the rows of a virtual table into dst (one datum per attribute; only the requested ones need to be set).
type RowIter interface {
	Next(dst []types.Datum) (bool, error)
}

// VirtualEnv is what a virtual table may look at: the catalog of the statement's snapshot and live server state.
type VirtualEnv interface {
	Catalog() Reader
	Server() ServerState
}

// VirtualTable is a base catalog computed from descriptors and pgdata.
type VirtualTable interface {
	Paths() []AccessPath
	// Scan reads everything (path -1) or the rows whose pinned columns equal keys.
	Scan(env VirtualEnv, path int, keys []types.Datum, need []bool) (RowIter, error)
}
