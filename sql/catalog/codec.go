package catalog

import (
	"encoding/binary"
	"fmt"
	"math"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/storage"
)

// formatVersion is the first byte of every stored descriptor.
const formatVersion = 1

// recordKind is the second byte: what the object's row holds.
type recordKind byte

const (
	recRelation   recordKind = 'R'
	recInTable    recordKind = 'P' // index, constraint: the identifier of its table
	recRowType    recordKind = 'Y' // row type: the identifier of its relation
	recArrayType  recordKind = 'A' // array type: the identifier of its element type
	recType       recordKind = 'T'
	recProc       recordKind = 'F'
	recSchema     recordKind = 'S'
	recRole       recordKind = 'O'
	recDatabase   recordKind = 'D'
	recMember     recordKind = 'M'
	recSetting    recordKind = 'G'
	recDefaultACL recordKind = 'L'
	recStats      recordKind = 'Z'
)

// headerSize is the size of format, kind and stamp.
const headerSize = 10

// codec writes or reads descriptors: the same code lists the fields for both directions.
// Every struct is framed by its length, so fields can be appended to a struct: an old record
// gives them their zero value.
type codec struct {
	reading bool
	out     []byte // writing
	in      string // reading: what is left of the current frame
	err     error
}

// header returns kind and stamp of a record.
func header(val []byte) (kind recordKind, stamp uint64, err error) {
	if len(val) < headerSize || val[0] != formatVersion {
		return 0, 0, fmt.Errorf("catalog record of %d bytes: unknown format", len(val))
	}
	return recordKind(val[1]), binary.BigEndian.Uint64(val[2:]), nil
}

// encode makes a record.
func encode(kind recordKind, stamp uint64, fields func(*codec)) []byte {
	c := codec{out: make([]byte, 0, 256)}
	c.out = append(c.out, formatVersion, byte(kind))
	c.out = binary.BigEndian.AppendUint64(c.out, stamp)
	fields(&c)
	return c.out
}

// decode reads a record's fields.
func decode(val []byte, fields func(*codec)) error {
	c := codec{reading: true, in: string(val[headerSize:])}
	fields(&c)
	if c.err != nil {
		return fmt.Errorf("catalog record: %w", c.err)
	}
	return nil
}

func (c *codec) uvarint(v *uint64) {
	if !c.reading {
		c.out = binary.AppendUvarint(c.out, *v)
		return
	}
	*v = 0
	for shift := 0; shift < 64; shift += 7 {
		if c.in == "" {
			if shift != 0 {
				c.fail("number cut off")
			}
			return
		}
		b := c.in[0]
		c.in = c.in[1:]
		*v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return
		}
	}
	c.fail("number too long")
}

func (c *codec) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s", what)
	}
	c.in = ""
}

// unsigned codes any unsigned number.
func unsigned[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *codec, v *T) {
	u := uint64(*v)
	c.uvarint(&u)
	*v = T(u)
}

// signed codes any signed number.
func signed[T ~int | ~int16 | ~int32 | ~int64](c *codec, v *T) {
	u := uint64(*v)<<1 ^ uint64(int64(*v)>>63)
	c.uvarint(&u)
	*v = T(int64(u>>1) ^ -int64(u&1))
}

func (c *codec) float(v *float64) {
	u := math.Float64bits(*v)
	c.uvarint(&u)
	*v = math.Float64frombits(u)
}

func (c *codec) bool(v *bool) {
	var u uint8
	if *v {
		u = 1
	}
	unsigned(c, &u)
	*v = u != 0
}

func (c *codec) string(v *string) {
	n := uint64(len(*v))
	c.uvarint(&n)
	if !c.reading {
		c.out = append(c.out, *v...)
		return
	}
	if n > uint64(len(c.in)) {
		c.fail("text cut off")
		n = 0
	}
	*v, c.in = c.in[:n], c.in[n:]
}

// list codes a slice; nil and empty are not told apart.
func list[T any](c *codec, v *[]T, item func(*codec, *T)) {
	n := uint64(len(*v))
	c.uvarint(&n)
	if c.reading {
		if n > uint64(len(c.in)) {
			c.fail("list cut off")
			return
		}
		*v = nil
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		item(c, &(*v)[i])
	}
}

// frame codes a struct's fields behind their length.
func (c *codec) frame(fields func()) {
	if !c.reading {
		at := len(c.out)
		c.out = append(c.out, 0, 0, 0, 0)
		fields()
		binary.BigEndian.PutUint32(c.out[at:], uint32(len(c.out)-at-4))
		return
	}
	if len(c.in) < 4 {
		if c.in != "" {
			c.fail("frame cut off")
		}
		fields() // all zero
		return
	}
	n := int(uint32(c.in[0])<<24 | uint32(c.in[1])<<16 | uint32(c.in[2])<<8 | uint32(c.in[3]))
	if n > len(c.in)-4 {
		c.fail("frame cut off")
		return
	}
	rest := c.in[4+n:]
	c.in = c.in[4 : 4+n]
	fields()
	if c.err == nil {
		c.in = rest
	}
}

