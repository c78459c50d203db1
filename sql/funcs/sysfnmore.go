package funcs

import (
	"strings"
	"unicode/utf8"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

func init() {
	initNames()
	initIndexProperties()
	initStatRows()
	initSnapshots()
	initACLItems()
	initSequenceInfo()
}

func initNames() {
	each(func(r *row) error {
		suffix := "_" + itoa(int64(uint32(r.Int(1))))
		name := r.Bytes(0)
		if over := len(name) + len(suffix) - types.NameLen; over > 0 {
			name = name[:len(name)-over]
			for len(name) > 0 && !utf8.Valid(name) {
				name = name[:len(name)-1]
			}
		}
		return r.Finish(append(append(r.Start(), name...), suffix...))
	}, "nameconcatoid")
	each(func(r *row) error {
		dst := r.Start()
		for it := r.Array(0).Iter(); it.Next(); {
			if len(dst) > 0 {
				dst = append(dst, ", "...)
			}
			t := types.OID(types.DecodeValue(types.OIDOID, it.Val).I)
			s := types.FormatType(t, -1, false)
			if s == "" && r.c.Env != nil {
				s, _ = r.c.Env.TypeName(t, -1)
			}
			if s == "" {
				s = "???"
			}
			dst = append(dst, s...)
		}
		return r.Finish(dst)
	}, "oidvectortypes")
	each(func(r *row) error { return r.RetNull() }, "pg_get_statisticsobjdef_expressions", "pg_partition_root", "pg_filenode_relation",
		"pg_xact_commit_timestamp")
	sys(func(r *row, e Env) error {
		rel, err := relationOf(r, e, 0)
		if err != nil {
			return err
		}
		if rel == nil {
			if _, ix, err := e.Catalog().IndexByOID(types.OID(r.Int(0))); err != nil || ix == nil {
				r.RetNull()
				return err
			}
			return r.RetInt(r.Int(0))
		}
		switch rel.Kind {
		case catalog.KindTable, 'S', 'm', 't', 'i':
			return r.RetInt(r.Int(0))
		}
		return r.RetNull()
	}, "pg_relation_filenode")
	initBlocking()
	sys(func(r *row, e Env) error {
		s := pgdata.SettingByName(r.Str(0))
		if s == nil {
			return r.RetNull()
		}
		var elems []types.Datum
		for _, f := range strings.Split(s.Flags, ",") {
			if f = strings.TrimSpace(f); f != "" {
				elems = append(elems, types.Text(f))
			}
		}
		return r.RetBytes(types.MakeArray(types.TextOID, elems))
	}, "pg_settings_get_flags")
}

// initIndexProperties registers what clients ask about indexes: all are B-trees.
func initIndexProperties() {
	btree := pgdata.BTree
	each(func(r *row) error {
		if types.OID(r.Int(0)) != btree {
			return r.RetNull()
		}
		switch strings.ToLower(r.Str(1)) {
		case "can_order", "can_unique", "can_multi_col", "can_exclude", "can_include":
			return r.RetBool(true)
		}
		return r.RetNull()
	}, "pg_indexam_has_property")
	phases := []string{1: "initializing", 2: "scanning table", 3: "sorting live tuples", 4: "sorting dead tuples", 5: "loading tuples in tree"}
	each(func(r *row) error {
		if n := r.Int(1); types.OID(r.Int(0)) == btree && n > 0 && n < int64(len(phases)) {
			return r.RetStr(phases[n])
		}
		return r.RetNull()
	}, "pg_indexam_progress_phasename")
	sys(func(r *row, e Env) error {
		ix, err := indexOf(e, types.OID(r.Int(0)))
		if err != nil || ix == nil {
			r.RetNull()
			return err
		}
		switch strings.ToLower(r.Str(1)) {
		case "clusterable", "index_scan", "bitmap_scan", "backward_scan":
			return r.RetBool(true)
		}
		return r.RetNull()
	}, "pg_index_has_property")
	sys(indexColumnProperty, "pg_index_column_has_property")
}

func indexOf(e Env, id types.OID) (*catalog.Index, error) {
	_, ix, err := e.Catalog().IndexByOID(id)
	return ix, err
}

func indexColumnProperty(r *row, e Env) error {
	ix, err := indexOf(e, types.OID(r.Int(0)))
	n := int(r.Int(1))
	if err != nil || ix == nil || n < 1 || n > len(ix.Keys)+len(ix.Include) {
		r.RetNull()
		return err
	}
	key := n <= len(ix.Keys)
	prop := strings.ToLower(r.Str(2))
	if prop == "returnable" {
		return r.RetBool(true)
	}
	if !key {
		switch prop {
		case "asc", "desc", "nulls_first", "nulls_last", "orderable", "distance_orderable", "search_array", "search_nulls":
			return r.RetBool(false)
		}
		return r.RetNull()
	}
	k := &ix.Keys[n-1]
	switch prop {
	case "asc":
		return r.RetBool(!k.Desc)
	case "desc":
		return r.RetBool(k.Desc)
	case "nulls_first":
		return r.RetBool(k.NullsFirst)
	case "nulls_last":
		return r.RetBool(!k.NullsFirst)
	case "orderable", "search_array", "search_nulls":
		return r.RetBool(true)
	case "distance_orderable":
		return r.RetBool(false)
	}
	return r.RetNull()
}

// initStatRows registers the statistics functions that give one row: each column is a counter of Env.Stat.
func initStatRows() {
	for _, fn := range []string{"wal", "archiver"} {
		regSet(func(ci *CallInfo) setStart {
			p := pgdata.FuncByOID(ci.Func)
			ts := outTypes(ci.Func)
			return func(c *Ctx, _ []types.Datum) (SetFunc, error) {
				if c.Env == nil {
					return nil, unsupported("function pg_stat_get_%s() outside a session", fn)
				}
				vals := make([]types.Datum, len(ts))
				for i, t := range ts {
					vals[i] = statDatum(c.Env, fn+"_"+strings.TrimPrefix(p.ArgNames[i], "wal_"), t)
				}
				return listSet(1, func(_ *Ctx, _, i int, out []*vec.Vector) error {
					setRow(out, i, ts, vals)
					return nil
				}), nil
			}
		}, "pg_stat_get_"+fn)
	}
	for _, name := range []string{"pg_stat_get_wal_receiver", "pg_stat_get_replication_slot", "pg_stat_get_subscription_stats", "pg_mcv_list_items"} {
		regSet(func(*CallInfo) setStart {
			return func(*Ctx, []types.Datum) (SetFunc, error) { return emptySet{}, nil }
		}, name)
	}
}

// statDatum is a counter as a value of type t; text and times that never were are NULL.
func statDatum(e Env, counter string, t types.OID) types.Datum {
	v, ok := e.Stat(counter, 0)
	switch {
	case !ok, t == types.TextOID, t == types.TimestampTZOID && v == 0:
		return types.NullDatum
	case t == types.Float8OID:
		return types.Float(float64(v) / 1000)
	case t == types.NumericOID:
		d, err := types.Input(types.NewIOContext(), t, -1, []byte(itoa(v)))
		if err != nil {
			return types.NullDatum
		}
		return d
	}
	return types.Int(v)
}

// initSnapshots registers the functions over pg_snapshot, whose value is its text xmin:xmax:xip,...
func initSnapshots() {
	part := func(k int) rowFunc {
		return func(r *row) error {
			f := strings.SplitN(r.Str(0), ":", 3)
			d, err := types.Input(r.c.IO, types.Int8OID, -1, []byte(f[k]))
			if err != nil {
				return err
			}
			return r.RetInt(d.I)
		}
	}
	each(part(0), "pg_snapshot_xmin")
	each(part(1), "pg_snapshot_xmax")
}

func initACLItems() {
	each(func(r *row) error { return r.RetBool(string(r.Bytes(0)) == string(r.Bytes(1))) }, "aclitem_eq")
	sys(func(r *row, e Env) error {
		name := func(id types.OID) (string, error) {
			x, err := e.Catalog().RoleByOID(id)
			if err != nil || x == nil {
				return itoa(int64(id)), err
			}
			return aclRole(x.Name), nil
		}
		grantee := ""
		var err error
		if r.Int(0) != 0 {
			if grantee, err = name(types.OID(r.Int(0))); err != nil {
				return err
			}
		}
		grantor, err := name(types.OID(r.Int(1)))
		if err != nil {
			return err
		}
		letters, err := privilegeLetters(r.Str(2), r.Bool(3))
		if err != nil {
			return err
		}
		return r.RetStr(grantee + "=" + letters + "/" + grantor)
	}, "makeaclitem")
}

// privilegeLetters turns a list of privilege words into the letters of an aclitem.
func privilegeLetters(list string, option bool) (string, error) {
	var letters []byte
	for _, w := range strings.Split(list, ",") {
		w = strings.TrimSpace(w)
		found := false
		for _, p := range privilegeNames {
			if !strings.EqualFold(w, p.name) && !(strings.EqualFold(w, "TEMP") && p.name == "TEMPORARY") {
				continue
			}
			found = true
			letters = append(letters, p.letter)
			if option {
				letters = append(letters, '*')
			}
		}
		if !found {
			return "", invalidParam("unrecognized privilege type: \"%s\"", w)
		}
	}
	return string(letters), nil
}

// initSequenceInfo registers pg_sequence_parameters for use in FROM.
func initSequenceInfo() {
	regSet(func(ci *CallInfo) setStart {
		ts := outTypes(ci.Func)
		return func(c *Ctx, a []types.Datum) (SetFunc, error) {
			if c.Env == nil {
				return nil, unsupported("function pg_sequence_parameters(oid) outside a session")
			}
			rel, err := c.Env.Catalog().RelationByOID(types.OID(a[0].I))
			if err != nil {
				return nil, err
			}
			if rel == nil || rel.Sequence == nil {
				return emptySet{}, nil
			}
			s := rel.Sequence
			vals := []types.Datum{types.Int(s.Start), types.Int(s.Min), types.Int(s.Max), types.Int(s.Increment), types.Bool(s.Cycle), types.Int(s.Cache), types.Int(int64(s.Type))}
			return listSet(1, func(_ *Ctx, _, i int, out []*vec.Vector) error {
				setRow(out, i, ts, vals)
				return nil
			}), nil
		}
	}, "pg_sequence_parameters")
}
