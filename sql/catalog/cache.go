package catalog

import (
	"sync"

	"herd/sql/types"
)

// cacheGeneration is the number of descriptors after which the cache starts a new generation;
// at most two generations are kept.
const cacheGeneration = 32 << 10

// Cache keeps decoded descriptors of one database for all sessions. An entry is found by what
// identifies its content, so nothing is ever invalidated; what is no longer asked for falls out
// with its generation. Safe for concurrent use.
type Cache struct {
	mu  sync.RWMutex // guards both maps
	cur map[cacheKey]any
	old map[cacheKey]any
}

type cacheKey struct {
	class, id    types.OID
	stamp, stats uint64
}

// NewCache returns an empty cache; the session server keeps one for each database.
func NewCache() *Cache { return &Cache{cur: make(map[cacheKey]any)} }

func (c *Cache) get(k cacheKey) (any, bool) {
	c.mu.RLock()
	v, ok := c.cur[k]
	if ok {
		c.mu.RUnlock()
		return v, true
	}
	v, ok = c.old[k]
	c.mu.RUnlock()
	if ok {
		c.put(k, v)
	}
	return v, ok
}

func (c *Cache) put(k cacheKey, v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cur) >= cacheGeneration {
		c.old, c.cur = c.cur, make(map[cacheKey]any)
	}
	c.cur[k] = v
}
