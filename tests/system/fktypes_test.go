package system

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A foreign key finds its parents whatever the types of its two ends are, or is refused when it is made.
func TestForeignKeyTypes(t *testing.T) {
	tests := []struct {
		child, parent, value, missing string
		must                          bool // be there
	}{
		{"int", "bigint", "1", "2", true}, {"bigint", "smallint", "1", "70000", true}, {"varchar(9)", "text", "'a'", "'b'", true},
		{"text", "varchar(9)", "'a'", "'b'", true}, {"numeric(5,1)", "numeric(9,3)", "1.0", "1.5", true},
		{"int", "numeric", "1", "2", false}, {"date", "timestamp", "'2000-01-01'", "'2000-01-02'", false}, {"real", "float8", "0.5", "0.25", false},
	}
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		for _, x := range tests {
			name := x.child + " to " + x.parent
			Exec(t, c, "DROP TABLE IF EXISTS fc, fp; CREATE TABLE fp (k "+x.parent+" PRIMARY KEY); INSERT INTO fp VALUES ("+x.value+")")
			_, err := c.Exec(context.Background(), "CREATE TABLE fc (a "+x.child+" REFERENCES fp)").ReadAll()
			var e *pgconn.PgError
			if errors.As(err, &e) && e.Code == "0A000" && !x.must {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			Exec(t, c, "INSERT INTO fc VALUES ("+x.value+")")
			expectState(t, c, "INSERT INTO fc VALUES ("+x.missing+")", "23503")
			expectState(t, c, "DELETE FROM fp", "23503")
		}
	})
}