// optional codes a pointer.
func optional[T any](c *codec, v **T, item func(*codec, *T)) {
	has := *v != nil
	c.bool(&has)
	if !has {
		*v = nil
		return
	}
	if c.reading {
		*v = new(T)
	}
	item(c, *v)
}

func (c *codec) strings(v *[]string) { list(c, v, (*codec).string) }

func (c *codec) oids(v *[]types.OID) { list(c, v, unsigned[types.OID]) }

func (c *codec) attnos(v *[]int16) { list(c, v, signed[int16]) }

func (c *codec) datum(d *types.Datum) {
	c.bool(&d.Null)
	signed(c, &d.I)
	s := string(d.B)
	has := d.B != nil
	c.bool(&has)
	c.string(&s)
	d.B = nil
	if has {
		d.B = []byte(s)
	}
}

func (c *codec) column(v *Column) {
	c.frame(func() {
		signed(c, &v.Num)
		c.string(&v.Name)
		unsigned(c, &v.Type)
		signed(c, &v.Typmod)
		unsigned(c, &v.Collation)
		signed(c, &v.Dims)
		c.bool(&v.NotNull)
		c.string(&v.Default)
		unsigned(c, &v.DefaultOID)
		unsigned(c, &v.Identity)
		c.string(&v.Generated)
		unsigned(c, &v.Sequence)
		optional(c, &v.Missing, (*codec).datum)
		c.bool(&v.Dropped)
		c.strings(&v.ACL)
		c.bool(&v.UpdateNow)
	})
}

func (c *codec) index(v *Index) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Rel)
		unsigned(c, &v.Tree)
		c.bool(&v.Unique)
		c.bool(&v.Primary)
		c.bool(&v.NullsNotDistinct)
		c.bool(&v.Deferrable)
		c.bool(&v.InitiallyDeferred)
		list(c, &v.Keys, (*codec).indexKey)
		c.attnos(&v.Include)
		c.string(&v.Pred)
		unsigned(c, &v.State)
		unsigned(c, &v.Constraint)
		c.string(&v.Method)
		c.strings(&v.Options)
	})
}

func (c *codec) indexKey(v *IndexKey) {
	c.frame(func() {
		signed(c, &v.Attno)
		c.string(&v.Expr)
		unsigned(c, &v.Type)
		unsigned(c, &v.Collation)
		unsigned(c, &v.OpClass)
		c.bool(&v.Desc)
		c.bool(&v.NullsFirst)
		unsigned(c, &v.ExprCollation)
	})
}

func (c *codec) constraint(v *Constraint) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Type)
		unsigned(c, &v.Rel)
		c.attnos(&v.Cols)
		c.string(&v.Expr)
		c.bool(&v.NoInherit)
		unsigned(c, &v.Index)
		unsigned(c, &v.Ref)
		c.attnos(&v.RefCols)
		unsigned(c, &v.OnDelete)
		unsigned(c, &v.OnUpdate)
		c.attnos(&v.OnDeleteCols)
		unsigned(c, &v.Match)
		c.bool(&v.Deferrable)
		c.bool(&v.InitiallyDeferred)
		c.bool(&v.Validated)
		c.oids(&v.EqOps)
	})
}

func (c *codec) sequence(v *Sequence) {
	c.frame(func() {
		unsigned(c, &v.Type)
		signed(c, &v.Start)
		signed(c, &v.Increment)
		signed(c, &v.Min)
		signed(c, &v.Max)
		signed(c, &v.Cache)
		c.bool(&v.Cycle)
		unsigned(c, &v.OwnerRel)
		signed(c, &v.OwnerCol)
		c.bool(&v.Identity)
	})
}

func (c *codec) relation(v *Relation) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Schema)
		unsigned(c, &v.Kind)
		unsigned(c, &v.Owner)
		unsigned(c, &v.Persistence)
		list(c, &v.Columns, (*codec).column)
		unsigned(c, &v.TreeID)
		unsigned(c, &v.LargeTree)
		c.bool(&v.HiddenRowID)
		optional(c, &v.PrimaryKey, (*codec).index)
		list(c, &v.Indexes, pointer((*codec).index))
		list(c, &v.Constraints, pointer((*codec).constraint))
		c.oids(&v.ReferencedBy)
		c.oids(&v.ReferencedByRel)
		c.string(&v.ViewDef)
		unsigned(c, &v.RuleOID)
		optional(c, &v.Sequence, (*codec).sequence)
		unsigned(c, &v.RowType)
		unsigned(c, &v.ArrayType)
		c.strings(&v.Options)
		c.strings(&v.ACL)
		c.bool(&v.Unpopulated)
	})
}

// pointer codes an element that is never nil.
func pointer[T any](item func(*codec, *T)) func(*codec, **T) {
	return func(c *codec, v **T) {
		if c.reading {
			*v = new(T)
		}
		item(c, *v)
	}
}

