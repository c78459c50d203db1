package funcs

import (
	"herd/sql/catalog/pgdata"
)

func encodings() []string { return pgdata.Encodings() }

// appendIdent appends an identifier, in double quotes when it needs them.
func appendIdent(dst, b []byte) []byte {
	safe := len(b) > 0 && (b[0] >= 'a' && b[0] <= 'z' || b[0] == '_')
	for _, c := range b {
		safe = safe && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if safe {
		if k := pgdata.KeywordByName(string(b)); k != nil && k.Category != 'U' {
			safe = false
		}
	}
	if safe {
		return append(dst, b...)
	}
	dst = append(dst, '"')
	for _, c := range b {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// QuoteIdent returns an identifier as SQL text shows it.
func QuoteIdent(s string) string { return string(appendIdent(nil, []byte(s))) }
