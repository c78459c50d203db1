// Package btree is the copy-on-write B+tree over handles.
package btree
