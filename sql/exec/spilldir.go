package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"herd/internal/vfs"
)

// spillPrefix begins the names of spill files; the process number follows.
const spillPrefix = "herd-spill-"

// PrepareSpill makes the folder of spill files and removes those that processes which are gone have left. Other files
// stay: the folder may be one that others use.
func PrepareSpill(fsys vfs.FS, dir string) error {
	if err := fsys.MkdirAll(labelSpill, dir); err != nil {
		return fmt.Errorf("make the folder of temporary files: %w", err)
	}
	names, err := fsys.ReadDir(labelSpill, dir)
	if err != nil {
		return fmt.Errorf("read the folder of temporary files: %w", err)
	}
	for _, n := range names {
		rest, ours := strings.CutPrefix(n, spillPrefix)
		number, _, ok := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ours || !ok || err != nil || pid != os.Getpid() && lives(pid) {
			continue
		}
		if err := fsys.Remove(labelSpill, filepath.Join(dir, n)); err != nil {
			return fmt.Errorf("remove an old temporary file: %w", err)
		}
	}
	return nil
}

// lives says whether there is a process with a number, be it another user's.
func lives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
