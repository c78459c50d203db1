package scan

import "testing"

func TestNameExclude(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (exclude int, a int, Exclude text)":                                 "CREATE TABLE t (exclud$ int, a int, exclud$ text)",
		"ALTER TABLE t ADD exclude int; ALTER TABLE t ADD COLUMN IF NOT EXISTS exclude int": "ALTER TABLE t ADD exclud$ int; ALTER TABLE t ADD COLUMN IF NOT EXISTS exclud$ int",
		"CREATE TABLE t (a int, EXCLUDE USING gist (a WITH =))":                             "",
		"CREATE TABLE t (a int, EXCLUDE (a WITH =))":                                        "",
		"CREATE TABLE t (a int DEFAULT 'exclude')":                                          "",
		"CREATE TABLE t (exclude int, exclud$ int)":                                         "",
		"SELECT 'exclude', \"exclude\" -- , exclude int":                                    "",
	} {
		got, ok := NameExclude(text)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
}
