package exec

import (
	"herd/sql/catalog"
	"herd/sql/row"
)

// NewLargeWriter returns a writer of rel's large values through a transaction, for definitions that write rows themselves.
func NewLargeWriter(tx Tx, rel *catalog.Relation) row.LargeWriter {
	return &largeWriter{tx: tx, rel: rel}
}
