package storage

import "herd/storage/block"

// Sum returns the number of rows of t and the sum of their hashes as v sees them: the figures of the snapshot's root, which
// take no reading, and over them the transaction's own changes, for each of which the row before it is looked up. interrupt,
// which may be nil, is asked now and then. Errors as Snapshot.Get.
func (v View) Sum(t TreeID, interrupt func() error) (rows int64, sum uint64, err error) {
	made := false
	if v.Own.metas > 0 {
		e, err := v.Own.find(t, true, nil)
		if err != nil {
			return 0, 0, err
		}
		if e != nil && e.op == OpDropTree {
			return 0, 0, noTree(t)
		}
		made = e != nil
	}
	if !made {
		if !v.Snap.TreeExists(t) {
			return 0, 0, noTree(t)
		}
		rows, sum = v.Snap.Count(t), v.Snap.Checksum(t)
	}
	if v.Own.count == 0 {
		return rows, sum, nil
	}
	var it ownIter
	it.init(v.Own, t, nil, nil, false)
	defer it.close()
	for n := 1; ; n++ {
		e := it.next()
		if e == nil {
			return rows, sum, it.err()
		}
		if e.op == OpPut {
			rows++
			sum += block.RowHash(e.key, e.val)
		}
		if !made {
			old, had, err := v.Snap.Get(t, e.key)
			if err != nil {
				return 0, 0, err
			}
			if had {
				rows--
				sum -= block.RowHash(e.key, old)
			}
		}
		if n%1024 == 0 && interrupt != nil {
			if err := interrupt(); err != nil {
				return 0, 0, err
			}
		}
	}
}
