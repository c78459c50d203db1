package txlog

import (
	"errors"
	"log/slog"

	"herd/internal/vfs"
)

// Cut ends the log in dir before the first damaged group at or behind from, for good: that group and all that follows is
// lost. It returns the place, nil when nothing is damaged. A segment whose header is damaged is an error.
func Cut(fsys vfs.FS, dir string, from Position, logger *slog.Logger) (*CorruptError, error) {
	segs, _, err := listSegments(fsys, dir)
	if err != nil || len(segs) == 0 {
		return nil, err
	}
	defer closeSegments(segs)
	sc := scanner{segs: segs, replay: func(Position, Entry) error { return nil }}
	_, _, err = sc.scan(from)
	var damage *CorruptError
	if !errors.As(err, &damage) {
		return nil, err
	}
	for i, s := range segs {
		if s.file.Name() == damage.File && damage.Offset >= segmentHeader {
			l := &Local{o: Options{FS: fsys, Dir: dir, Logger: logger}.withDefaults(), cur: s}
			s.off = damage.Offset
			return damage, l.cutTail(segs[i+1:])
		}
	}
	return nil, err
}
