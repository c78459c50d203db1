package pgwire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"herd/internal/mem"
	"herd/pgwire/wire"
	"herd/sql/session"
	"herd/sql/sqlerr"
)

// conn is one client connection; its goroutine also runs the session.
type conn struct {
	l    *Listener
	nc   net.Conn
	tls  *tls.Conn
	in   *wire.Reader
	out  *wire.Writer
	sess *session.Session
	pid  int32
	bind wire.Bind

	target      atomic.Pointer[session.Session] // where cancel requests go
	terminating atomic.Bool
	start       []byte // the start-up message, for another node
	relayed     bool   // by another node
	skip        bool   // an extended-protocol error: ignore messages until Sync
	inCopy      bool
}

func newConn(l *Listener, nc net.Conn) *conn {
	if t, ok := nc.(*net.TCPConn); ok {
		t.SetNoDelay(true)
	}
	nc = eager(nc, &l.solo)
	return &conn{l: l, nc: nc, in: wire.NewReader(nc), out: wire.NewWriter(nc)}
}

// terminateGrace is how long a session that is to end may go on sending: a client that does not read must not keep it, its locks
// and its snapshot.
const terminateGrace = time.Second

// terminate asks the connection to end with 57P01; called by Listener.Close and pg_terminate_backend.
func (c *conn) terminate() {
	c.terminating.Store(true)
	if s := c.target.Load(); s != nil {
		s.Terminate()
	}
	c.wake()
	c.nc.SetWriteDeadline(time.Now().Add(terminateGrace))
}

// wake makes a blocked read return so that the connection looks at why.
func (c *conn) wake() { c.nc.SetReadDeadline(time.Unix(1, 0)) }

// rest undoes wake, unless the connection is to end.
func (c *conn) rest() {
	c.nc.SetReadDeadline(time.Time{})
	if s := c.target.Load(); c.terminating.Load() || s != nil && s.EndReason() != nil {
		c.wake()
	}
}

// notified says whether a wait for the client was interrupted to tell it of notifications, and tells it.
func (c *conn) notified(err error) bool {
	var ne net.Error
	if !errors.As(err, &ne) || !ne.Timeout() || c.terminating.Load() || !c.sess.Notified() {
		return false
	}
	return c.out.Flush() == nil
}

func (c *conn) run() {
	defer c.l.remove(c)
	defer c.nc.Close()
	c.nc.SetDeadline(time.Now().Add(c.l.opts.StartupTimeout))
	if err := c.open(); err != nil {
		c.refuse(err)
		return
	}
	defer c.shut()
	if c.terminating.Load() {
		c.refuse(errTerminated())
		return
	}
	c.serve()
}

// open runs start-up and authentication and sends what a client needs before its first query.
func (c *conn) open() error {
	info, err := c.startup()
	if err != nil {
		return err
	}
	if done, err := c.relay(info); err != nil {
		return err
	} else if done {
		return errQuiet
	}
	if n := c.l.opts.MaxConnections; n > 0 && c.l.Connections() > int64(n) {
		return sqlerr.Fatal(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	if err := c.authenticate(info); err != nil {
		return err
	}
	var secret int32
	c.pid, secret = c.l.cancels.register(func() {
		if s := c.target.Load(); s != nil {
			s.Cancel()
		}
	})
	info.PID = c.pid
	s, err := c.l.srv.Connect(info, session.Client{Out: c.out, Copy: c, Wake: c.wake, Rest: c.rest, Terminate: c.terminate})
	if err != nil {
		c.l.cancels.unregister(c.pid)
		return err
	}
	c.sess = s
	c.in.Account = s.Account()
	c.target.Store(s)
	for _, p := range s.Reported() {
		c.out.ParameterStatus(p.Name, p.Value)
	}
	c.out.Begin('K')
	c.out.Int32(c.pid)
	c.out.Int32(secret)
	c.out.End()
	c.out.Ready(s.TxStatus())
	c.nc.SetDeadline(time.Time{})
	return c.out.Flush()
}

func (c *conn) shut() {
	c.l.cancels.unregister(c.pid)
	c.target.Store(nil)
	c.in.Account = nil
	c.sess.Close()
}

// refuse sends a FATAL error to a client that speaks the protocol and nothing to one that does not.
func (c *conn) refuse(err error) {
	if errors.Is(err, errQuiet) {
		c.l.log.Debug("connection closed before a session began", "remote", c.nc.RemoteAddr().String(), "reason", err)
		return
	}
	e := sqlerr.From(err)
	e.Severity = sqlerr.SeverityFatal
	c.out.Error(e)
	c.out.Flush()
	// A close with unread input resets the connection and the client would lose the message: read what is on its way.
	if t, ok := c.nc.(interface{ CloseWrite() error }); ok && c.tls == nil {
		t.CloseWrite()
		c.nc.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		var sink [512]byte
		for range 64 {
			if _, err := c.nc.Read(sink[:]); err != nil {
				break
			}
		}
	}
}

func errTerminated() *sqlerr.Error {
	return sqlerr.Fatal(sqlerr.AdminShutdown, "terminating connection due to administrator command")
}

// serve is the message loop.
func (c *conn) serve() {
	for {
		typ, body, err := c.in.Next()
		if errors.Is(err, mem.ErrLimit) {
			c.sess.Busy(c.in.Fresh())
			if c.skip || !c.failed(typ, errMessageMemory()) {
				continue
			}
			c.out.Flush()
			return
		}
		if err != nil {
			if c.notified(err) {
				continue
			}
			c.readFailed(err)
			return
		}
		c.sess.Busy(c.in.Fresh())
		if done := c.message(typ, body); done {
			c.out.Flush()
			return
		}
		if c.out.Err() != nil {
			return
		}
	}
}

// readFailed tells a client that is still there why its session ends.
func (c *conn) readFailed(err error) {
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout():
		e := c.sess.EndReason()
		if e == nil || c.terminating.Load() {
			e = errTerminated()
		}
		c.nc.SetReadDeadline(time.Time{})
		c.refuse(e)
	case errors.Is(err, wire.ErrTooLong):
		c.refuse(sqlerr.Fatal(sqlerr.ProtocolViolation, "%s", err.Error()))
	default:
		c.l.log.Debug("client went away", "pid", c.pid, "reason", err)
	}
}

// message handles one frame; true ends the connection.
func (c *conn) message(typ byte, body []byte) (done bool) {
	if c.skip && typ != 'S' && typ != 'X' {
		if !knownType(typ) {
			return c.unknown(typ)
		}
		return false
	}
	err := c.guard(typ, body)
	if err == errExit {
		return true
	}
	if err == nil {
		return false
	}
	return c.failed(typ, err)
}

// errMessageMemory is the error for a message that was dropped because there is no memory for it.
func errMessageMemory() *sqlerr.Error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("The memory limit of the server does not allow a message of this size.")
}

