package catalog

import (
	"testing"

	"herd/sql/types"
)

func sampleRelation() *Relation {
	missing := types.Int(7)
	return &Relation{
		OID: 20000, Name: "t", Schema: 2200, Kind: KindTable, Owner: 10, Persistence: 'p', TreeID: 1030, LargeTree: 1031,
		Columns:     []Column{{Num: 1, Name: "id", Type: 23, Typmod: -1, NotNull: true}, {Num: 2, Name: "v", Type: 25, Typmod: -1, Collation: 100, Missing: &missing, ACL: []string{"=r/10"}}},
		PrimaryKey:  &Index{OID: 20001, Name: "t_pkey", Primary: true, Unique: true, Keys: []IndexKey{{Attno: 1, Type: 23}}},
		Constraints: []*Constraint{{OID: 20002, Name: "t_pkey", Type: 'p', Cols: []int16{1}}},
		Options:     []string{"fillfactor=70"},
	}
}

// FuzzDecode feeds damaged records to all decoders: they return an error or a value, never
// panic and never hang.
func FuzzDecode(f *testing.F) {
	f.Add(encode(recRelation, 1, func(c *codec) { c.relation(sampleRelation()) }))
	t := NewEnum(2200, 10, "mood", []string{"a", "b"})
	f.Add(encode(recType, 1, func(c *codec) { c.pgType(t) }))
	f.Add(encode(recStats, 1, func(c *codec) {
		c.tableStats(&tableStats{columns: []numberedStats{{1, ColumnStats{MCV: []types.Datum{types.Text("x")}}}}})
	}))
	f.Fuzz(func(t *testing.T, val []byte) {
		if _, _, err := header(val); err != nil {
			return
		}
		for _, fields := range []func(*codec){
			func(c *codec) { c.relation(new(Relation)) }, func(c *codec) { c.pgType(new(Type)) }, func(c *codec) { c.proc(new(Proc)) },
			func(c *codec) { c.tableStats(new(tableStats)) }, func(c *codec) { c.role(new(Role)) }, func(c *codec) { c.database(new(Database)) },
		} {
			decode(val, fields) // any outcome but a panic will do
		}
	})
}

// TestOldRecord reads a record whose structs lack their last fields, as an older version wrote it.
func TestOldRecord(t *testing.T) {
	old := encode(recSchema, 5, func(c *codec) {
		c.frame(func() {
			id, name := types.OID(77), "s"
			unsigned(c, &id)
			c.string(&name)
		})
	})
	var s Schema
	if err := decode(old, func(c *codec) { c.schema(&s) }); err != nil || s.OID != 77 || s.Name != "s" || s.Owner != 0 || s.ACL != nil {
		t.Errorf("%+v %v", s, err)
	}
}

// TestNewRecord reads a record whose structs have more fields than this version knows.
func TestNewRecord(t *testing.T) {
	rec := encode(recRelation, 5, func(c *codec) {
		two := []Column{{Num: 1, Name: "a"}, {Num: 2, Name: "b"}}
		list(c, &two, func(c *codec, v *Column) {
			c.frame(func() {
				signed(c, &v.Num)
				c.string(&v.Name)
				for range 40 {
					var zero uint32
					unsigned(c, &zero)
				}
			})
		})
	})
	var cols []Column
	if err := decode(rec, func(c *codec) { list(c, &cols, (*codec).column) }); err != nil || len(cols) != 2 || cols[1].Name != "b" {
		t.Errorf("%+v %v", cols, err)
	}
}

// TestCutRecords cuts a record at every place: what is read must be an error or a prefix.
func TestCutRecords(t *testing.T) {
	whole := encode(recRelation, 1, func(c *codec) { c.relation(sampleRelation()) })
	for n := headerSize + 1; n < len(whole); n++ {
		if err := decode(whole[:n], func(c *codec) { c.relation(new(Relation)) }); err == nil {
			t.Errorf("a record of %d of %d bytes was accepted", n, len(whole))
		}
	}
}

func TestStampsAndCache(t *testing.T) {
	c := NewCache()
	k := cacheKey{1, 2, 3, 0}
	c.put(k, &Schema{Name: "x"}, 10)
	for i := range 4 * generationSize / (100*decodedFactor + 128) {
		c.put(cacheKey{1, types.OID(i), 9, 0}, nil, 100)
		if i%1000 == 0 {
			if _, ok := c.get(k); !ok {
				t.Fatal("an entry in use fell out")
			}
		}
	}
	if n := len(c.cur) + len(c.old); n > 2*generationSize/(100*decodedFactor+128)+2 {
		t.Errorf("%d entries kept", n)
	}
}
