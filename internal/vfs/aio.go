package vfs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// A direct write can be handed to the kernel and waited for as for a socket (Linux native asynchronous I/O, io_submit(2), with an
// eventfd(2) in Go's poller). The thread goes on meanwhile: in a system call that waits it would hold its processor, as Go counts
// processors, until somebody notices and starts another thread.

// asyncWrite is one write at a time on its way.
type asyncWrite struct {
	context uintptr  // the kernel's, io_setup(2)
	done    *os.File // an eventfd
	block   iocb
	list    *iocb // what io_submit reads
	event   ioEvent
	count   [8]byte // what done is read into
}

// iocb is struct iocb of linux/aio_abi.h, for little-endian machines.
type iocb struct {
	data     uint64
	key      uint32
	rwFlags  uint32
	opcode   uint16
	priority int16
	fd       uint32
	buf      *byte
	_        [8 - unsafe.Sizeof(uintptr(0))]byte
	nbytes   uint64
	offset   int64
	_        uint64
	flags    uint32
	resfd    uint32
}

// ioEvent is struct io_event.
type ioEvent struct {
	data, obj uint64
	res, res2 int64
}

const (
	iocbWrite    = 1 // IOCB_CMD_PWRITE
	iocbHasResfd = 1 // IOCB_FLAG_RESFD
)

var (
	noAsync    atomic.Bool // the kernel or a sandbox has no such calls
	asyncMu    sync.Mutex
	asyncSpare []*asyncWrite // not in use: as many as there ever were at once
)

// takeAsync returns one that nobody uses; nil when there is none to be had.
func takeAsync() *asyncWrite {
	if noAsync.Load() {
		return nil
	}
	asyncMu.Lock()
	if n := len(asyncSpare); n > 0 {
		a := asyncSpare[n-1]
		asyncSpare = asyncSpare[:n-1]
		asyncMu.Unlock()
		return a
	}
	asyncMu.Unlock()
	a, err := newAsync()
	if err != nil {
		if err != unix.EAGAIN && err != unix.EMFILE && err != unix.ENFILE { // limits: later there may be room
			noAsync.Store(true)
		}
		return nil
	}
	return a
}

func newAsync() (*asyncWrite, error) {
	if cpu.IsBigEndian {
		return nil, unix.ENOSYS
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	a := &asyncWrite{done: os.NewFile(uintptr(fd), "eventfd")}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&a.context)), 0); errno != 0 {
		_ = a.done.Close()
		return nil, errno
	}
	a.block = iocb{opcode: iocbWrite, flags: iocbHasResfd, resfd: uint32(fd)}
	a.list = &a.block
	return a, nil
}

func (a *asyncWrite) put() {
	asyncMu.Lock()
	asyncSpare = append(asyncSpare, a)
	asyncMu.Unlock()
}

// writeSync writes p, durably when it returns, and returns how much of it. refused: the kernel does not take it, nothing was
// written.
func (a *asyncWrite) writeSync(fd int, p []byte, off int64) (n int, refused bool, err error) {
	a.block.fd, a.block.buf, a.block.nbytes, a.block.offset = uint32(fd), unsafe.SliceData(p), uint64(len(p)), off
	a.block.rwFlags = unix.RWF_DSYNC
	defer func() { a.block.buf = nil }()
	for {
		_, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, a.context, 1, uintptr(unsafe.Pointer(&a.list)))
		if errno == 0 {
			break
		}
		if errno != unix.EINTR {
			return 0, true, errno
		}
	}
	// From here on the kernel reads p: no return before it has said that it is done.
	a.await()
	for {
		got, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, a.context, 1, 1, uintptr(unsafe.Pointer(&a.event)), 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || got != 1 {
			panic(fmt.Sprintf("vfs: take the end of a write: %v", errno))
		}
		break
	}
	if a.event.res < 0 {
		err := unix.Errno(-a.event.res)
		return 0, slices.Contains(refusals, err), err
	}
	return int(a.event.res), false, nil
}

// refusals are ends of a write that never began: the kernel or the file system does not take it this way, or it was interrupted.
var refusals = []unix.Errno{unix.EINVAL, unix.EOPNOTSUPP, unix.EINTR, unix.EAGAIN}

// await returns when the write has ended.
func (a *asyncWrite) await() {
	for {
		_, err := a.done.Read(a.count[:])
		switch {
		case err == nil:
			return
		case errors.Is(err, unix.EAGAIN): // the poller does not take it
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(a.block.resfd), Events: unix.POLLIN}}, -1)
			if err == nil || err == unix.EINTR {
				continue
			}
		}
		panic(fmt.Sprintf("vfs: wait for a write in progress: %v", err))
	}
}

// writeSyncPast writes the aligned p durably. Where no thread is to be kept and there is no other way, or for a rest, it is
// writeSync.
func (o osFile) writeSyncPast(p []byte, off int64, w Waiting) error {
	if w == Blocked {
		return o.writeSync(p, off, w)
	}
	if a := takeAsync(); a != nil {
		n, refused, err := a.writeSync(int(o.f.Fd()), p, off)
		a.put()
		if err != nil && !refused {
			return &os.PathError{Op: opWriteSync, Path: o.f.Name(), Err: err}
		}
		p, off = p[n:], off+int64(n)
	}
	if len(p) == 0 {
		return nil
	}
	return o.writeSync(p, off, Blocked)
}
