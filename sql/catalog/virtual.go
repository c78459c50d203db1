package catalog

import (
	"bytes"
	"strings"
	"sync"
	"unsafe"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// userRows makes the rows of one catalog that do not come from pgdata. It returns a function
// that adds some rows with scan.emit and reports whether there is more; nil = no rows. Rows that
// do not match the pinned columns may be emitted, they are dropped; producers look at
// scan.pinned only to avoid work.
type userRows func(s *scan) (step func() (more bool, err error), err error)

// baseTable is a system catalog as a virtual table: the rows that initdb makes plus rows
// computed from descriptors.
type baseTable struct {
	rel   *pgdata.Relation
	paths []AccessPath
	user  userRows
	// stored tells that the rows of pgdata are also stored in the database and must not be
	// shown twice.
	stored bool

	once    sync.Once
	static  []types.Datum // len(rel.Columns) for each row
	kinds   []types.Kind  // of the columns
	indexMu sync.Mutex    // guards indexes
	indexes map[int]map[string][]int32
}

// producers maps catalogs to the makers of their user rows; catalogs that are not mentioned
// have the rows of pgdata only.
var producers map[string]userRows

// storedCatalogs have all their rows in the database.
var storedCatalogs = map[string]bool{"pg_namespace": true, "pg_authid": true, "pg_auth_members": true, "pg_shdescription": true}

// extraPaths are access paths beyond PostgreSQL's catalog indexes, by attribute numbers.
var extraPaths = map[string][][]int16{
	"pg_class":       {{3}},        // relnamespace
	"pg_index":       {{2}},        // indrelid is a prefix of PostgreSQL's only index on it
	"pg_constraint":  {{8}, {12}},  // conrelid, confrelid
	"pg_attrdef":     {{2}},        // adrelid
	"pg_depend":      {{2}, {5}},   // objid, refobjid
	"pg_enum":        {{2}},        // enumtypid
	"pg_description": {{1}},        // objoid
	"pg_type":        {{12}, {14}}, // typrelid, typelem
	"pg_rewrite":     {{3}},        // ev_class
	"pg_proc":        {{2}},        // proname
}

// virtualTable makes the virtual table of a system catalog.
func virtualTable(x *pgdata.Relation) VirtualTable {
	t := &baseTable{rel: x, user: producers[x.Name], stored: storedCatalogs[x.Name]}
	t.kinds = make([]types.Kind, len(x.Columns))
	for i, c := range x.Columns {
		t.kinds[i] = types.KindOf(baseTypeOf(c.Type))
	}
	for _, p := range catalogPaths()[x.OID] {
		t.addPath(p.cols, p.unique)
	}
	for _, cols := range extraPaths[x.Name] {
		t.addPath(cols, false)
	}
	return t
}

// addPath declares an access path and its prefixes.
func (t *baseTable) addPath(cols []int16, unique bool) {
	for n := len(cols); n > 0; n-- {
		known := false
		for _, p := range t.paths {
			known = known || sameColumns(p.Cols, cols[:n])
		}
		if known {
			continue
		}
		rows := 8.0
		if n == len(cols) {
			if rows = 3; unique {
				rows = 1
			}
		}
		if t.fewValued(cols[:n]) {
			rows = 0
		}
		t.paths = append(t.paths, AccessPath{Cols: cols[:n:n], Rows: rows})
	}
}

// fewValued says whether columns have few values, each in many rows: the classes of objects and their schemas.
func (t *baseTable) fewValued(cols []int16) bool {
	for _, c := range cols {
		switch name := t.rel.Columns[c-1].Name; name {
		case "classid", "refclassid", "classoid":
		default:
			if !strings.HasSuffix(name, "namespace") {
				return false
			}
		}
	}
	return true
}

// sameColumns compares two lists as sets.
func sameColumns(a, b []int16) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || x == y
		}
		if !found {
			return false
		}
	}
	return true
}

type catalogPath struct {
	cols   []int16
	unique bool
}

