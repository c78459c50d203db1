package funcs

import (
	"math/big"
	"strconv"
	"strings"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/numeric"
)

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func init() {
	size := func(what string) sysFunc {
		return func(r *row, e Env) error {
			n, ok, err := e.Size(what, types.OID(r.Int(0)))
			if err != nil || !ok {
				r.RetNull()
				return err
			}
			return r.RetInt(n)
		}
	}
	sys(size("table"), "pg_table_size")
	sys(size("indexes"), "pg_indexes_size")
	sys(size("total"), "pg_total_relation_size")
	sys(size("tablespace"), "pg_tablespace_size_oid")
	sys(size("database"), "pg_database_size_oid")
	sys(func(r *row, e Env) error {
		switch r.Str(1) {
		case "main":
			return size("relation")(r, e)
		case "fsm", "vm", "init":
			return r.RetInt(0)
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid fork name").WithHint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")
	}, "pg_relation_size")
	sys(func(r *row, e Env) error {
		d, err := e.Catalog().DatabaseByName(r.Str(0))
		if err != nil {
			return err
		}
		if d == nil {
			return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", r.Str(0))
		}
		n, ok, err := e.Size("database", d.OID)
		if err != nil || !ok {
			r.RetNull()
			return err
		}
		return r.RetInt(n)
	}, "pg_database_size_name")
	sys(func(r *row, e Env) error {
		id := map[string]types.OID{"pg_default": tablespaceCommon, "pg_global": tablespaceGlobal}[r.Str(0)]
		if id == 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", r.Str(0))
		}
		n, ok, err := e.Size("tablespace", id)
		if err != nil || !ok {
			r.RetNull()
			return err
		}
		return r.RetInt(n)
	}, "pg_tablespace_size_name")
	each(func(r *row) error { return r.RetStr(prettySize(r.Int(0))) }, "pg_size_pretty")
	each(func(r *row) error {
		s, err := prettyNumeric(r.Num(0))
		if err != nil {
			return err
		}
		return r.RetStr(s)
	}, "pg_size_pretty_numeric")
	each(func(r *row) error { return r.RetI(sizeBytes(r.Str(0))) }, "pg_size_bytes")
}

// sizeUnits are the units of pg_size_pretty: a unit serves sizes below its limit, in units of 1 << shift bytes; half says
// whether the value is first cut to half units and then rounded.
var sizeUnits = []struct {
	name  string
	limit int64
	half  bool
	shift uint
}{
	{"bytes", 10 * 1024, false, 0}, {"kB", 20*1024 - 1, true, 10}, {"MB", 20*1024 - 1, true, 20}, {"GB", 20*1024 - 1, true, 30},
	{"TB", 20*1024 - 1, true, 40}, {"PB", 20*1024 - 1, true, 50},
}

// halfRound divides by two, rounding half away from zero.
func halfRound(v int64) int64 {
	if v < 0 {
		return (v - 1) / 2
	}
	return (v + 1) / 2
}

func prettySize(size int64) string {
	for i, u := range sizeUnits {
		abs := uint64(size)
		if size < 0 {
			abs = -abs
		}
		last := i == len(sizeUnits)-1
		if last || abs < uint64(u.limit) {
			if u.half {
				size = halfRound(size)
			}
			return itoa(size) + " " + u.name
		}
		next := sizeUnits[i+1]
		bits := next.shift - u.shift
		if next.half {
			bits--
		}
		if u.half {
			bits++
		}
		size /= 1 << bits
	}
	return ""
}

func prettyNumeric(n numeric.Num) (string, error) {
	for i, u := range sizeUnits {
		last := i == len(sizeUnits)-1
		if last || n.Abs().Cmp(numeric.FromInt64(u.limit)) < 0 {
			if u.half { // numeric_half_rounded
				one := int64(1)
				if n.Cmp(numeric.Zero) < 0 {
					one = -1
				}
				sum, err := numeric.Add(n, numeric.FromInt64(one))
				if err != nil {
					return "", err
				}
				if n, err = numeric.DivTrunc(sum, numeric.FromInt64(2)); err != nil {
					return "", err
				}
			}
			return string(n.Append(nil)) + " " + u.name, nil
		}
		next := sizeUnits[i+1]
		bits := next.shift - u.shift
		if next.half {
			bits--
		}
		if u.half {
			bits++
		}
		var err error
		if n, err = numeric.DivTrunc(n, numeric.FromInt64(1<<bits)); err != nil {
			return "", err
		}
	}
	return "", nil
}

// sizeBytes is pg_size_bytes: a number and a unit.
func sizeBytes(text string) (int64, error) {
	bad := func() *sqlerr.Error { return sqlerr.New(sqlerr.InvalidParameterValue, "invalid size: \"%s\"", text) }
	s := strings.TrimLeft(text, " \t\n\r\f\v")
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := func() bool {
		at := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > at
	}
	have := digits()
	if i < len(s) && s[i] == '.' {
		i++
		have = digits() || have
	}
	if !have {
		return 0, bad()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i
		i++
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		if !digits() {
			i = j
		}
	}
	n, err := numeric.Parse([]byte(s[:i]))
	if err != nil {
		return 0, err
	}
	unit := strings.Trim(s[i:], " \t\n\r\f\v")
	if unit != "" {
		shift := -1
		for _, u := range sizeUnits {
			if strings.EqualFold(unit, u.name) {
				shift = int(u.shift)
			}
		}
		if shift < 0 {
			return 0, bad().WithDetail("Invalid size unit: \"%s\".", unit).
				WithHint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
		}
		if n, err = numeric.Mul(n, numeric.FromBig(new(big.Int).Lsh(big.NewInt(1), uint(shift)), 0)); err != nil {
			return 0, err
		}
	}
	return n.Int64(-1<<63, 1<<63-1, "bigint")
}
