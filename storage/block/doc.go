// Package block is the formats of blocks: leaf, inner node, value, and the frame around them on disk.
package block

import "errors"

// ErrCorrupt marks bytes that are not what was written.
var ErrCorrupt = errors.New("corrupt block")

// MaxKey is the longest key in bytes.
const MaxKey = 8 << 10