func (c *codec) schema(v *Schema) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Owner)
		c.strings(&v.ACL)
	})
}

func (c *codec) pgType(v *Type) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Namespace)
		unsigned(c, &v.Owner)
		signed(c, &v.Len)
		c.bool(&v.ByVal)
		unsigned(c, &v.Type)
		unsigned(c, &v.Category)
		c.bool(&v.Preferred)
		c.bool(&v.Defined)
		unsigned(c, &v.Delim)
		unsigned(c, &v.Relid)
		unsigned(c, &v.Subscript)
		unsigned(c, &v.Elem)
		unsigned(c, &v.Array)
		unsigned(c, &v.Input)
		unsigned(c, &v.Output)
		unsigned(c, &v.Receive)
		unsigned(c, &v.Send)
		unsigned(c, &v.ModIn)
		unsigned(c, &v.ModOut)
		unsigned(c, &v.Analyze)
		unsigned(c, &v.Align)
		unsigned(c, &v.Storage)
		c.bool(&v.NotNull)
		unsigned(c, &v.BaseType)
		signed(c, &v.Typmod)
		signed(c, &v.NDims)
		unsigned(c, &v.Collation)
		c.string(&v.Default)
		c.string(&v.ACL)
		unsigned(c, &v.Subtype)
		unsigned(c, &v.Range)
		list(c, &v.Labels, (*codec).label)
		list(c, &v.Checks, (*codec).typeCheck)
	})
}

func (c *codec) proc(v *Proc) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Namespace)
		unsigned(c, &v.Owner)
		unsigned(c, &v.Lang)
		c.float(&v.Cost)
		c.float(&v.Rows)
		unsigned(c, &v.Variadic)
		unsigned(c, &v.Kind)
		c.bool(&v.SecDef)
		c.bool(&v.LeakProof)
		c.bool(&v.Strict)
		c.bool(&v.RetSet)
		unsigned(c, &v.Volatile)
		unsigned(c, &v.Parallel)
		signed(c, &v.NArgs)
		signed(c, &v.NArgDefaults)
		unsigned(c, &v.RetType)
		c.oids(&v.ArgTypes)
		c.oids(&v.AllArgTypes)
		list(c, &v.ArgModes, unsigned[byte])
		c.strings(&v.ArgNames)
		c.strings(&v.ArgDefaults)
		c.string(&v.Src)
		c.string(&v.SQLBody)
		c.string(&v.ACL)
	})
}

func (c *codec) role(v *Role) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		c.bool(&v.Super)
		c.bool(&v.Inherit)
		c.bool(&v.CreateRole)
		c.bool(&v.CreateDB)
		c.bool(&v.Login)
		c.bool(&v.Replication)
		c.bool(&v.BypassRLS)
		signed(c, &v.ConnLimit)
		c.string(&v.Password)
		optional(c, &v.ValidUntil, signed[int64])
		c.strings(&v.Config)
	})
}

func (c *codec) database(v *Database) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		unsigned(c, &v.Owner)
		c.bool(&v.IsTemplate)
		c.bool(&v.AllowConn)
		signed(c, &v.ConnLimit)
		c.strings(&v.ACL)
		c.strings(&v.Config)
	})
}

func (c *codec) membership(v *Membership) {
	c.frame(func() {
		unsigned(c, &v.Role)
		unsigned(c, &v.Member)
		unsigned(c, &v.Grantor)
		c.bool(&v.Admin)
	})
}

func (c *codec) roleSetting(v *RoleSetting) {
	c.frame(func() {
		unsigned(c, &v.Database)
		unsigned(c, &v.Role)
		c.strings(&v.Config)
	})
}

func (c *codec) defaultACL(v *DefaultACL) {
	c.frame(func() {
		unsigned(c, &v.OID)
		unsigned(c, &v.Role)
		unsigned(c, &v.Schema)
		unsigned(c, &v.ObjType)
		c.strings(&v.ACL)
	})
}

func (c *codec) columnStats(v *ColumnStats) {
	c.frame(func() {
		c.float(&v.NullFrac)
		signed(c, &v.AvgWidth)
		c.float(&v.NDistinct)
		list(c, &v.MCV, (*codec).datum)
		list(c, &v.MCVFreqs, (*codec).float)
		list(c, &v.Histogram, (*codec).datum)
		c.float(&v.Correlation)
	})
}

func (c *codec) relStats(v *RelStats) {
	c.frame(func() {
		c.float(&v.Rows)
		c.float(&v.Pages)
	})
}

// seq is a stamp as descriptors carry it.
func seq(stamp uint64) storage.Seq { return storage.Seq(stamp) }

func (c *codec) label(v *pgdata.EnumLabel) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		c.float(&v.Sort)
	})
}

func (c *codec) typeCheck(v *pgdata.TypeCheck) {
	c.frame(func() {
		unsigned(c, &v.OID)
		c.string(&v.Name)
		c.string(&v.Expr)
		c.bool(&v.Validated)
	})
}
