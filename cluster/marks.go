package cluster

import (
	"sort"

	"herd/txlog"
)

// seqMarks remembers, for the last Raft entries applied, what the database's state contained then. A position of a Group's
// log is a Raft index: a replay from there begins with that entry.
type seqMarks struct {
	list  []seqMark
	floor uint64 // an index at or below every mark that was dropped
}

// seqMark: behind Raft entry index the state contains entry seq.
type seqMark struct {
	seq   txlog.Seq
	index uint64
}

const marksMax = 4096

func (m *seqMarks) add(seq txlog.Seq, index uint64) {
	n := len(m.list)
	if n > 0 && m.list[n-1].seq == seq {
		m.list[n-1].index = index
		return
	}
	if n == marksMax { // of the older half every second one is enough
		half := m.list[:0]
		for i := range n {
			if i >= n/2 || i%2 == 1 {
				half = append(half, m.list[i])
			}
		}
		m.list = half
	}
	m.list = append(m.list, seqMark{seq, index})
}

// endOf returns a position such that a replay from there sees every entry with a number above seq.
func (m *seqMarks) endOf(seq txlog.Seq) txlog.Position {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].seq > seq })
	if i == 0 {
		return txlog.Position(m.floor + 1)
	}
	return txlog.Position(m.list[i-1].index + 1)
}

// reset begins anew with a state that contains seq behind index.
func (m *seqMarks) reset(seq txlog.Seq, index uint64) {
	m.list = append(m.list[:0], seqMark{seq, index})
	m.floor = index
}
