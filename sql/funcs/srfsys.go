package funcs

import (
	"bytes"
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// SystemRows may be implemented by an Env: the rows of functions about server state (pg_stat_get_activity, pg_lock_status,
// pg_cursor, pg_prepared_statement, pg_listening_channels, ...), one datum for each output column that pg_proc declares. ok
// is false when it does not know the function.
type SystemRows interface {
	SystemRows(function string, args []types.Datum) (rows [][]types.Datum, ok bool, err error)
}

// nothingThere lists functions about things that herd does not have: they return no rows, as PostgreSQL does when there are
// none.
var nothingThere = []string{
	"pg_prepared_xact", "pg_stat_get_wal_senders", "pg_get_replication_slots",
	"pg_show_replication_origin_status", "pg_stat_get_subscription", "pg_get_publication_tables", "pg_ident_file_mappings",
	"pg_available_extensions", "pg_available_extension_versions", "pg_extension_update_paths", "pg_partition_tree",
	"pg_partition_ancestors", "pg_get_multixact_members", "pg_show_all_file_settings", "pg_hba_file_rules",
	"pg_stat_get_slru", "pg_stat_get_recovery_prefetch", "pg_get_wal_resource_managers", "pg_get_shmem_allocations",
	"pg_get_backend_memory_contexts", "pg_config",
}

func init() {
	for _, name := range nothingThere {
		regSet(func(*CallInfo) setStart {
			return func(*Ctx, []types.Datum) (SetFunc, error) { return emptySet{}, nil }
		}, name)
	}
	for _, name := range []string{"pg_stat_get_activity", "pg_lock_status", "pg_cursor", "pg_prepared_statement", "pg_listening_channels",
		"pg_stat_get_backend_idset", "pg_timezone_names", "pg_timezone_abbrevs", "pg_tablespace_databases",
		"pg_stat_get_progress_info", "herd_memory_use", "herd_snapshot_list"} {
		regSet(func(ci *CallInfo) setStart {
			ts := outTypes(ci.Func)
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return systemSet(c, name, ts, a) }
		}, name)
	}
	regSet(func(ci *CallInfo) setStart {
		ts := outTypes(ci.Func)
		return func(c *Ctx, _ []types.Datum) (SetFunc, error) { return settingsSet(c, ts), nil }
	}, "show_all_settings")
	regSet(func(*CallInfo) setStart {
		return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return optionsSet(a[0].B), nil }
	}, "pg_options_to_table")
}

// outTypes returns the types of a function's output columns.
func outTypes(fn types.OID) []types.OID {
	p := pgdata.FuncByOID(fn)
	if p == nil || p.AllArgTypes == nil {
		if p != nil {
			return []types.OID{p.RetType}
		}
		return nil
	}
	var ts []types.OID
	for i, t := range p.AllArgTypes {
		if m := p.ArgModes[i]; m == 'o' || m == 't' || m == 'b' {
			ts = append(ts, t)
		}
	}
	return ts
}

func systemSet(c *Ctx, name string, ts []types.OID, a []types.Datum) (SetFunc, error) {
	s, ok := c.Env.(SystemRows)
	if !ok {
		return nil, sqlerr.Unsupported("function %s()", name)
	}
	rows, ok, err := s.SystemRows(name, a)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sqlerr.Unsupported("function %s()", name)
	}
	return listSet(len(rows), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		setRow(out, i, ts, rows[row])
		return nil
	}), nil
}

// settingsSet is pg_show_all_settings(): what the catalog says about each parameter, and its value in this session.
func settingsSet(c *Ctx, ts []types.OID) SetFunc {
	all := pgdata.Settings()
	at := 0
	return &genSet{next: func(c *Ctx, i int, out []*vec.Vector) (bool, error) {
		for at < len(all) {
			s := &all[at]
			at++
			val, ok := s.Boot, true
			if c.Env != nil {
				val, ok = c.Env.Setting(s.Name)
			}
			if !ok {
				continue
			}
			setRow(out, i, ts, settingRow(s, rawSetting(s, val)))
			return true, nil
		}
		return false, nil
	}}
}

func settingRow(s *pgdata.Setting, val string) []types.Datum {
	text := func(s string) types.Datum { return types.Datum{B: []byte(s), Null: s == ""} }
	enum := types.NullDatum
	if len(s.Enum) > 0 {
		var ds []types.Datum
		for _, e := range s.Enum {
			ds = append(ds, types.Text(e))
		}
		enum = types.Bytes(types.MakeArray(types.TextOID, ds))
	}
	boot := types.NullDatum
	if s.HasBoot {
		boot = types.Text(s.Boot)
	}
	source := "default"
	if val != s.Boot {
		source = "session"
	}
	return []types.Datum{types.Text(s.Name), types.Text(val), text(s.Unit), text(s.Category), text(s.ShortDesc), text(s.ExtraDesc),
		text(s.Context), text(s.VarType), types.Text(source), text(s.Min), text(s.Max), enum, boot, boot,
		types.NullDatum, types.NullDatum, types.Bool(false)}
}

// unitSizes are multiples of the smallest unit of memory (bytes) and of time (microseconds), as SHOW prints them.
var unitSizes = map[string]float64{
	"B": 1, "kB": 1 << 10, "8kB": 8 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40,
	"us": 1, "ms": 1e3, "s": 1e6, "min": 60e6, "h": 3600e6, "d": 86400e6,
}

// rawSetting turns what SHOW prints ("4MB") into a number of the parameter's unit ("4096" of kB).
func rawSetting(s *pgdata.Setting, shown string) string {
	base := unitSizes[s.Unit]
	if base == 0 {
		return shown
	}
	n := strings.TrimRight(shown, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	size := unitSizes[shown[len(n):]]
	v, err := strconv.ParseFloat(n, 64)
	if err != nil || size == 0 {
		return shown
	}
	return strconv.FormatFloat(v*size/base, 'f', -1, 64)
}

// optionsSet is pg_options_to_table(text[]): "name=value" elements as two columns.
func optionsSet(b []byte) SetFunc {
	ds := types.ReadArray(b).Datums()
	return listSet(len(ds), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		name, val, ok := bytes.Cut(ds[row].B, []byte("="))
		setRow(out, i, []types.OID{types.TextOID, types.TextOID}, []types.Datum{types.Bytes(name), {B: val, Null: !ok}})
		return nil
	})
}
