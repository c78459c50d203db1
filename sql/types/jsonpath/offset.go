package jsonpath

import "herd/sql/types/json"

// offsetOf returns where PostgreSQL's binary form of root has the container v, counted from root: .keyvalue() shows it. A value
// that is not in root gives 0.
func offsetOf(root, v *json.Value) int64 {
	if root == v {
		return 0
	}
	at, found := int64(0), int64(0)
	place(root, v, &at, &found)
	return found
}

// place walks the binary form: a header and an entry for each key and value, then the keys, then the values; numbers and containers
// are aligned to 4.
func place(c, v *json.Value, at, result *int64) bool {
	align(at)
	if c == v {
		*result = *at
		return true
	}
	*at += 4 + 4*int64(len(c.Elems)+len(c.Keys))
	for _, k := range c.Keys {
		*at += int64(len(k))
	}
	for _, e := range c.Elems {
		switch e.Kind {
		case json.String:
			*at += int64(len(e.Text))
		case json.Number:
			align(at)
			*at += numericSize(e)
		case json.Array, json.Object:
			if place(e, v, at, result) {
				return true
			}
		}
	}
	return false
}

func align(at *int64) { *at = (*at + 3) &^ 3 }

// numericSize is the size of a numeric with its length word: the short header when scale and weight fit it, else the long one.
func numericSize(e *json.Value) int64 {
	digits, weight := e.Num.Base10000()
	header := int64(8)
	if e.Num.Scale() <= 63 && weight >= -64 && weight <= 63 {
		header = 6
	}
	return header + 2*int64(len(digits))
}
