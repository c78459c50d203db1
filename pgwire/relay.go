package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"herd/sql/session"
	"herd/sql/sqlerr"
)

// Router says where sessions run when the server is one of several.
type Router interface {
	// Route returns a connection to the node that a session of client in a database runs on, nil when it is this one.
	Route(database string, client net.Addr) (net.Conn, error)
	// Holds tells whether this node has a replica of the database that can be read.
	Holds(database string) bool
	// Serves tells whether it is this one.
	Serves(database string) bool
	// CancelElsewhere passes a cancel request on that no session here is meant by.
	CancelElsewhere(pid, secret int32)
}

// relay hands the client's connection to the node that its session runs on, and returns when it has ended.
func (c *conn) relay(info *session.StartupInfo) (done bool, err error) {
	r, database := c.l.opts.Router, info.Database
	switch {
	case r == nil:
		return false, nil
	case !c.relayed && session.WantsStale(info.Settings) && r.Holds(database):
		return false, nil // it reads what is here
	case c.relayed && r.Serves(database):
		return false, nil
	case c.relayed: // never further: two nodes that take each other for the leader would pass it on for ever
		return false, noLeader(database, errors.New("leadership has moved meanwhile"))
	}
	node, err := r.Route(database, c.nc.RemoteAddr())
	if err != nil {
		return false, noLeader(database, err)
	}
	if node == nil {
		return false, nil
	}
	defer node.Close()
	if err := c.splice(node); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
		c.l.log.Debug("a relayed session has ended", "remote", c.nc.RemoteAddr().String(), "reason", err)
	}
	return true, nil
}

func noLeader(database string, err error) error {
	return sqlerr.Fatal(sqlerr.CannotConnectNow, "the cluster cannot serve database \"%s\" at the moment", database).WithDetail("%v", err)
}

// splice sends the start-up message, then copies both ways until one side ends. A client whose session's node is gone is told so.
func (c *conn) splice(node net.Conn) error {
	talk := newConversation()
	ahead := c.in.Take()
	talk.fromClient.pass(ahead)
	head := binary.BigEndian.AppendUint32(nil, uint32(4+len(c.start)))
	if _, err := node.Write(append(append(head, c.start...), ahead...)); err != nil {
		return err
	}
	client := c.nc
	if c.tls != nil {
		client = c.tls
	}
	if err := c.nc.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if c.terminating.Load() { // it was asked to before there was no deadline
		return nil
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(watchedWriter{node, &talk.fromClient}, clientReader{client, c, talk})
		node.Close() // the session has ended; this ends the copy below
		sent <- err
	}()
	_, err := io.Copy(watchedWriter{recordWriter{client}, &talk.fromNode}, node)
	if e := talk.broken(c.terminating.Load()); e != nil {
		c.out.Error(e)
		_ = c.out.Flush() // the session has ended either way
	}
	c.nc.Close()
	return errors.Join(err, <-sent)
}

// clientReader notes that the client has gone. When a read ends because this server does, the client is there and is told so.
type clientReader struct {
	client io.Reader
	c      *conn
	talk   *conversation
}

// Read implements io.Reader.
func (r clientReader) Read(p []byte) (int, error) {
	n, err := r.client.Read(p)
	if err != nil && !r.c.terminating.Load() {
		r.talk.leaving.Store(true)
	}
	return n, err
}

// ServeRelayed serves a client that another node relays; the connection is taken over.
func (l *Listener) ServeRelayed(nc net.Conn, client net.Addr) {
	c := newConn(l, relayedConn{nc, client})
	c.relayed = true
	if !l.add(c) {
		nc.Close()
		return
	}
	go c.run()
}

// relayedConn is a connection from another node that shows the client's address.
type relayedConn struct {
	net.Conn
	client net.Addr
}

// RemoteAddr implements net.Conn.
func (r relayedConn) RemoteAddr() net.Addr { return r.client }

// Cancel interrupts a statement of this server's, as a cancel request that another node got.
func (l *Listener) Cancel(pid, secret int32) { l.cancels.fire(pid, secret) }

// cancel serves a cancel request; a session that is not here may be on another node.
func (l *Listener) cancel(pid, secret int32) {
	if !l.cancels.fire(pid, secret) && l.opts.Router != nil {
		l.opts.Router.CancelElsewhere(pid, secret)
	}
}
