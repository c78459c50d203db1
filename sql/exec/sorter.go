package exec

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"slices"

	"herd/internal/mem"
)

// sortFan is the number of runs that are merged at a time.
const sortFan = 32

// sortFloor is what a sorter may always have, in bytes: smaller runs would cost more than they save.
const sortFloor = 256 << 10

// sorter orders records, in memory until memory is refused and then by sorted runs in files. More records may be added
// while it is being read, as long as they are not before those given already.
type sorter struct {
	env   *Env
	bytes arena
	mem   account // items, and the buffers of open runs
	items []sortItem
	at    int            // items before it were given
	seq   uint64         // number of the next record: equal keys keep the order in which they came
	runs  [][]*spillFile // not yet open, by how often they were merged
	open  []*sortRun     // heap of the runs being read
}

// sortItem is one record: rec is key length, key, tuple; prefix the key's first 16 bytes, so that most comparisons do not touch rec.
type sortItem struct {
	prefix [2]uint64
	seq    uint64
	rec    []byte
}

const sortItemSize = 48

func (it *sortItem) key() []byte {
	n := binary.LittleEndian.Uint32(it.rec)
	return it.rec[4 : 4+n]
}

func (it *sortItem) tuple() []byte {
	n := binary.LittleEndian.Uint32(it.rec)
	return it.rec[4+n:]
}