// catalogPaths lists the indexes that PostgreSQL has on its catalogs.
var catalogPaths = sync.OnceValue(func() map[types.OID][]catalogPath {
	m := map[types.OID][]catalogPath{}
	rows := pgdata.CatalogRows("pg_index")
	at := columnIndex(rows.Columns)
	for i := range rows.Len() {
		rel := fieldOID(rows, i, at["indrelid"])
		key, _ := rows.Field(i, at["indkey"])
		unique, _ := rows.Field(i, at["indisunique"])
		var cols []int16
		for _, f := range bytes.Fields([]byte(key)) {
			cols = append(cols, int16(parseOID(string(f))))
		}
		m[rel] = append(m[rel], catalogPath{cols, unique == "t"})
	}
	return m
})

// baseTypeOf replaces the domains of information_schema by their base type.
func baseTypeOf(id types.OID) types.OID {
	for {
		t := pgdata.TypeByOID(id)
		if t == nil || t.Type != 'd' {
			return id
		}
		id = t.BaseType
	}
}

// Paths implements VirtualTable.
func (t *baseTable) Paths() []AccessPath { return t.paths }

// estimate guesses the number of rows in a database with that many objects of its own. An
// object row is a table, an index, a type or a constraint, so a table counts about five times.
func (t *baseTable) estimate(objects int64) int64 {
	rows := int64(0)
	if !t.stored {
		rows = int64(pgdata.CatalogRows(t.rel.Name).Len())
	}
	if t.user == nil {
		return rows
	}
	switch t.rel.Name {
	case "pg_attribute":
		return rows + 3*objects
	case "pg_depend":
		return rows + 2*objects
	case "pg_class", "pg_type":
		return rows + objects/2
	case "pg_index", "pg_constraint", "pg_attrdef", "pg_statistic", "pg_description":
		return rows + objects/5
	}
	return rows + 20
}

// load decodes the rows of pgdata.
func (t *baseTable) load() {
	t.once.Do(func() {
		if t.stored {
			return
		}
		rows := pgdata.CatalogRows(t.rel.Name)
		ctx := types.NewIOContext()
		n := len(t.rel.Columns)
		t.static = make([]types.Datum, 0, rows.Len()*n)
		for i := range rows.Len() {
			for j, c := range t.rel.Columns {
				t.static = append(t.static, staticDatum(ctx, rows, i, j, baseTypeOf(c.Type)))
			}
		}
	})
}

// staticDatum decodes one field of pgdata.
func staticDatum(ctx *types.IOContext, rows *pgdata.Rows, i, j int, typ types.OID) types.Datum {
	text, ok := rows.Field(i, j)
	if !ok {
		return types.NullDatum
	}
	d, err := types.Input(ctx, typ, -1, unsafe.Slice(unsafe.StringData(text), len(text)))
	if err != nil {
		panic("catalog: built-in row of " + rows.Columns[j] + " " + text + ": " + err.Error())
	}
	return d
}

// index returns the static rows by the values of an access path's columns.
func (t *baseTable) index(path int) map[string][]int32 {
	t.indexMu.Lock()
	defer t.indexMu.Unlock()
	if m, ok := t.indexes[path]; ok {
		return m
	}
	n := len(t.rel.Columns)
	m := map[string][]int32{}
	keys := make([]types.Datum, len(t.paths[path].Cols))
	for row := 0; row*n < len(t.static); row++ {
		for i, c := range t.paths[path].Cols {
			keys[i] = t.static[row*n+int(c)-1]
		}
		k := t.lookupKey(path, keys)
		m[k] = append(m[k], int32(row))
	}
	if t.indexes == nil {
		t.indexes = map[int]map[string][]int32{}
	}
	t.indexes[path] = m
	return m
}