// failed tells the client of the error of a message; true ends the connection.
func (c *conn) failed(typ byte, err error) (done bool) {
	e := c.sess.Translate(err)
	if typ == 'Q' {
		c.out.Abandon()
		c.out.Error(c.sess.Failed(e))
		if e.Severity == sqlerr.SeverityFatal {
			return true
		}
		return c.ready()
	}
	c.out.Error(c.sess.Failed(e))
	if e.Severity == sqlerr.SeverityFatal {
		return true
	}
	if typ == 'S' {
		return c.ready()
	}
	if typ == 'F' {
		return c.ready()
	}
	c.skip = true
	return c.out.Flush() != nil // a client that waits before it sends Sync hears of the error
}

var errExit = errors.New("exit")

// guard turns a panic into an error of the session.
func (c *conn) guard(typ byte, body []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.l.log.Error("panic in a session", "pid", c.pid, "message", string(typ), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = sqlerr.Internal("internal error: %v", r)
		}
	}()
	return c.dispatch(typ, body)
}

func (c *conn) dispatch(typ byte, body []byte) error {
	switch typ {
	case 'B':
		if err := c.bind.Decode(body); err != nil {
			return err
		}
		return c.sess.Bind(&c.bind)
	case 'E':
		f := wire.NewFields(body)
		name, limit := f.String(), f.Int32()
		if f.Bad {
			return wire.ErrInsufficient()
		}
		return c.sess.Execute(name, limit)
	case 'S':
		c.skip = false
		if err := c.sess.Sync(); err != nil {
			return err
		}
		c.ready()
		return nil
	case 'P':
		return c.parse(body)
	case 'D', 'C':
		return c.describeOrClose(typ, body)
	case 'Q':
		text, ok := bytes.CutSuffix(body, []byte{0})
		if !ok {
			return wire.ErrInsufficient()
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return wire.ErrBadFormat()
		}
		if err := c.sess.Query(text); err != nil {
			return err
		}
		c.ready()
		return nil
	case 'H':
		return c.out.Flush()
	case 'X':
		return errExit
	case 'F':
		return sqlerr.Unsupported("function call protocol message")
	case 'd', 'c', 'f':
		return nil // the rest of a COPY that already failed
	}
	c.unknown(typ)
	return errExit
}

func (c *conn) unknown(typ byte) bool {
	c.out.Error(sqlerr.Fatal(sqlerr.ProtocolViolation, "invalid frontend message type %d", typ))
	return true
}

func knownType(typ byte) bool { return bytes.IndexByte([]byte("BESPDCQHXFdcf"), typ) >= 0 }

// ready ends a cycle: transaction status, everything sent.
func (c *conn) ready() (done bool) {
	c.sess.BeforeReady()
	c.out.Ready(c.sess.TxStatus())
	c.sess.Idle()
	return c.out.Flush() != nil
}

func (c *conn) parse(body []byte) error {
	f := wire.NewFields(body)
	name, query := f.String(), f.String()
	n := int(uint16(f.Int16()))
	if f.Bad {
		return wire.ErrInsufficient()
	}
	var oids []uint32
	if n > 0 {
		if len(f.Rest()) < 4*n {
			return wire.ErrInsufficient()
		}
		oids = make([]uint32, n)
		for i := range oids {
			oids[i] = uint32(f.Int32())
		}
	}
	if len(f.Rest()) != 0 {
		return wire.ErrBadFormat()
	}
	return c.sess.Parse(name, query, oids)
}

func (c *conn) describeOrClose(typ byte, body []byte) error {
	f := wire.NewFields(body)
	kind, name := f.Byte(), f.String()
	if f.Bad {
		return wire.ErrInsufficient()
	}
	switch {
	case typ == 'D' && kind == 'S':
		return c.sess.DescribeStatement(name)
	case typ == 'D' && kind == 'P':
		return c.sess.DescribePortal(name)
	case typ == 'C' && kind == 'S':
		c.sess.CloseStatement(name)
	case typ == 'C' && kind == 'P':
		c.sess.ClosePortal(name)
	case typ == 'D':
		return sqlerr.New(sqlerr.ProtocolViolation, "invalid DESCRIBE message subtype %d", kind)
	default:
		return sqlerr.New(sqlerr.ProtocolViolation, "invalid CLOSE message subtype %d", kind)
	}
	c.out.Empty('3')
	return nil
}
