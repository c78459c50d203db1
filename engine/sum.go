package engine

import (
	"sync"

	"herd/storage"
	"herd/txlog"
)

// sumsKept is how many sums of the state a node remembers.
const sumsKept = 8

// sums are those of the state before the last Sum entries.
type sums struct {
	mu   sync.Mutex // guards list
	list []placedSums
}

type placedSums struct {
	at    txlog.Place
	trees []txlog.TreeSum
}

var _ txlog.Summer = (*applier)(nil)

// SumUp implements txlog.Summer. The entry is alone in its batch, so that the state before it is the newest there is.
func (a *applier) SumUp() (txlog.Place, error) {
	db := a.db
	room, err := db.reserve(0, txlog.Shrinking)
	if err != nil {
		return txlog.Place{}, err
	}
	var at txlog.Place
	r := &request{kind: txlog.Sum, room: room}
	err = db.exclusive(func() error {
		if err := db.mayOrder(r); err != nil {
			return err
		}
		trees := treeSums(db.tip.Load())
		db.append([]*request{r}, nil, false)
		at = txlog.Place{Epoch: db.epoch, Seq: r.seq}
		a.sums.add(at, trees)
		return r.err
	})
	if err != nil && r.seq == 0 {
		db.log.Cancel(room)
	}
	return at, err
}

// sumUp takes a Sum entry on a node that does not lead.
func (a *applier) sumUp(e *txlog.Entry) error {
	if a.role == replaying {
		return nil
	}
	if err := a.flush(); err != nil {
		return err
	}
	a.sums.add(txlog.Place{Epoch: e.Epoch, Seq: e.Seq}, treeSums(a.snap))
	return nil
}

// Sums implements txlog.Summer.
func (a *applier) Sums(p txlog.Place) ([]txlog.TreeSum, bool) {
	a.sums.mu.Lock()
	defer a.sums.mu.Unlock()
	for i := range a.sums.list {
		if a.sums.list[i].at == p {
			return a.sums.list[i].trees, true
		}
	}
	return nil, false
}

func (s *sums) add(at txlog.Place, trees []txlog.TreeSum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == sumsKept {
		s.list = append(s.list[:0], s.list[1:]...)
	}
	s.list = append(s.list, placedSums{at, trees})
}

// treeSums reads no block: a root has the sums of all below it.
func treeSums(s *storage.Snapshot) []txlog.TreeSum {
	out := make([]txlog.TreeSum, 0, s.TreeCount())
	s.Trees(func(id storage.TreeID, rows int64) bool {
		out = append(out, txlog.TreeSum{Tree: uint32(id), Rows: uint64(rows), Sum: s.Checksum(id)})
		return true
	})
	return out
}
