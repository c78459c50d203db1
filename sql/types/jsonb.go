package types

import "herd/sql/types/json"

// ValidJSON checks that b is one JSON value (22P02).
func ValidJSON(b []byte) error { return json.Validate(b) }

// CanonicalJSONB appends the stored form of jsonb for a JSON text.
func CanonicalJSONB(dst, text []byte) ([]byte, error) { return json.Canonical(dst, text) }

// compareJSONB is jsonb's btree order.
func compareJSONB(a, b []byte) int {
	if string(a) == string(b) {
		return 0
	}
	x, e1 := json.Parse(a)
	y, e2 := json.Parse(b)
	if e1 != nil || e2 != nil {
		return 0
	}
	return json.Compare(x, y)
}
