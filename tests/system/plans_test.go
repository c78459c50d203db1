package system

import (
	"strings"
	"testing"
)

// hashedTable is the table that a plan's hash join keeps in memory.
func hashedTable(rows [][][]byte) string {
	_, below, _ := strings.Cut(joinLines(rows), "Hash  ")
	_, name, _ := strings.Cut(below, "Seq Scan on ")
	name, _, _ = strings.Cut(name, " ")
	return name
}

func joinLines(rows [][][]byte) string {
	var b strings.Builder
	for _, r := range rows {
		b.Write(r[0])
		b.WriteByte('\n')
	}
	return b.String()
}

// A plan that was made over small tables is made again when one has grown: at the next execution, no ANALYZE needed.
func TestGrownTableIsPlannedAgain(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, `CREATE TABLE a (x int); CREATE TABLE b (x int);
			INSERT INTO a SELECT generate_series(1, 200); INSERT INTO b SELECT generate_series(1, 20000); ANALYZE;
			SET plan_cache_mode = force_generic_plan; SET enable_mergejoin = off;
			PREPARE j(int) AS SELECT count(*) FROM a JOIN b ON a.x = b.x WHERE a.x <> $1`)
		Value(t, c, "EXECUTE j(1)")
		if got := hashedTable(Exec(t, c, "EXPLAIN EXECUTE j(1)")); got != "a" {
			t.Fatalf("%q is hashed, not the smaller a", got)
		}
		Exec(t, c, "INSERT INTO a SELECT generate_series(1, 100000)")
		if strings.Contains(t.Name(), "PostgreSQL") {
			Exec(t, c, "ANALYZE")
		}
		if n := Value(t, c, "EXECUTE j(1)"); n != "20198" {
			t.Errorf("the join has %s rows", n)
		}
		if got := hashedTable(Exec(t, c, "EXPLAIN EXECUTE j(1)")); got != "b" {
			t.Errorf("%q is hashed after a grew beyond b", got)
		}
	})
}
