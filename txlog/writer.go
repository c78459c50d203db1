package txlog

import (
	"time"

	"herd/internal/vfs"
)

// chunk is a flush group ready to be written.
type chunk struct {
	seg  *segment
	off  int64
	data []byte // header and entries
	end  Position
	last Seq
}

// write is the writer goroutine: it writes what has gathered and nobody who waits for it has begun to write.
func (l *Local) write() {
	defer l.writer.Done()
	for {
		l.mu.Lock()
		for l.err == nil && (l.writing || len(l.ends) == 0 && !l.closed && !l.wantSync) {
			l.work.Wait()
		}
		if l.err != nil || (l.closed && len(l.ends) == 0) {
			failed := l.err != nil
			l.mu.Unlock()
			if !failed {
				l.syncAll(l.unsyncedSegments())
			}
			return
		}
		if len(l.ends) == 0 { // only the interval has passed
			l.wantSync = false
			end := l.prevEnd
			l.mu.Unlock()
			if !l.syncAll(l.unsyncedSegments()) {
				return
			}
			l.setSynced(end)
			continue
		}
		l.writeGroup(vfs.Parked)
		l.mu.Unlock()
	}
}

// writeGroup takes what has gathered, writes and syncs it, and tells the waiters. l.mu is held, and released meanwhile; nobody
// else writes. A failure is in l.err.
func (l *Local) writeGroup(w vfs.Waiting) {
	l.writing, l.told = true, false
	buf, ends := l.takeLocked()
	chunks := l.layOut(l.chunks[:0], buf, ends)
	l.mu.Unlock()
	ok := l.flush(chunks, w)
	if ok {
		l.publish(chunks, buf, ends)
	}
	clear(chunks)
	l.mu.Lock()
	l.writing, l.chunks = false, chunks
}

// takeLocked swaps the gathering buffer for the spare one. l.mu is held.
func (l *Local) takeLocked() ([]byte, []int) {
	buf, ends := l.buf, l.ends
	l.buf, l.ends = l.spare[:groupHeader], l.spareEnd[:0]
	l.spare, l.spareEnd = nil, nil
	if len(buf) >= pendingLarge {
		l.space.Broadcast()
	}
	return buf, ends
}

// layOut decides where the entries of buf go and encodes the group headers. l.mu is held.
func (l *Local) layOut(chunks []chunk, buf []byte, ends []int) []chunk {
	start := groupHeader // of the entries not laid out yet
	for i := 0; i < len(ends); {
		room := l.cur.size - l.cur.off - groupHeader
		j := i
		for j < len(ends) && int64(ends[j]-start) <= room {
			j++
		}
		if j == i {
			l.nextSegment()
			continue
		}
		var data []byte
		if start == groupHeader {
			// In front of the first entry there is room for a header. A copy is needed only when a group is cut.
			data = buf[:ends[j-1]]
		} else {
			data = append(make([]byte, groupHeader, groupHeader+ends[j-1]-start), buf[start:ends[j-1]]...)
		}
		pos := l.cur.base + Position(l.cur.off)
		encodeGroup(data, group{segment: l.cur.number, pos: pos, prevEnd: l.prevEnd, synced: l.synced, count: j - i})
		end := pos + Position(len(data))
		last, _, _ := decodeEntry(buf[lastStart(ends, j-1):])
		chunks = append(chunks, chunk{seg: l.cur, off: l.cur.off, data: data, end: end, last: last.Seq})
		l.cur.off += int64(len(data))
		l.cur.unsynced = l.o.Mode != SyncAlways // else it is written durably, and nobody asks before
		l.prevEnd = end
		start, i = ends[j-1], j
	}
	return chunks
}

// lastStart returns where entry i begins.
func lastStart(ends []int, i int) int {
	if i == 0 {
		return groupHeader
	}
	return ends[i-1]
}

// flush writes the chunks and, unless the mode says later, syncs them.
func (l *Local) flush(chunks []chunk, w vfs.Waiting) bool {
	var size int64
	for _, c := range chunks {
		if err := l.writeChunk(c, w); err != nil {
			l.fail(err)
			return false
		}
		size += int64(len(c.data))
	}
	l.stats.Bytes.Add(size)
	l.stats.Groups.Add(int64(len(chunks)))
	if l.o.Mode != SyncAlways {
		l.mu.Lock()
		want := l.wantSync
		l.wantSync = false
		l.mu.Unlock()
		if !want {
			return true
		}
		if !l.syncAll(l.unsyncedSegments()) {
			return false
		}
	}
	l.setSynced(chunks[len(chunks)-1].end)
	return true
}

