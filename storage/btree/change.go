package btree

import "herd/storage/block"

// Op says what a Change does.
type Op uint8

// The operations of a change set. OpRewrite never comes from a transaction: the cleaner uses it inside storage.
const (
	OpPut        Op = iota + 1 // set Key to Val
	OpDelete                   // remove Key; removing a key that is not there is no error
	OpCreateTree               // make the tree; Key and Val are nil
	OpDropTree                 // remove the tree with all rows; Key and Val are nil
)

// Change is one element of a change set. Key and Val belong to the caller; applying copies them.
type Change struct {
	Tree block.TreeID
	Op   Op
	Key  []byte
	Val  []byte
}
