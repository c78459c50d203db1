package vfs

import "golang.org/x/sys/unix"

// writeStarter is a file whose bytes can be sent to the device ahead of a sync.
type writeStarter interface {
	startWrite(off, n int64)
}

// StartWrite has the device begin with bytes that were written and need not be durable yet, so that a later Sync of a large
// file is not one burst in front of everybody else's. Where the operating system cannot, nothing happens. A failure
// is told by the Sync.
func StartWrite(f File, off, n int64) {
	if s, ok := f.(writeStarter); ok {
		s.startWrite(off, n)
	}
}

// startWrite only starts: with a wait it would take the error that belongs to the next Sync.
func (o osFile) startWrite(off, n int64) {
	_ = unix.SyncFileRange(int(o.f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