// writeChunk writes one chunk, durably when the mode asks for that.
func (l *Local) writeChunk(c chunk, w vfs.Waiting) error {
	p, at := l.blocks.fill(c)
	defer l.blocks.done()
	if l.o.Mode != SyncAlways {
		_, err := c.seg.file.WriteAt(labelWrite, p, at)
		return err
	}
	start := time.Now()
	if err := vfs.WriteSync(c.seg.file, labelWrite, labelSync, p, at, w); err != nil {
		return err
	}
	l.stats.Sync.Observe(time.Since(start))
	return nil
}

// unsyncedSegments returns the segments with writes that were not synced, oldest first.
func (l *Local) unsyncedSegments() []*segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	var segs []*segment
	for _, s := range l.old {
		if s.unsynced {
			segs = append(segs, s)
		}
	}
	if l.cur.unsynced {
		segs = append(segs, l.cur)
	}
	return segs
}

// syncAll syncs segments in order; false when one failed.
func (l *Local) syncAll(segs []*segment) bool {
	if l.o.Mode == SyncNever && !l.isClosed() {
		return true
	}
	for _, s := range segs {
		start := time.Now()
		if err := s.file.Sync(labelSync); err != nil {
			l.fail(err)
			return false
		}
		l.stats.Sync.Observe(time.Since(start))
		l.mu.Lock()
		s.unsynced = false
		l.mu.Unlock()
	}
	return true
}

func (l *Local) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *Local) setSynced(end Position) {
	l.mu.Lock()
	l.synced = max(l.synced, end)
	l.mu.Unlock()
}

// publish makes the written group known: first to the owner of the log, then to the waiters.
func (l *Local) publish(chunks []chunk, buf []byte, ends []int) {
	last := chunks[len(chunks)-1].last
	l.o.OnDurable(last)
	l.durable.Store(uint64(last))
	l.stats.Entries.Add(int64(len(ends)))
	l.mu.Lock()
	for _, c := range chunks {
		l.marks.add(c.last, c.end)
	}
	l.written = chunks[len(chunks)-1].end
	l.waiting.Release(last, nil)
	l.spare, l.spareEnd = buf, ends
	if cap(buf) > spareMax || l.blocks.large() { // kept while large groups come: a big commit's parts would else make it anew each time
		if l.rare++; len(buf) > spareMax {
			l.rare = 0
		}
		if l.rare > rareMax || cap(buf) > 4*pendingMax {
			if cap(buf) > spareMax {
				l.spare, l.spareEnd = make([]byte, groupHeader, 64<<10), nil
			}
			l.blocks.slim()
		}
	}
	l.mu.Unlock()
}

// ticker asks the writer to sync once per interval.
func (l *Local) ticker() {
	defer l.writer.Done()
	t := time.NewTicker(l.o.Interval)
	defer t.Stop()
	for {
		select {
		case <-l.tick:
			return
		case <-t.C:
			l.mu.Lock()
			l.wantSync = l.cur.unsynced || len(l.old) > 0 && l.old[len(l.old)-1].unsynced
			l.mu.Unlock()
			l.work.Signal()
		}
	}
}

// marks remembers where the last groups ended.
type marks struct {
	ring [1024]struct {
		last Seq
		end  Position
	}
	n     int      // groups ever added
	floor Position // where the log began when it was opened
	// gone is the newest group that fell out.
	gone struct {
		last Seq
		end  Position
	}
}

func (m *marks) add(last Seq, end Position) {
	e := &m.ring[m.n%len(m.ring)]
	if m.n >= len(m.ring) {
		m.gone = *e
	}
	e.last, e.end = last, end
	m.n++
}

// before returns the end of the newest group known all of whose entries are at or below seq, else the floor.
func (m *marks) before(seq Seq) Position {
	for i := m.n - 1; i >= 0 && i >= m.n-len(m.ring); i-- {
		if e := m.ring[i%len(m.ring)]; e.last <= seq {
			return e.end
		}
	}
	if m.gone.end > 0 && m.gone.last <= seq {
		return m.gone.end
	}
	return m.floor
}
