package pgwire

import (
	"errors"

	"herd/internal/mem"
	"herd/pgwire/wire"
	"herd/sql/sqlerr"
)

// NextCopyData gives the next piece of a COPY FROM STDIN; done after CopyDone. It implements session.CopySource.
// Flush and Sync are ignored in this mode; any other message breaks it, as PostgreSQL rules.
func (c *conn) NextCopyData() (data []byte, done bool, err error) {
	c.in.Bulk(true)
	data, done, err = c.nextCopyData()
	if done || err != nil {
		c.in.Bulk(false)
	}
	return data, done, err
}

func (c *conn) nextCopyData() (data []byte, done bool, err error) {
	for {
		if c.in.Buffered() == 0 {
			if err := c.out.Flush(); err != nil {
				return nil, false, sqlerr.Fatal(sqlerr.ConnectionFailure, "connection to client lost during COPY from stdin")
			}
		}
		typ, body, err := c.in.Next()
		if errors.Is(err, mem.ErrLimit) {
			return nil, false, errMessageMemory()
		}
		if err != nil {
			if c.terminating.Load() {
				return nil, false, errTerminated()
			}
			return nil, false, sqlerr.Fatal(sqlerr.ConnectionFailure, "unexpected EOF on client connection with an open transaction")
		}
		switch typ {
		case 'd':
			return body, false, nil
		case 'c':
			return nil, true, nil
		case 'f':
			f := wire.NewFields(body)
			return nil, false, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", f.String())
		case 'H', 'S':
		case 'X':
			return nil, false, sqlerr.Fatal(sqlerr.ConnectionFailure, "unexpected EOF on client connection with an open transaction")
		default:
			return nil, false, sqlerr.Fatal(sqlerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", typ)
		}
	}
}
