package system

import (
	"context"
	"testing"
)

// A foreign key finds its parents whatever the types of its two ends are.
func TestForeignKeyTypes(t *testing.T) {
	tests := []struct {
		child, parent, value, missing string
	}{
		{"int", "bigint", "1", "2"}, {"bigint", "smallint", "1", "70000"}, {"varchar(9)", "text", "'a'", "'b'"},
		{"text", "varchar(9)", "'a'", "'b'"}, {"numeric(5,1)", "numeric(9,3)", "1.0", "1.5"},
		{"int", "numeric", "1", "2"}, {"date", "timestamp", "'2000-01-01'", "'2000-01-02'"}, {"real", "float8", "0.5", "0.25"},
	}
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		for _, x := range tests {
			name := x.child + " to " + x.parent
			Exec(t, c, "DROP TABLE IF EXISTS fc, fp; CREATE TABLE fp (k "+x.parent+" PRIMARY KEY); INSERT INTO fp VALUES ("+x.value+")")
			if _, err := c.Exec(context.Background(), "CREATE TABLE fc (a "+x.child+" REFERENCES fp)").ReadAll(); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			Exec(t, c, "INSERT INTO fc VALUES ("+x.value+")")
			expectState(t, c, "INSERT INTO fc VALUES ("+x.missing+")", "23503")
			expectState(t, c, "DELETE FROM fp", "23503")
		}
	})
}
