package txlog

import "herd/internal/vfs"

// GroupInfo describes a flush group for herd inspect and herd check.
type GroupInfo struct {
	File     string
	Offset   int64
	Position Position
	Synced   Position
	Bytes    int
	Entries  int
}

// Summary is what Inspect found.
type Summary struct {
	Segments int
	Groups   int
	Entries  int
	Last     Seq
	End      Position
	// TailFile and TailOffset say where the log ends.
	TailFile   string
	TailOffset int64
}

// Inspect reads the log in dir from a position on without changing anything. onGroup and onEntry may be nil. A torn
// tail is the normal end; corruption is a *CorruptError.
func Inspect(fsys vfs.FS, dir string, from Position, onGroup func(GroupInfo), onEntry func(Position, Entry) error) (Summary, error) {
	var sum Summary
	segs, _, err := listSegments(fsys, dir)
	defer closeSegments(segs)
	if err != nil || len(segs) == 0 {
		return sum, err
	}
	sc := scanner{segs: segs}
	sc.onGroup = func(s *segment, off int64, g group) {
		sum.Groups++
		if onGroup != nil {
			onGroup(GroupInfo{File: s.file.Name(), Offset: off, Position: g.pos, Synced: g.synced, Bytes: groupHeader + g.length, Entries: g.count})
		}
	}
	sc.replay = func(p Position, e Entry) error {
		sum.Entries++
		sum.Last = max(sum.Last, e.Seq)
		if onEntry != nil {
			return onEntry(p, e)
		}
		return nil
	}
	i, off, err := sc.scan(from)
	if err != nil {
		return sum, err
	}
	sum.Segments, sum.End = len(segs), sc.prevEnd
	sum.TailFile, sum.TailOffset = segs[i].file.Name(), off
	return sum, nil
}
