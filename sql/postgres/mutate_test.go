package postgres

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sqlc-dev/oliphant/parser"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// unread lists the fields of the parser's tree whose change may leave the ast as it is, with the reason.
var unread = map[string]string{
	"ObjectWithArgs.objfuncargs":  "the types of objargs again, with modes that name resolution does not use",
	"VariableSetStmt.jumble_args": "about query fingerprints",
	"DefElem.defaction":           "SET is the same as nothing; ADD and DROP are read",
	"SelectStmt.limit_option":     "WITH TIES is read; the others are told by limit_count",
	"SelectStmt.op":               "no set operation is the same as undefined",
	"ColumnDef.is_local":          "about inheritance, true in every statement",
	"RenameStmt.relation_type":    "read for columns and attributes, elsewhere set by accident",
	"A_ArrayExpr.list_start":      "about query fingerprints",
	"A_ArrayExpr.list_end":        "about query fingerprints",
	"A_Expr.rexpr_list_start":     "about query fingerprints",
	"A_Expr.rexpr_list_end":       "about query fingerprints",
	"FunctionParameter.mode":      "IN is the same as nothing",
	"RawStmt.stmt_len":            "the span of a statement, tested by TestSpans",
	"RawStmt.stmt_location":       "the span of a statement, tested by TestSpans",
	"DefElem.arg":                 "no value is the same as true",
	"Node.boolean":                "no value is the same as true",
	"Node.string":                 "no value is the same as true",
}

// TestEveryFieldIsRead takes each statement's tree, changes each set field in turn, and demands another ast or an error.
func TestEveryFieldIsRead(t *testing.T) {
	corpus, err := os.ReadFile("testdata/corpus.sql")
	if err != nil {
		t.Fatal(err)
	}
	ignored := map[string]int{}
	statements := 0
	for _, sql := range strings.Split(string(corpus), ";\n") {
		sql = strings.TrimSpace(sql)
		if sql == "" {
			continue
		}
		tree, err := parser.ParseToTree(sql)
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
			continue
		}
		want, err := convert(sql, tree)
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
			continue
		}
		statements++
		for _, s := range tree.Stmts {
			mutate(s.ProtoReflect(), func(field string) {
				got, err := convert(sql, tree)
				if err == nil && reflect.DeepEqual(got, want) {
					if ignored[field]++; unread[field] == "" {
						t.Errorf("%s\n\ta change of %s makes no difference", sql, field)
					}
				}
			})
		}
	}
	if statements < 200 {
		t.Errorf("only %d statements", statements)
	}
	t.Log(ignored)
}

// mutate changes each set field under m in turn and calls check with the field's name while it is changed.
func mutate(m protoreflect.Message, check func(field string)) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := fmt.Sprintf("%s.%s", m.Descriptor().Name(), f.Name())
		_, skip := unread[name]
		switch {
		case f.IsList() && skip && f.Name() == "objfuncargs":
		case f.IsList():
			l := v.List()
			if f.Kind() == protoreflect.MessageKind {
				for i := range l.Len() {
					mutate(l.Get(i).Message(), check)
				}
			}
			last := l.Get(l.Len() - 1)
			l.Truncate(l.Len() - 1)
			check(name)
			l.Append(last)
		case f.Kind() == protoreflect.MessageKind:
			mutate(v.Message(), check)
			m.Clear(f)
			check(name)
			m.Set(f, v)
		default:
			if f.Name() == "location" || strings.HasSuffix(string(f.Name()), "_location") {
				break // offsets have their own tests
			}
			m.Set(f, other(f, v))
			check(name)
			m.Set(f, v)
		}
		return true
	})
}

// other returns a value that differs from v.
func other(f protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.Bool())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(v.String() + "x")
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		n := (int(v.Enum()) + 1) % values.Len()
		if n == 0 {
			n = 1
		}
		return protoreflect.ValueOfEnum(values.Get(n).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(v.Int()) + 1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(v.Uint()) + 1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(v.Int() + 1)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(v.Uint() + 1)
	}
	panic("kind " + f.Kind().String())
}
