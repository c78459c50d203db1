package engine

import (
	"bytes"

	"herd/storage"
)

// A transaction that one node has made against its replica can be committed by the node that leads: Number and its changes travel. Whoever
// does so makes sure that both have the same contents before it, see Contents.

// NewTransactionNumber returns a number that no transaction of the database has.
func (db *Database) NewTransactionNumber() uint64 { return db.nextTx.Add(1) - 1 }

// Epoch returns the leadership that the database's entries are of. Numbers that were allotted in another one count no more.
func (db *Database) Epoch() (e uint64) {
	_ = db.exclusive(func() error { // f returns nil
		e = uint64(db.epoch)
		return nil
	})
	return e
}

// Contents is a sum of all rows of the newest state: two replicas with equal sums have equal contents, whatever came before.
func (db *Database) Contents() (sum uint64) {
	_ = db.ReadTip(func(v storage.View) error { // as above
		for _, t := range treeSums(v.Snap) {
			sum = (sum ^ t.Sum ^ t.Rows*0x9e3779b97f4a7c15) * (2*uint64(t.Tree) + 1)
		}
		return nil
	})
	return sum
}

// SetNumber gives a transaction that has none yet a number of NewTransactionNumber, here or on the node that leads.
func (t *Tx) SetNumber(id uint64) {
	t.id = id
	t.s.own.Number(id)
}

// Encoded returns the transaction's changes in the form that Replay takes.
func (t *Tx) Encoded() []byte {
	if t.s.overlay == nil {
		return nil
	}
	var out []byte
	prev := storage.TreeID(0)
	cs := t.s.overlay.Changes()
	for i := range cs {
		out = appendChange(out, &cs[i], prev)
		prev = cs[i].Tree
	}
	return out
}

// Replay makes changes of Encoded.
func (t *Tx) Replay(p []byte) error {
	cs, err := decodeChanges(nil, bytes.Clone(p))
	if err != nil {
		return err
	}
	for i := range cs {
		c := &cs[i]
		switch c.Op {
		case storage.OpPut:
			err = t.Put(c.Tree, c.Key, c.Val)
		case storage.OpDelete:
			err = t.Delete(c.Tree, c.Key)
		case storage.OpCreateTree:
			err = t.CreateTree(c.Tree)
		case storage.OpDropTree:
			err = t.DropTree(c.Tree)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
