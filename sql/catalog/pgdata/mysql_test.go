package pgdata

import "testing"

// The functions and operators of schema mysql have identifiers of their own, and PostgreSQL's catalogs do not list them.
func TestMySQLIdentifiers(t *testing.T) {
	x := loadMySQL()
	if len(x.procOID) == 0 || len(x.opOID) == 0 {
		t.Fatal("no functions or operators")
	}
	for id, p := range x.procOID {
		if loadProcs().byOID[id] != nil || x.opOID[id] != nil || id == MySQLSchema || id >= FirstUserOID {
			t.Errorf("identifier %d of %s is taken", id, p.Name)
		}
		if FuncByOID(id) != p {
			t.Errorf("function %d is not found", id)
		}
	}
	for id, o := range x.opOID {
		if loadOperators().byOID[id] != nil || OperatorByOID(id) != o || FuncByOID(o.Code) == nil {
			t.Errorf("operator %d %s", id, o.Name)
		}
	}
	for _, name := range []string{"+", "=", "/"} {
		if n := len(MySQLOperators(name)); n < len(OperatorsByName(name)) {
			t.Errorf("%d operators %s in schema mysql", n, name)
		}
	}
}