// lookupKey makes a map key of the values of an access path's columns.
func (t *baseTable) lookupKey(path int, keys []types.Datum) string {
	var b []byte
	for i, c := range t.paths[path].Cols {
		if t.kinds[c-1] == types.KindBytes {
			b = append(append(b, keys[i].B...), 0)
		} else {
			for shift := 0; shift < 64; shift += 8 {
				b = append(b, byte(keys[i].I>>shift))
			}
		}
	}
	return string(b)
}

// Scan implements VirtualTable.
func (t *baseTable) Scan(env VirtualEnv, path int, keys []types.Datum, need []bool) (RowIter, error) {
	t.load()
	s := &scan{table: t, env: env, r: env.Catalog(), need: need, pins: make([]types.Datum, len(t.rel.Columns)), has: make([]bool, len(t.rel.Columns))}
	if path >= 0 {
		for i, c := range t.paths[path].Cols {
			if keys[i].Null {
				return s, nil
			}
			s.pins[c-1], s.has[c-1] = keys[i], true
		}
		s.rows = t.index(path)[t.lookupKey(path, keys)]
	} else {
		s.all = len(t.static) / max(1, len(t.rel.Columns))
	}
	if t.user != nil {
		step, err := t.user(s)
		if err != nil {
			return nil, err
		}
		s.step = step
	}
	return s, nil
}

// scan reads one virtual table; it is its RowIter.
type scan struct {
	table *baseTable
	env   VirtualEnv
	r     Reader
	need  []bool // columns asked for; nil = all
	pins  []types.Datum
	has   []bool // columns pinned by the access path

	rows []int32 // static rows to return, when a path is in use
	all  int     // or all static rows up to here
	next int

	step func() (bool, error) // makes more user rows
	buf  []types.Datum        // user rows not yet returned
	at   int
}

// Next implements RowIter.
func (s *scan) Next(dst []types.Datum) (bool, error) {
	n := len(s.table.rel.Columns)
	if s.next < len(s.rows) {
		copy(dst, s.table.static[int(s.rows[s.next])*n:][:n])
		s.next++
		return true, nil
	}
	if s.rows == nil && s.next < s.all {
		copy(dst, s.table.static[s.next*n:][:n])
		s.next++
		return true, nil
	}
	for s.at >= len(s.buf) {
		if s.step == nil {
			return false, nil
		}
		s.buf, s.at = s.buf[:0], 0
		more, err := s.step()
		if err != nil {
			return false, err
		}
		if !more {
			s.step = nil
		}
	}
	copy(dst, s.buf[s.at:s.at+n])
	s.at += n
	return true, nil
}

// emit adds a user row, one datum for each column, unless it contradicts a pinned column.
func (s *scan) emit(row ...types.Datum) {
	if len(row) != len(s.table.rel.Columns) {
		panic("catalog: row of " + s.table.rel.Name + " has " + itoa(len(row)) + " columns")
	}
	for i, has := range s.has {
		if has && !s.equal(i, row[i]) {
			return
		}
	}
	s.buf = append(s.buf, row...)
}

func (s *scan) equal(col int, d types.Datum) bool {
	p := s.pins[col]
	if d.Null {
		return false
	}
	if s.table.kinds[col] == types.KindBytes {
		return bytes.Equal(p.B, d.B)
	}
	return p.I == d.I
}

// pinned returns the value that the access path gives a column (by attribute number).
func (s *scan) pinned(attno int) (types.Datum, bool) { return s.pins[attno-1], s.has[attno-1] }

// pinnedOID returns a pinned object identifier.
func (s *scan) pinnedOID(attno int) (types.OID, bool) {
	d, ok := s.pinned(attno)
	return types.OID(d.I), ok
}

// wants reports whether a column is asked for, for those that are dear to make.
func (s *scan) wants(attno int) bool {
	return s.need == nil || attno <= len(s.need) && s.need[attno-1]
}

// once makes a step function of a function that emits all rows at once.
func once(f func() error) func() (bool, error) {
	return func() (bool, error) { return false, f() }
}

