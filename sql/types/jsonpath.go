package types

import "herd/sql/types/jsonpath"

// jsonpathIn returns the stored form of jsonpath, its canonical text.
func jsonpathIn(text []byte) ([]byte, error) {
	p, err := jsonpath.Parse(string(text))
	if err != nil {
		return nil, err
	}
	return p.Append(nil), nil
}
