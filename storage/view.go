package storage

// View is what one statement sees: a snapshot and the transaction's own changes up to the statement's start.
type View struct {
	Snap *Snapshot
	Own  Root
}

// Get returns the value of key in tree t, own changes first. val must not be changed. Errors as Snapshot.Get.
func (v View) Get(t TreeID, key []byte) (val []byte, ok bool, err error) {
	if v.Own.count == 0 {
		return v.Snap.Get(t, key)
	}
	e, err := v.Own.find(t, false, key)
	if err != nil {
		return nil, false, err
	}
	if e != nil {
		if v.Own.metas > 0 && v.dropped(t) {
			return nil, false, noTree(t)
		}
		return e.val, e.op == OpPut, nil
	}
	if v.Own.metas > 0 {
		if e, err = v.Own.find(t, true, nil); err != nil {
			return nil, false, err
		}
		if e != nil {
			if e.op == OpDropTree {
				return nil, false, noTree(t)
			}
			return nil, false, nil
		}
	}
	return v.Snap.Get(t, key)
}

func (v *View) dropped(t TreeID) bool {
	e := v.Own.mustFind(t, true, nil)
	return e != nil && e.op == OpDropTree
}

// GetOwn returns the transaction's own change of key, if there is one: the value or that it is deleted, and the number
// of the command that made it.
func (v View) GetOwn(t TreeID, key []byte) (val []byte, cmd uint32, found, deleted bool) {
	if v.Own.count == 0 {
		return nil, 0, false, false
	}
	e := v.Own.mustFind(t, false, key)
	if e == nil {
		return nil, 0, false, false
	}
	if e.op == OpDelete {
		return nil, e.cmd, true, true
	}
	return e.val, e.cmd, true, false
}

// TreeExists reports whether the view has tree t.
func (v View) TreeExists(t TreeID) bool {
	if v.Own.metas > 0 {
		if e := v.Own.mustFind(t, true, nil); e != nil {
			return e.op == OpCreateTree
		}
	}
	return v.Snap.TreeExists(t)
}

// Count returns the number of rows of t in the snapshot, plus, for a tree that the transaction made, the number of its
// changes: exact without own changes, else an estimate for the planner.
func (v View) Count(t TreeID) int64 {
	if v.Own.metas > 0 {
		if e := v.Own.mustFind(t, true, nil); e != nil {
			if e.op == OpDropTree {
				return 0
			}
			return int64(v.Own.count - v.Own.metas)
		}
	}
	return v.Snap.Count(t)
}
