// Package btree is the copy-on-write B+tree over handles: search, edit, iteration, rank.
//
// # Purpose
//
// A tree is a root [Handle] plus the [block.Stat] of its rows. A handle stands for one block in all versions that share
// it: the pointer to the block in memory (nil when evicted), the address on disk (0 when never written), the access
// bit. Leaves hold the rows as one pointer-free slice, and in memory perhaps a patch of newer values beside it; inner nodes
// hold separators, child handles and the row count and hash sum of each child. [Editor.Apply] makes the next version of a tree from a sorted list of changes in one pass: a
// node is rebuilt at most once per call whatever the number of changes below it, so no node is ever edited twice and
// none after it can be seen (the owner stamp, Handle.Born, tells nodes of the running edit from older ones).
//
// # Invariants
//
//	I1  A Block never changes after its handle can be reached from a published root.
//	I2  A handle with an address has only children with addresses (the checkpoint writes in post-order).
//	I3  Separator i of an inner node is <= every key below child i and > every key below child i-1. A node's lower
//	    bound only ever falls while the node stays the same block, so the bound it was written with keeps leading to it.
//	I4  A leaf fits in the page size or has one row; a node has at least one child.
//
// # Goroutines
//
// None. Readers run without locks against published roots. An Editor belongs to one goroutine; several editors may run
// at once on different trees or forks.
//
// # Files
//
//	change.go  Change, Op
//	handle.go  Handle
//	node.go    Block, Inner, search, encoding
//	get.go     point look-up, ranks, borders
//	edit.go    Editor: descent and inner nodes
//	leaf.go    Editor: leaves
//	merge.go   Editor: joining small neighbours
//	graft.go   Editor: leaves of another tree behind the last one
//	rewrite.go Editor: copying a path so that a block gets a new place on disk
//	iter.go    Iter: leaves in key order, both ways
package btree