// overIDs makes a step function that visits a list of identifiers one by one, so that a scan
// holds the rows of one object at a time.
func overIDs(ids []types.OID, f func(id types.OID) error) func() (bool, error) {
	i := 0
	return func() (bool, error) {
		if i == len(ids) {
			return false, nil
		}
		i++
		return true, f(ids[i-1])
	}
}

// overRelations visits one relation when its identifier is pinned in one of the given columns
// (an index leads to its table), else all user relations.
func (s *scan) overRelations(f func(*Relation) error, attnos ...int) (func() (bool, error), error) {
	visit := func(id types.OID) error {
		rel, err := s.tableOf(id)
		if rel == nil || err != nil {
			return err
		}
		return f(rel)
	}
	for _, a := range attnos {
		if id, ok := s.pinnedOID(a); ok {
			if id < pgdata.FirstUserOID {
				return nil, nil
			}
			return overIDs([]types.OID{id}, visit), nil
		}
	}
	var ids []types.OID
	err := s.r.Relations(func(rel *Relation) bool { ids = append(ids, rel.OID); return true })
	return overIDs(ids, visit), err
}

// tableOf returns a relation, for an index its table.
func (s *scan) tableOf(id types.OID) (*Relation, error) {
	rel, err := s.r.RelationByOID(id)
	if rel == nil || err != nil || rel.Kind != KindIndex {
		return rel, err
	}
	rel, _, err = s.r.IndexByOID(id)
	return rel, err
}

// Datum makers for emit.

func oidD(v types.OID) types.Datum { return types.Datum{I: int64(v)} }

func intD[T ~int | ~int16 | ~int32 | ~int64 | ~uint8](v T) types.Datum {
	return types.Datum{I: int64(v)}
}

// textD aliases the string: descriptors are immutable.
func textD(s string) types.Datum {
	if s == "" {
		return types.Datum{B: emptyBytes}
	}
	return types.Datum{B: unsafe.Slice(unsafe.StringData(s), len(s))}
}

var emptyBytes = []byte{}

// optD is textD with "" as NULL.
func optD(s string) types.Datum {
	if s == "" {
		return types.NullDatum
	}
	return textD(s)
}

func boolD(v bool) types.Datum { return types.Bool(v) }

// charTable holds the one-byte values of "char".
var charTable = func() (t [256][1]byte) {
	for i := range t {
		t[i][0] = byte(i)
	}
	return
}()

func charD[T ~byte](c T) types.Datum {
	if c == 0 {
		return types.Datum{B: emptyBytes}
	}
	return types.Datum{B: charTable[c][:]}
}

func floatD(f float64) types.Datum { return types.Float(f) }

var nullD = types.NullDatum

// listD makes an array; nil becomes NULL.
func listD[T any](elem types.OID, list []T, f func(T) types.Datum) types.Datum {
	if list == nil {
		return nullD
	}
	elems := make([]types.Datum, len(list))
	for i, v := range list {
		elems[i] = f(v)
	}
	return types.Bytes(types.MakeArray(elem, elems))
}

// vectorD makes an int2vector or oidvector, which count from 0.
func vectorD[T any](elem types.OID, list []T, f func(T) types.Datum) types.Datum {
	if len(list) == 0 {
		return types.Bytes(types.EmptyArray(elem))
	}
	b := types.BuildArray(nil, elem, []int{len(list)}, []int{0})
	for _, v := range list {
		b.Add(f(v))
	}
	return types.Bytes(b.Buf)
}

// aclD makes an aclitem array of a stored list.
func (s *scan) aclD(attno int, stored []string) (types.Datum, error) {
	if stored == nil || !s.wants(attno) {
		return nullD, nil
	}
	elems := make([]types.Datum, 0, len(stored))
	for _, it := range ParseACL(stored) {
		text, err := aclOut(s.r, it)
		if err != nil {
			return nullD, err
		}
		elems = append(elems, textD(text))
	}
	return types.Bytes(types.MakeArray(types.ACLItemOID, elems)), nil
}
