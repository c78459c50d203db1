// Package storage is one database's blocks: snapshots, views, apply, checkpoint, eviction.
package storage
