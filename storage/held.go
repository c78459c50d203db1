package storage

// EachPin calls f for each slot that pins something, with the version. Slots change meanwhile.
func (st *Store) EachPin(f func(r *ReaderSlot, ver uint64)) {
	if l := st.slots.list.Load(); l != nil {
		for _, r := range *l {
			if v := r.ver.Load(); v != 0 {
				f(r, v)
			}
		}
	}
}

// Held returns the bytes of replaced blocks in memory that a pin of version ver keeps there.
func (st *Store) Held(ver uint64) (bytes int64) {
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	marks := st.retired.marks
	for i := len(marks) - 1; i >= 0 && marks[i].ver > ver; i-- {
		bytes += marks[i].bytes
	}
	return bytes
}
