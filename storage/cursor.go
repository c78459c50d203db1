package storage

import (
	"herd/storage/block"
	"herd/storage/btree"
)

// Cursor runs over the rows of one tree of a view in key order, forward or backward. It is a value: the owner keeps it
// and calls Init again for the next scan, which allocates nothing. The snapshot must stay pinned while the cursor and
// the values it returned are used.
type Cursor struct {
	it      btree.Iter
	own     ownIter
	st      *Store
	tree    TreeID
	reverse bool
	done    bool // no leaf is left
	// pend is the next own change. In a forward scan rows [i, stop) of the leaf come before it, in a reverse scan rows
	// [stop, i]; here says that it lies inside this leaf's part of the range, same that it replaces a row of the leaf.
	pend       *own
	here, same bool
	leaf       block.Leaf
	i, stop    int
	from, to   int
	err        error
	row        int  // current row of the leaf, when cur is nil
	cur        *own // current own row
	val        []byte
	kbuf       []byte
	noValues   bool
}

// Init starts a scan of the rows with lo <= key < hi in tree t (nil = open); reverse gives them in descending order. It
// keeps lo and hi until Close or the next Init. An unknown tree shows in Err.
func (c *Cursor) Init(v View, t TreeID, lo, hi []byte, reverse bool) {
	c.st, c.tree, c.reverse, c.err, c.val, c.cur, c.leaf, c.noValues = nil, t, reverse, nil, nil, nil, nil, false
	c.i, c.stop, c.from, c.to = 0, 0, 0, 0
	if reverse {
		c.i = -1
	}
	c.done, c.here, c.same, c.pend = false, false, false, nil
	var root *btree.Handle
	made := false
	if v.Own.metas > 0 {
		e, err := v.Own.find(t, true, nil)
		if err != nil {
			c.err, c.done = err, true
			return
		}
		if e != nil {
			made = e.op == OpCreateTree
			if !made {
				c.err, c.done = noTree(t), true
				return
			}
		}
	}
	if !made {
		tr := v.Snap.roots.get(t)
		if tr == nil {
			c.err, c.done = noTree(t), true
			return
		}
		root = tr.root.H
	}
	c.st = v.Snap.st
	c.it.Init(c.st, t, root, lo, hi, reverse)
	if v.Own.count > 0 {
		c.own.init(v.Own, t, lo, hi, reverse)
		c.pend = c.nextOwn()
	}
}

// nextOwn takes the next own change.
func (c *Cursor) nextOwn() *own {
	e := c.own.next()
	if e == nil && c.err == nil {
		if c.err = c.own.err(); c.err != nil {
			c.done = true
		}
	}
	return e
}

// KeysOnly tells the cursor that Value will not be called: long values are not loaded. Call it after Init.
func (c *Cursor) KeysOnly() { c.noValues = true }

// Next goes to the next row. It returns false at the end and on an error, see Err.
func (c *Cursor) Next() bool {
	if e := c.step(); e != nil {
		c.cur, c.val = e, e.val
		return true
	}
	if c.row < 0 {
		return false
	}
	c.cur = nil
	v, big := c.it.Block.Value(c.row)
	if big {
		v = c.big(v)
		if c.err != nil {
			return false
		}
	}
	c.val = v
	return true
}

// big loads a long value.
func (c *Cursor) big(stub []byte) []byte {
	if c.noValues {
		return nil
	}
	v, err := btree.BigValue(c.st, c.tree, c.it.Block, stub)
	if err != nil {
		c.err, c.done = err, true
		return nil
	}
	return v
}

// step finds the next row: an own one, which it returns, or row c.row of the leaf; c.row < 0 at the end.
func (c *Cursor) step() *own {
	for {
		if c.hasPlain() {
			c.row = c.i
			if c.reverse {
				c.i--
			} else {
				c.i++
			}
			return nil
		}
		if c.here || c.done && c.pend != nil && c.err == nil {
			e := c.pend
			if c.here && c.same { // the leaf's row is replaced
				if c.reverse {
					c.i--
				} else {
					c.i++
				}
			}
			c.pend = c.nextOwn()
			c.place()
			if e.op == OpPut {
				return e
			}
			continue
		}
		if !c.nextLeaf() && (c.pend == nil || c.err != nil) {
			c.row = -1
			return nil
		}
	}
}

// hasPlain reports whether the leaf has a row before the pending own change.
func (c *Cursor) hasPlain() bool {
	if c.reverse {
		return c.i >= c.stop
	}
	return c.i < c.stop
}

