package funcs

import (
	"fmt"
	"strings"
	"testing"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// recordingEnv notes what functions ask of the session.
type recordingEnv struct {
	Env
	asked string
}

func (e *recordingEnv) HasPrivilege(q PrivilegeQuery) (has, null bool, err error) {
	e.asked = fmt.Sprintf("%s role=%s/%d current=%v object=%s/%d column=%s/%d %s", q.Kind, q.RoleName, q.RoleOID, q.Current, q.ObjectName, q.Object, q.Column, q.Attno, q.Privileges)
	return true, q.Object == 99, nil
}

func (e *recordingEnv) AdvisoryLock(k AdvisoryKey, shared, xact, try bool) (bool, error) {
	e.asked = fmt.Sprintf("lock %d %d two=%v shared=%v xact=%v try=%v", k.Class, k.Obj, k.Two, shared, xact, try)
	return true, nil
}

func (e *recordingEnv) AdvisoryUnlock(k AdvisoryKey, shared bool) (bool, error) {
	e.asked = fmt.Sprintf("unlock %d %d two=%v shared=%v", k.Class, k.Obj, k.Two, shared)
	return false, nil
}

func (e *recordingEnv) Setting(name string) (string, bool) {
	return "value of " + name, name == "known"
}

func (e *recordingEnv) SetSetting(name, value string, local bool) (string, error) {
	e.asked = fmt.Sprintf("set %s=%s local=%v", name, value, local)
	return value, nil
}

func (e *recordingEnv) Deparse(q DeparseQuery) (string, bool, error) {
	e.asked = fmt.Sprintf("%s %d/%s column=%d text=%s pretty=%v", q.Kind, q.Object, q.Name, q.Column, q.Text, q.Pretty)
	return "text", q.Object != 99, nil
}

func (e *recordingEnv) Size(what string, object types.OID) (int64, bool, error) {
	e.asked = fmt.Sprintf("size of %s %d", what, object)
	return 7, true, nil
}

func (e *recordingEnv) SearchPath(implicit bool) []string {
	if implicit {
		return []string{"pg_catalog", "public"}
	}
	return nil
}

// TestSession calls functions by signature and checks the result and what the session was asked.
func TestSession(t *testing.T) {
	for _, c := range []struct {
		call  string
		args  []any
		want  string // text of the result, NULL, or SQLSTATE
		asked string
	}{
		{"has_table_privilege(name,text,text)", []any{"u", "t", "SELECT"}, "t", "table role=u/0 current=false object=t/0 column=/0 SELECT"},
		{"has_table_privilege(oid,oid,text)", []any{10, 20, "select, update"}, "t", "table role=/10 current=false object=/20 column=/0 select, update"},
		{"has_table_privilege(oid,text)", []any{99, "SELECT WITH GRANT OPTION"}, "NULL", "table role=/0 current=true object=/99 column=/0 SELECT WITH GRANT OPTION"},
		{"has_table_privilege(text,text)", []any{"t", "FROB"}, "22023", ""},
		{"has_column_privilege(name,oid,int2,text)", []any{"u", 20, 3, "INSERT"}, "t", "column role=u/0 current=false object=/20 column=/3 INSERT"},
		{"has_column_privilege(text,text,text)", []any{"t", "c", "INSERT"}, "t", "column role=/0 current=true object=t/0 column=c/0 INSERT"},
		{"pg_has_role(oid,text)", []any{10, "MEMBER"}, "t", "role role=/0 current=true object=/10 column=/0 MEMBER"},
		{"pg_advisory_lock(int8)", []any{1<<32 + 5}, "", "lock 1 5 two=false shared=false xact=false try=false"},
		{"pg_advisory_lock(int8)", []any{-1}, "", "lock 4294967295 4294967295 two=false shared=false xact=false try=false"},
		{"pg_try_advisory_xact_lock_shared(int4,int4)", []any{1, -1}, "t", "lock 1 4294967295 two=true shared=true xact=true try=true"},
		{"pg_advisory_unlock_shared(int8)", []any{5}, "f", "unlock 0 5 two=false shared=true"},
		{"current_setting(text)", []any{"known"}, "value of known", ""},
		{"current_setting(text)", []any{"other"}, "42704", ""},
		{"current_setting(text,bool)", []any{"other", true}, "NULL", ""},
		{"set_config(text,text,bool)", []any{"a", "b", true}, "b", "set a=b local=true"},
		{"set_config(text,text,bool)", []any{nil, "b", true}, "22004", ""},
		{"set_config(text,text,bool)", []any{"work_mem", nil, nil}, pgdata.SettingByName("work_mem").Boot, "set work_mem=" + pgdata.SettingByName("work_mem").Boot + " local=false"},
		{"pg_get_indexdef(oid,int4,bool)", []any{5, 2, true}, "text", "indexdef 5/ column=2 text= pretty=true"},
		{"pg_get_constraintdef(oid)", []any{99}, "NULL", "constraintdef 99/ column=0 text= pretty=false"},
		{"pg_get_viewdef(text)", []any{"v"}, "text", "viewdef 0/v column=0 text= pretty=false"},
		{"pg_get_serial_sequence(text,text)", []any{"t", "c"}, "text", "serial_sequence 0/t column=0 text=c pretty=false"},
		{"pg_relation_size(regclass,text)", []any{5, "main"}, "7", "size of relation 5"},
		{"pg_relation_size(regclass,text)", []any{5, "vm"}, "0", ""},
		{"pg_relation_size(regclass,text)", []any{5, "x"}, "22023", ""},
		{"pg_total_relation_size(regclass)", []any{5}, "7", "size of total 5"},
		{"current_schema()", nil, "NULL", ""},
		{"current_schemas(bool)", []any{true}, "{pg_catalog,public}", ""},
	} {
		e := &recordingEnv{}
		got := callFor(t, e, c.call, c.args)
		if got != c.want || e.asked != c.asked {
			t.Errorf("%s%v = %q, asked %q; want %q, asked %q", c.call, c.args, got, e.asked, c.want, c.asked)
		}
	}
}

// callFor calls a function with Go values as arguments and returns the text of its result or the SQLSTATE.
func callFor(t *testing.T, e Env, call string, args []any) string {
	t.Helper()
	name, list, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	var argTypes []types.OID
	for _, s := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		argTypes = append(argTypes, typeByName(s))
	}
	p := resolve(name, argTypes)
	if p == nil {
		t.Fatalf("no function %s", call)
	}
	k, ok := Lookup(CallInfo{Func: p.OID, ArgTypes: argTypes, Result: p.RetType, Typmod: -1})
	if !ok {
		t.Fatalf("no kernel for %s", call)
	}
	var vs []*vec.Vector
	for i, a := range args {
		d := types.NullDatum
		switch x := a.(type) {
		case string:
			d = types.Text(x)
		case int:
			d = types.Int(int64(x))
		case bool:
			d = types.Bool(x)
		}
		vs = append(vs, vec.NewConst(argTypes[i], d))
	}
	c := goldenContext()
	c.Env = e
	out := vec.New(types.KindOf(p.RetType), 1)
	if err := k(c, 1, nil, vs, out); err != nil {
		return string(sqlerr.CodeOf(err))
	}
	if out.IsNull(0) {
		return "NULL"
	}
	return string(types.Output(c.IO, nil, p.RetType, out.Datum(0)))
}

// TestNoSession checks that these functions fail cleanly without a session.
func TestNoSession(t *testing.T) {
	if got := callFor(t, nil, "current_schemas(bool)", []any{true}); got != string(sqlerr.FeatureNotSupported) {
		t.Errorf("without a session: %s", got)
	}
}