func keyPrefix(k []byte) [2]uint64 {
	if len(k) >= 16 {
		return [2]uint64{binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(k[8:])}
	}
	var b [16]byte
	copy(b[:], k)
	return [2]uint64{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

func compareItems(a, b *sortItem) int {
	for i := range a.prefix {
		if a.prefix[i] != b.prefix[i] {
			if a.prefix[i] < b.prefix[i] {
				return -1
			}
			return 1
		}
	}
	if x, y := a.key(), b.key(); len(x) > 16 || len(y) > 16 || len(x) != len(y) {
		if c := bytes.Compare(x, y); c != 0 {
			return c
		}
	}
	if a.seq < b.seq {
		return -1
	}
	return 1
}

func (s *sorter) start(env *Env) {
	s.reset()
	s.env = env
	s.mem.open(env, mem.UseSort)
	s.bytes.mem = account{acct: env.Acct, floor: sortFloor, use: mem.UseSort}
}

// reset forgets everything; a little memory is kept.
func (s *sorter) reset() {
	for _, level := range s.runs {
		for _, f := range level {
			f.close()
		}
	}
	for _, r := range s.open {
		r.f.close()
	}
	s.runs, s.open = nil, nil
	s.bytes.reset()
	s.mem.release()
	clear(s.items)
	s.items, s.at, s.seq = s.items[:0], 0, 0
}

// close gives all memory back.
func (s *sorter) close() {
	s.reset()
	s.bytes.mem.release()
	s.bytes.chunks, s.items = nil, nil
}

// spilled says whether there are records in files.
func (s *sorter) spilled() bool { return len(s.runs) > 0 || len(s.open) > 0 }

// item numbers a record that was built with room for the key's length in front.
func (s *sorter) item(rec []byte, key int) sortItem {
	binary.LittleEndian.PutUint32(rec, uint32(key))
	s.seq++
	return sortItem{prefix: keyPrefix(rec[4 : 4+key]), seq: s.seq, rec: rec}
}

// add keeps a copy of a record.
func (s *sorter) add(it sortItem) error {
	for try := 0; ; try++ {
		err := s.grow()
		var rec []byte
		if err == nil {
			rec, err = s.bytes.save(it.rec)
		}
		if err == nil {
			it.rec = rec
			break
		}
		if try > 0 || len(s.items) == s.at || !s.env.canSpill(err) {
			return err
		}
		if err := s.spillRun(); err != nil {
			return err
		}
	}
	s.items = append(s.items, it)
	return nil
}

// grow makes room for one more item in the account.
func (s *sorter) grow() error {
	if len(s.items) < cap(s.items) && s.mem.used > 0 {
		return nil
	}
	return s.mem.grow(int64(sortItemSize * max(16, cap(s.items))))
}

func (s *sorter) order() {
	slices.SortFunc(s.items[s.at:], func(a, b sortItem) int { return compareItems(&a, &b) })
}

// spillRun writes the records in memory as a sorted run.
func (s *sorter) spillRun() error {
	s.order()
	f, err := newSpill(s.env)
	if err != nil {
		return err
	}
	s.addRun(f, 0)
	for i := s.at; i < len(s.items); i++ {
		if err := writeItem(f, &s.items[i]); err != nil {
			return err
		}
	}
	s.bytes.reset()
	s.mem.release()
	s.mem.force(int64(len(s.open)) * spillBuffer)
	s.items, s.at = nil, 0
	if err := f.seal(); err != nil {
		return err
	}
	return s.mergeLevels()
}

func writeItem(f *spillFile, it *sortItem) error {
	var seq [8]byte
	binary.LittleEndian.PutUint64(seq[:], it.seq)
	return f.write(seq[:], it.rec)
}

func (s *sorter) addRun(f *spillFile, level int) {
	for len(s.runs) <= level {
		s.runs = append(s.runs, nil)
	}
	s.runs[level] = append(s.runs[level], f)
}

// mergeLevels keeps the number of runs small: sortFan runs of a level become one of the next.
func (s *sorter) mergeLevels() error {
	for level := 0; level < len(s.runs); level++ {
		if len(s.runs[level]) < sortFan {
			continue
		}
		f, err := newSpill(s.env)
		if err != nil {
			return err
		}
		in := s.runs[level]
		s.runs[level] = nil
		s.addRun(f, level+1)
		m := sorter{runs: [][]*spillFile{in}}
		err = m.mergeInto(f)
		m.reset()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sorter) mergeInto(f *spillFile) error {
	if err := s.begin(); err != nil {
		return err
	}
	for {
		it := s.peek()
		if it == nil {
			return f.seal()
		}
		if err := writeItem(f, it); err != nil {
			return err
		}
		if err := s.advance(); err != nil {
			return err
		}
	}
}

// begin makes everything added so far readable in order.
func (s *sorter) begin() error {
	s.order()
	for _, level := range s.runs {
		for i, f := range level {
			level[i] = nil
			r := &sortRun{f: f}
			s.open = append(s.open, r)
			s.mem.force(spillBuffer)
			var err error
			if r.rd, err = f.reader(); err != nil {
				return err
			}
			if more, err := r.next(); err != nil || !more { // a run is never empty
				return err
			}
		}
	}
	s.runs = nil
	heap.Init((*runHeap)(s))
	return nil
}

// peek returns the next record, nil at the end. It stays valid until the sorter is reset or compacted.
func (s *sorter) peek() *sortItem {
	var it *sortItem
	if s.at < len(s.items) {
		it = &s.items[s.at]
	}
	if len(s.open) > 0 && (it == nil || compareItems(&s.open[0].head, it) < 0) {
		it = &s.open[0].head
	}
	return it
}

// advance moves past the record that peek returned.
func (s *sorter) advance() error {
	if len(s.open) == 0 || s.at < len(s.items) && compareItems(&s.items[s.at], &s.open[0].head) < 0 {
		s.at++
		return nil
	}
	r := s.open[0]
	more, err := r.next()
	if err != nil {
		return err
	}
	if more {
		heap.Fix((*runHeap)(s), 0)
		return nil
	}
	heap.Pop((*runHeap)(s))
	s.mem.shrink(spillBuffer)
	r.f.close()
	return nil
}

// compact gives the memory of records that were given back, when it is worth it.
func (s *sorter) compact() {
	rest := s.items[s.at:]
	if len(rest) == 0 && !s.spilled() {
		s.reset()
		return
	}
	if s.at < 64 || s.at < len(s.items)/2 {
		return
	}
	s.bytes.mem.release()
	s.bytes.chunks = nil
	for i := range rest {
		rec, err := s.bytes.alloc(len(rest[i].rec))
		if err != nil {
			s.bytes.mem.force(int64(len(rest[i].rec))) // it was there already
			rec = make([]byte, 0, len(rest[i].rec))
		}
		rest[i].rec = append(rec, rest[i].rec...)
	}
	n := copy(s.items, rest)
	clear(s.items[n:])
	s.items, s.at = s.items[:n], 0
}

// sortRun is a sorted file being read.
type sortRun struct {
	f    *spillFile
	rd   *spillReader
	head sortItem
}

// next reads the next record into head; false at the end.
func (r *sortRun) next() (bool, error) {
	rec, err := r.rd.next()
	if err != nil || rec == nil {
		return false, err
	}
	r.head = sortItem{seq: binary.LittleEndian.Uint64(rec), rec: rec[8:]}
	r.head.prefix = keyPrefix(r.head.key())
	return true, nil
}

// runHeap keeps the run with the smallest record first.
type runHeap sorter

func (h *runHeap) Len() int           { return len(h.open) }
func (h *runHeap) Less(i, j int) bool { return compareItems(&h.open[i].head, &h.open[j].head) < 0 }
func (h *runHeap) Swap(i, j int)      { h.open[i], h.open[j] = h.open[j], h.open[i] }
func (h *runHeap) Push(any)           {}
func (h *runHeap) Pop() any {
	h.open = h.open[:len(h.open)-1]
	return nil
}