// nextLeaf goes to the next leaf.
func (c *Cursor) nextLeaf() bool {
	if c.done {
		return false
	}
	if !c.it.NextLeaf() {
		c.done, c.err, c.leaf = true, c.it.Err, nil
		c.here = false
		c.i, c.stop = 0, 0
		if c.reverse {
			c.i = -1
		}
		return false
	}
	c.leaf = c.it.Block.Leaf()
	c.from, c.to = c.it.From, c.it.To
	c.i = c.from
	if c.reverse {
		c.i = c.to - 1
	}
	c.place()
	return true
}

// place finds where the pending own change lies in the leaf.
func (c *Cursor) place() {
	if c.done {
		c.here = false
		return
	}
	c.here, c.same = false, false
	if c.leaf == nil {
		return
	}
	if c.pend == nil {
		c.stop = c.to
		if c.reverse {
			c.stop = c.from
		}
		return
	}
	j, found := c.leaf.Search(c.pend.key)
	c.same = found
	if c.reverse {
		if found {
			j++
		}
		c.stop = max(j, c.from)
		c.here = j > c.from
		return
	}
	c.stop = min(j, c.to)
	c.here = j < c.to
}

// Key returns the key of the current row. It is valid until the next call of Next, NextRows or Init.
func (c *Cursor) Key() []byte {
	if c.cur != nil {
		return c.cur.key
	}
	c.kbuf = c.leaf.AppendKey(c.kbuf[:0], c.row)
	return c.kbuf
}

// Value returns the value of the current row. It aliases immutable memory that lives as long as the snapshot is pinned
// or the overlay is not reset.
func (c *Cursor) Value() []byte { return c.val }

// Own returns the number of the command that wrote the current row when the transaction itself did.
func (c *Cursor) Own() (cmd uint32, own bool) {
	if c.cur == nil {
		return 0, false
	}
	return c.cur.cmd, true
}

// Err returns what ended the scan early: ErrNoTree, ErrCorrupt or an I/O error.
func (c *Cursor) Err() error { return c.err }

// Close forgets the blocks, so that an idle cursor keeps none in memory. Init makes the cursor usable again.
func (c *Cursor) Close() {
	c.it.Close()
	c.own.close()
	c.leaf, c.cur, c.val, c.pend, c.st = nil, nil, nil, nil, nil
	c.here, c.done = false, true
	c.i, c.stop = 0, 0
	if c.reverse {
		c.i = -1
	}
}

// KeyBuf receives the keys of NextRows, one after the other in one buffer.
type KeyBuf struct {
	buf  []byte
	ends []int
}

// Len returns the number of keys.
func (k *KeyBuf) Len() int { return len(k.ends) }

// Key returns key i. It is valid until Reset.
func (k *KeyBuf) Key(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.buf[from:k.ends[i]:k.ends[i]]
}

// Reset empties the buffer.
func (k *KeyBuf) Reset() { k.buf, k.ends = k.buf[:0], k.ends[:0] }

func (k *KeyBuf) end() { k.ends = append(k.ends, len(k.buf)) }

// NextRows fills up to len(vals) values of the following rows into vals and, when keys is not nil, appends their keys.
// It returns the number of rows, 0 at the end or on an error (see Err). Values live as those of Value.
func (c *Cursor) NextRows(vals [][]byte, keys *KeyBuf) (n int) {
	for n < len(vals) {
		if !c.hasPlain() {
			e := c.step()
			if e != nil {
				vals[n] = e.val
				if keys != nil {
					keys.buf = append(keys.buf, e.key...)
					keys.end()
				}
				n++
				continue
			}
			if c.row < 0 {
				break
			}
			c.i = c.row // step only found the row; the run below takes it
		}
		m := c.run(vals[n:], keys)
		n += m
		if c.err != nil {
			break
		}
	}
	return n
}

// run copies rows of the leaf up to the pending own change.
func (c *Cursor) run(vals [][]byte, keys *KeyBuf) (n int) {
	var prefix []byte
	if keys != nil {
		prefix = c.leaf.Prefix()
	}
	b, patched := c.it.Block, len(c.it.Block.Patch()) > 0
	if keys == nil && !patched && !c.reverse && c.leaf.Bigs() == 0 {
		n = min(len(vals), c.stop-c.i)
		c.leaf.Values(vals[:n], c.i)
		c.i += n
		return n
	}
	for n < len(vals) && c.hasPlain() {
		v, big := c.leaf.Value(c.i)
		if patched {
			v, big = b.Value(c.i)
		}
		if big {
			if v = c.big(v); c.err != nil {
				return n
			}
		}
		vals[n] = v
		if keys != nil {
			keys.buf = append(append(keys.buf, prefix...), c.leaf.Suffix(c.i)...)
			keys.end()
		}
		n++
		if c.reverse {
			c.i--
		} else {
			c.i++
		}
	}
	return n
}
