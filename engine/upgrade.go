package engine

import (
	"fmt"
	"path/filepath"
)

// Upgrade makes a folder that no server uses one of this version's format and returns its format before and after. A server does
// the same when it opens an older folder; after it the older version does not open the folder any more. The step is one replaced
// file, so a crash leaves the folder in one format or the other, and a second call finds nothing to do. Errors: ErrInUse,
// ErrOlderFormat for formats that are not read any more, ErrNewerFormat, ErrNotHerd, ErrHalfRestored.
//
// What differs: format 1 had its manifests in bbolt databases (no released version wrote it; it is refused); format 3 has the time
// of a commit in its log entry, and reads entries without; format 4 has the time of the last commit in the manifest and a checksum in FORMAT, and reads both
// without.
func Upgrade(o CheckOptions) (from, to int, err error) {
	opt := Options{FS: o.FS, Dir: o.Dir}.withDefaults()
	name := filepath.Join(o.Dir, formatFile)
	if _, err := opt.FS.Stat(labelFolder, name); err != nil {
		return 0, 0, fmt.Errorf("upgrade %s: %w", o.Dir, ErrNotHerd)
	}
	l, err := lockFolder(opt.FS, o.Dir) // refuses what cannot be upgraded
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	if from, err = readFormat(opt.FS, o.Dir); err != nil {
		return 0, 0, err
	}
	return from, folderFormat, takeOver(opt.FS, o.Dir)
}
