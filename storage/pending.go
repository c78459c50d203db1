package storage

import "errors"

// Problem is one finding of Check.
type Problem struct{ Where, What string }

// Check verifies the store.
func (st *Store) Check(report func(Problem)) error { _ = errors.New; return nil }
