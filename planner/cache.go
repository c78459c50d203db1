package planner

import (
	"container/list"
	"slices"
	"sync"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
)

// CacheKey names a cached statement: its text (or shape), the parameter types the client declared, and the interned
// environment (database, dialect, search path, settings), compared by pointer.
type CacheKey struct {
	Text   string
	Params string // OIDs of declared parameters, four bytes each
	Env    any
}

// ParamKey packs declared parameter types for a CacheKey.
func ParamKey(list []types.OID) string {
	if len(list) == 0 {
		return ""
	}
	b := make([]byte, 0, 4*len(list))
	for _, t := range list {
		b = append(b, byte(t>>24), byte(t>>16), byte(t>>8), byte(t))
	}
	return string(b)
}

// Stamp is the state of the definitions that names are looked up in: the versions of the database's catalog and of that with the
// roles, and the schemas that the search path came to, which depends on both.
type Stamp struct {
	Catalog, Shared catalog.Version
	Path            []types.OID
}

func (s *Stamp) equal(o *Stamp) bool {
	return s.Catalog == o.Catalog && s.Shared == o.Shared && slices.Equal(s.Path, o.Path)
}

// Cached is what the cache keeps of a statement; it is never changed, and shared by sessions.
type Cached struct {
	Query  *plan.Query
	Params []types.OID
	Plan   *plan.Plan
	// Choice is shared by all that run Plan.
	Choice *Choice
	// Attached belongs to the session package: the prepared description of the result.
	Attached any
	// Stamp is the state under which the entry is known to be right.
	Stamp Stamp
	// Bytes is the entry's size for the bound, estimated by the caller (at least the text).
	Bytes int64
}

// Cache keeps plans of statements, least recently used first out, bounded by bytes. Safe for all.
type Cache struct {
	mu    sync.Mutex
	max   int64
	used  int64
	items map[CacheKey]*list.Element
	order *list.List // front: most recent
	hits  int64
	miss  int64
}

type cacheItem struct {
	key   CacheKey
	value *Cached
}

const cacheItemBytes = 4096 // of a small plan beyond its text

// NewCache makes a cache of at most max bytes; 0 keeps nothing.
func NewCache(max int64) *Cache {
	return &Cache{max: max, items: map[CacheKey]*list.Element{}, order: list.New()}
}

// Get returns the entry of a key when it is right now for a role; nil otherwise. A stale entry is checked against cat, look-up by
// look-up: still right, it is restamped, else dropped.
func (c *Cache) Get(k CacheKey, now Stamp, cat catalog.Reader, role types.OID) *Cached {
	c.mu.Lock()
	e := c.items[k]
	if e == nil {
		c.miss++
		c.mu.Unlock()
		return nil
	}
	v := e.Value.(*cacheItem).value
	if v.Stamp.equal(&now) {
		c.order.MoveToFront(e)
		c.hits++
		c.mu.Unlock()
		return v
	}
	c.mu.Unlock()
	if v.Stamp.Catalog > now.Catalog { // definitions that the reader does not see yet
		return nil
	}
	if !Current(cat, now.Path, role, v.Plan) {
		c.Drop(k)
		return nil
	}
	n := *v
	n.Stamp = now
	c.Put(k, &n)
	return &n
}

// Put stores an entry, replacing one of the same key.
func (c *Cache) Put(k CacheKey, v *Cached) {
	size := v.Bytes
	if size == 0 {
		size = int64(len(k.Text)) + cacheItemBytes
		v.Bytes = size
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if size > c.max {
		return
	}
	if e := c.items[k]; e != nil {
		it := e.Value.(*cacheItem)
		c.used += size - it.value.Bytes
		it.value = v
		c.order.MoveToFront(e)
	} else {
		c.items[k] = c.order.PushFront(&cacheItem{k, v})
		c.used += size
	}
	for c.used > c.max {
		c.evict(c.order.Back())
	}
}

// Drop removes an entry.
func (c *Cache) Drop(k CacheKey) {
	c.mu.Lock()
	if e := c.items[k]; e != nil {
		c.evict(e)
	}
	c.mu.Unlock()
}

func (c *Cache) evict(e *list.Element) {
	it := e.Value.(*cacheItem)
	delete(c.items, it.key)
	c.used -= it.value.Bytes
	c.order.Remove(e)
}

// CacheStats are counters for the server's metrics.
type CacheStats struct {
	Entries      int
	Bytes        int64
	Hits, Misses int64
}

// Stats returns the counters.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{len(c.items), c.used, c.hits, c.miss}
}
