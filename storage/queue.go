package storage

import (
	"iter"
	"sort"

	"herd/storage/btree"
)

// queue is a list of handles that is added to at the end and taken from at the front. Places in it are counted from the
// beginning of time. It lies in runs of bounded length, so that nothing that a commit waits for copies all of it: it grows by a run, and takes
// over another queue by its runs.
type queue struct {
	base, end int // places of the first and behind the last
	runs      []run
}

// run is a stretch of a queue.
type run struct {
	at   int // place of the first
	list []*btree.Handle
}

const (
	queueRunMin = 64
	queueRunMax = 4096
)

func (q *queue) len() int { return q.end - q.base }

// add copies handles behind the last.
func (q *queue) add(hs ...*btree.Handle) {
	for len(hs) > 0 {
		n := len(q.runs)
		if n == 0 || len(q.runs[n-1].list) == cap(q.runs[n-1].list) {
			q.runs = append(q.runs, run{q.end, make([]*btree.Handle, 0, min(max(q.len(), queueRunMin), queueRunMax))})
			n++
		}
		last := &q.runs[n-1]
		k := min(len(hs), cap(last.list)-len(last.list))
		last.list = append(last.list, hs[:k]...)
		q.end += k
		hs = hs[k:]
	}
}

// take moves all of another queue behind the last.
func (q *queue) take(from *queue) {
	for _, r := range from.runs {
		q.runs = append(q.runs, run{q.end, r.list[:len(r.list):len(r.list)]})
		q.end += len(r.list)
	}
	*from = queue{}
}

// drop takes n handles from the front.
func (q *queue) drop(n int) {
	q.base += n
	for len(q.runs) > 0 && n > 0 {
		r := &q.runs[0]
		k := min(n, len(r.list))
		clear(r.list[:k])
		r.list, r.at = r.list[k:], r.at+k
		n -= k
		if len(r.list) > 0 {
			break
		}
		q.runs[0] = run{}
		q.runs = q.runs[1:]
	}
	if len(q.runs) == 0 {
		q.runs = nil // lets the array behind go
	}
}

// cut takes away everything from a place on.
func (q *queue) cut(from int) {
	from = max(from, q.base)
	for n := len(q.runs); n > 0 && q.end > from; n-- {
		r := &q.runs[n-1]
		if r.at >= from {
			q.end = r.at
			*r = run{}
			q.runs = q.runs[:n-1]
			continue
		}
		clear(r.list[from-r.at:])
		r.list = r.list[:from-r.at]
		q.end = from
	}
}

// find returns the index of the run that place is in.
func (q *queue) find(place int) int {
	return sort.Search(len(q.runs), func(i int) bool { return q.runs[i].at+len(q.runs[i].list) > place })
}

// get returns the handle at a place, nil where there is none or no more.
func (q *queue) get(place int) *btree.Handle {
	if place < q.base || place >= q.end {
		return nil
	}
	r := &q.runs[q.find(place)]
	return r.list[place-r.at]
}

// pieces gives what lies between two places, in order, without a copy: what is changed in a piece is changed in the queue.
func (q *queue) pieces(from, to int) iter.Seq2[int, []*btree.Handle] {
	return func(yield func(int, []*btree.Handle) bool) {
		from, to := max(from, q.base), min(to, q.end)
		for i := q.find(from); from < to; i++ {
			r := &q.runs[i]
			n := min(to, r.at+len(r.list))
			if !yield(from, r.list[from-r.at:n-r.at]) {
				return
			}
			from = n
		}
	}
}
