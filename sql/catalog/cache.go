package catalog

import (
	"sync"

	"herd/sql/types"
)

// generationSize is the size in bytes, estimated, after which the cache starts a new generation;
// at most two generations are kept.
const generationSize = 32 << 20

// decodedFactor is how much larger a descriptor is than its record.
const decodedFactor = 4

// Cache keeps decoded descriptors of one database for all sessions. An entry is found by what
// identifies its content, so nothing is ever invalidated; what is no longer asked for falls out
// with its generation. Safe for concurrent use.
type Cache struct {
	mu   sync.RWMutex // guards the fields below
	cur  map[cacheKey]cached
	old  map[cacheKey]cached
	size int // of cur
}

type cached struct {
	v    any
	size int
}

type cacheKey struct {
	class, id    types.OID
	stamp, stats uint64
}

// NewCache returns an empty cache; the session server keeps one for each database.
func NewCache() *Cache { return &Cache{cur: make(map[cacheKey]cached)} }

func (c *Cache) get(k cacheKey) (any, bool) {
	c.mu.RLock()
	v, ok := c.cur[k]
	if ok {
		c.mu.RUnlock()
		return v.v, true
	}
	v, ok = c.old[k]
	c.mu.RUnlock()
	if ok {
		c.put(k, v.v, v.size)
	}
	return v.v, ok
}

// put adds a descriptor made of a record of size bytes.
func (c *Cache) put(k cacheKey, v any, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size >= generationSize {
		c.old, c.cur, c.size = c.cur, make(map[cacheKey]cached), 0
	}
	c.cur[k] = cached{v, size}
	c.size += size*decodedFactor + 128
}
