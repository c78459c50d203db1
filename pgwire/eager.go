package pgwire

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// eagerFor is how long a reader looks for the next request before it sleeps: about what putting a thread to sleep and
	// waking it costs, so that looking in vain at most doubles that cost.
	eagerFor = 20 * time.Microsecond
	// eagerLooks is how many looks there are between two looks at the clock.
	eagerLooks = 8
	// eagerMisses is how many vain attempts in a row make a connection sleep at once; it tries again every eagerRetry reads.
	eagerMisses = 3
	eagerRetry  = 64
)

// solo knows whether a single client keeps the listener busy: then there is a core that has nothing better to do than to
// look for its next request.
type solo struct {
	last atomic.Pointer[eagerConn] // that had a request
}

// eagerConn is a TCP connection whose Read looks for the client's next request for some microseconds before it sleeps. A
// client that is alone and asks as soon as it is answered then costs neither a sleep nor a wake-up: on a virtual machine
// these take longer than a point read.
//
// Its system calls never wait, and so do not give the processor up as Go's do: a goroutine that loses its processor in a
// write to a socket goes to the end of a queue that a busy scheduler seldom looks at, and the log writer after it.
type eagerConn struct {
	*net.TCPConn
	raw  syscall.RawConn
	solo *solo
	look func(fd uintptr) bool // e.attempt, made once
	put  func(fd uintptr) bool // e.send, made once

	out    []byte // what Write has left to send
	outErr error
	buf    []byte
	n      int
	err    error
	slept  bool // in this Read
	alone  bool // no other connection had a request between the last two of this one
	misses uint8
	rests  uint8
}

// eager wraps nc when it is one whose reads can be tried; s is shared by the listener's connections.
func eager(nc net.Conn, s *solo) net.Conn {
	t, ok := nc.(*net.TCPConn)
	if !ok || runtime.NumCPU() == 1 {
		return nc
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nc
	}
	unpace(t, raw)
	e := &eagerConn{TCPConn: t, raw: raw, solo: s}
	e.look, e.put = e.attempt, e.send
	return e
}

// unpace gives a connection within this machine a congestion control that sends at once: where the system's is one that paces (bbr),
// each answer sets a timer, for a network that is not there.
func unpace(t *net.TCPConn, raw syscall.RawConn) {
	if a, ok := t.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return
	}
	_ = raw.Control(func(fd uintptr) { // it may be forbidden
		_ = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, "reno")
	})
}

// Read implements net.Conn.
func (e *eagerConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	e.buf, e.slept = p, false
	err := e.raw.Read(e.look)
	e.buf = nil
	if err != nil {
		return 0, err
	}
	if e.err != nil {
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: e.err}
	}
	if e.n == 0 {
		return 0, io.EOF
	}
	if e.alone = e.solo.last.Load() == e; !e.alone {
		e.solo.last.Store(e)
	}
	return e.n, nil
}

// Write implements net.Conn.
func (e *eagerConn) Write(p []byte) (int, error) {
	e.out, e.outErr = p, nil
	err := e.raw.Write(e.put)
	n := len(p) - len(e.out)
	e.out = nil
	if err == nil && e.outErr != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: e.outErr}
	}
	return n, err
}

// send sends what the socket takes; false puts the goroutine to sleep until it takes more.
func (e *eagerConn) send(fd uintptr) bool {
	for len(e.out) > 0 {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&e.out[0])), uintptr(len(e.out)))
		switch errno {
		case 0:
			e.out = e.out[n:]
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			e.outErr = errno
			return true
		}
	}
	return true
}

// Close implements net.Conn.
func (e *eagerConn) Close() error {
	e.solo.last.CompareAndSwap(e, nil) // keeps no memory of a closed connection
	return e.TCPConn.Close()
}

// attempt reads what is there; false puts the goroutine to sleep until there is something.
func (e *eagerConn) attempt(fd uintptr) bool {
	if e.once(fd) {
		return true
	}
	if e.slept || !e.alone || !e.worthwhile() {
		return false
	}
	e.slept = true
	for start := time.Now(); time.Since(start) < eagerFor; {
		for range eagerLooks {
			if e.once(fd) {
				e.misses = 0
				return true
			}
		}
	}
	e.misses = min(e.misses+1, eagerMisses)
	return false
}

// worthwhile says whether the client was quick to ask lately.
func (e *eagerConn) worthwhile() bool {
	if e.misses < eagerMisses {
		return true
	}
	e.rests++
	return e.rests%eagerRetry == 0
}

// once is one read of a descriptor that does not block; it does not give up the processor.
func (e *eagerConn) once(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&e.buf[0])), uintptr(len(e.buf)))
		switch errno {
		case 0:
			e.n, e.err = int(n), nil
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
			continue
		default:
			e.n, e.err = 0, errno
		}
		return true
	}
}
