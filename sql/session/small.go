package session

import (
	"fmt"
	"strconv"
	"time"

	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/storage"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// typeLen is pg_type.typlen, which RowDescription carries; types that are not built in are of variable length but for enums.
func (s *Session) typeLen(t types.OID) int16 {
	if p := pgdata.TypeByOID(t); p != nil {
		return int16(p.Len)
	}
	cat, err := s.catalog()
	if err != nil {
		return -1
	}
	if p, err := cat.TypeByOID(t); err == nil && p != nil {
		return int16(p.Len)
	}
	return -1
}

// loadZone finds a time zone by name, abbreviation, offset or POSIX form; the name is what SHOW TIME ZONE prints.
func loadZone(v string) (string, *time.Location, error) {
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		secs := int64(f * 3600)
		name := zoneOfSeconds(secs)
		return name, datetime.FixedZone(int(secs)), nil
	}
	zone, err := datetime.LoadZone(v)
	if err != nil {
		return "", nil, err
	}
	if name := zone.String(); name != "" {
		return name, zone, nil
	}
	return v, zone, nil
}

// zoneOfSeconds is the POSIX name that PostgreSQL gives a zone set by an interval or a number of hours: <+02>-02.
func zoneOfSeconds(east int64) string {
	sign, back := "+", "-"
	if east < 0 {
		sign, back, east = "-", "+", -east
	}
	h, m, s := east/3600, east/60%60, east%60
	abs := fmt.Sprintf("%02d", h)
	if m != 0 || s != 0 {
		abs += fmt.Sprintf(":%02d", m)
	}
	if s != 0 {
		abs += fmt.Sprintf(":%02d", s)
	}
	return "<" + sign + abs + ">" + back + abs
}

// constText is a constant's value as SET takes it.
func constText(c *ast.Const) string {
	switch c.Kind {
	case ast.ConstInt:
		return itoa(c.Int)
	case ast.ConstBool:
		if c.Bool {
			return "true"
		}
		return "false"
	}
	return c.Text
}

// firstUserOID is the first object identifier that is not built in.
const firstUserOID types.OID = 16384

// treeBytes estimates a tree's size from its exact row count and the mean size of its first rows.
func treeBytes(v storage.View, t storage.TreeID) (int64, error) {
	if t == 0 { // a view, a sequence
		return 0, nil
	}
	const sample = 200
	var c storage.Cursor
	c.Init(v, t, nil, nil, false)
	defer c.Close()
	n, size := int64(0), int64(0)
	for n < sample && c.Next() {
		n++
		size += int64(len(c.Key()) + len(c.Value()))
	}
	if n == 0 {
		return 0, c.Err()
	}
	return size * v.Count(t) / n, c.Err()
}
