package pgwire

import (
	"encoding/binary"
	"io"
	"sync/atomic"

	"herd/sql/sqlerr"
)

// frames follows messages of the protocol as their bytes pass, in pieces of any size.
type frames struct {
	head [5]byte // type and length of the message at hand
	have int     // bytes of head
	left int     // bytes of its body that are still to come
	done func(typ byte, body byte)
	body byte // the first byte of the body
	seen bool // body is set
}

const frameHead = 5

// pass takes the next bytes.
func (f *frames) pass(p []byte) {
	for len(p) > 0 {
		if f.have < frameHead {
			n := copy(f.head[f.have:], p)
			f.have += n
			p = p[n:]
			if f.have < frameHead {
				return
			}
			f.left, f.seen, f.body = int(binary.BigEndian.Uint32(f.head[1:]))-4, false, 0
		}
		n := min(f.left, len(p))
		if n > 0 && !f.seen {
			f.body, f.seen = p[0], true
		}
		f.left -= n
		p = p[max(n, 0):]
		if f.left <= 0 {
			f.have = 0
			f.done(f.head[0], f.body)
		}
	}
}

// between tells whether the last message is complete.
func (f *frames) between() bool { return f.have == 0 }

// conversation is what a relay sees of a session: whether something that the client has asked for is not answered yet.
type conversation struct {
	fromClient, fromNode frames

	asked    atomic.Int64 // messages of the client that end with ReadyForQuery
	answered atomic.Int64
	leaving  atomic.Bool // the client has said goodbye
	failed   bool        // the last message of the node is an error: nothing follows it when the session ends with it
}

func newConversation() *conversation {
	c := &conversation{}
	c.asked.Store(1) // the start-up message
	c.fromClient.done = func(typ, _ byte) {
		switch typ {
		case 'Q', 'S', 'F':
			c.asked.Add(1)
		case 'X':
			c.leaving.Store(true)
		}
	}
	c.fromNode.done = func(typ, _ byte) {
		c.failed = typ == 'E'
		if typ == 'Z' {
			c.answered.Add(1)
		}
	}
	return c
}

// broken is what the client is told when the node is gone, or this server ends: nil when that would be wrong, since the node has told an
// error itself, or a message is cut.
func (c *conversation) broken(ending bool) *sqlerr.Error {
	switch {
	case c.leaving.Load(), c.failed, !c.fromNode.between():
		return nil
	case c.answered.Load() == 0:
		return sqlerr.Fatal(sqlerr.CannotConnectNow, "the node that leads the database has gone")
	case c.asked.Load() > c.answered.Load():
		return sqlerr.Fatal(sqlerr.TransactionResolutionUnknown, "the outcome of the statement is unknown").
			WithDetail("The connection to the node that leads the database was lost before it answered.")
	case ending:
		return errTerminated()
	}
	return sqlerr.Fatal(sqlerr.AdminShutdown, "terminating connection because the connection to the node that leads the database was lost")
}

// watchedWriter shows what it writes to frames first.
type watchedWriter struct {
	w io.Writer
	f *frames
}

// Write implements io.Writer.
func (w watchedWriter) Write(p []byte) (int, error) {
	w.f.pass(p)
	return w.w.Write(p)
}
