package postgres

import (
	"reflect"
	"strconv"
	"testing"

	"herd/sql/ast"
	"herd/sql/scan"
)

// consts collects the literals under v that stand in the text, by offset.
func consts(v reflect.Value, out map[int32]*ast.Const) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if k, ok := v.Interface().(*ast.Const); ok {
			out[k.Off] = k
			return
		}
		consts(v.Elem(), out)
	case reflect.Interface:
		if !v.IsNil() {
			consts(v.Elem(), out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			consts(v.Field(i), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			consts(v.Index(i), out)
		}
	}
}

// TestShapesMeetConstants checks that what scan.Shape calls a literal is a constant of the tree at the same offset, of the
// same class and value: the plan cache relies on it.
func TestShapesMeetConstants(t *testing.T) {
	for _, sql := range []string{
		"select 1, -1, 2147483648, -2147483648, -2147483649, 1.5, -1.5, 1e3, 'a', 'it''s', ''",
		"select a -1, a - 1, (a) -1, b * 2 from t where a = -5 and b between -1 and -2 or c in (-1, 'x', 3)",
		"insert into t (a, b) values (1, 'x'), (-2, 'y''z')",
		"update t set a = a + 1, b = 'x' where id = 4711",
		"delete from t where a > 9223372036854775807 and b < 9223372036854775808",
		"select case when a = 1 then -1 else 2 end, a::numeric(10,2), b[1:2], f(-1, 'x') from t limit 10 offset 5",
		"select date '2020-01-01', interval '1 day', 'x'::text || 'y'",
	} {
		_, lits, ok := scan.Shape(nil, nil, sql)
		if !ok {
			t.Errorf("%q has no shape", sql)
			continue
		}
		list, err := Parse(sql)
		if err != nil {
			t.Errorf("%q: %v", sql, err)
			continue
		}
		found := map[int32]*ast.Const{}
		consts(reflect.ValueOf(list[0].Stmt), found)
		for _, l := range lits {
			k := found[l.Start]
			if k == nil {
				t.Errorf("%q: no constant at %d", sql, l.Start)
				continue
			}
			value := string(l.AppendText(nil, sql))
			switch {
			case k.Kind == ast.ConstInt && (l.Class == scan.Int4 || l.Class == scan.Int8):
				small := k.Int == int64(int32(k.Int))
				if l.Int(sql) == k.Int && small == (l.Class == scan.Int4) {
					continue
				}
			case k.Kind == ast.ConstNumeric && l.Class == scan.Numeric, k.Kind == ast.ConstString && l.Class == scan.String:
				if value == k.Text {
					continue
				}
			}
			t.Errorf("%q: literal %s of class %d is constant %+v", sql, strconv.Quote(value), l.Class, *k)
		}
	}
}
