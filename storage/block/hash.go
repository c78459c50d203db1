package block

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// RowHash returns the hash of one row. A tree's checksum is the sum of its rows' hashes modulo 2^64, so it depends on
// the contents alone and not on the shape of the tree. xxhash is applied to key and value apart so that the border
// between them counts; the final mix keeps sums of related rows apart.
func RowHash(key, val []byte) uint64 {
	h := xxhash.Sum64(key)*0x9E3779B97F4A7C15 + bits.RotateLeft64(xxhash.Sum64(val), 31)
	h ^= h >> 30
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 27
	h *= 0x94D049BB133111EB
	return h ^ h>>31
}
