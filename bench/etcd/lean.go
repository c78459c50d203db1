package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
)

// leanClient is a connection whose operations are written and read without a driver, which takes as much processor time as the servers.
type leanClient struct {
	nc  net.Conn
	r   *bufio.Reader
	out []byte
	in  []byte
}

// newLeanClient takes over a connection with both statements prepared.
func newLeanClient(ctx context.Context, c *pgx.Conn) (client, error) {
	h, err := c.PgConn().Hijack()
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &leanClient{nc: h.Conn, r: bufio.NewReader(h.Conn)}, nil
}

func (l *leanClient) put(_ context.Context, key int64, value []byte) error {
	_, err := l.run("put", key, value)
	return err
}

func (l *leanClient) get(_ context.Context, key int64) error {
	rows, err := l.run("get", key, nil)
	if err == nil && rows != 1 {
		err = fmt.Errorf("key %d: %d rows", key, rows)
	}
	return err
}

func (l *leanClient) close() error { return l.nc.Close() }

// run is Bind, Execute and Sync of a statement whose parameters are a key and, unless nil, a value, in binary form.
func (l *leanClient) run(statement string, key int64, value []byte) (rows int, err error) {
	be, b := binary.BigEndian, l.out[:0]
	params := uint16(1)
	if value != nil {
		params = 2
	}
	b = append(b, 'B', 0, 0, 0, 0, 0) // the portal has no name
	b = append(append(b, statement...), 0)
	b = be.AppendUint16(be.AppendUint16(b, 1), 1) // all parameters are binary
	b = be.AppendUint16(b, params)
	b = be.AppendUint64(be.AppendUint32(b, 8), uint64(key))
	if value != nil {
		b = append(be.AppendUint32(b, uint32(len(value))), value...)
	}
	b = be.AppendUint16(b, 0) // results are text
	be.PutUint32(b[1:], uint32(len(b)-1))
	b = append(b, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0, 'S', 0, 0, 0, 4)
	l.out = b
	if _, err := l.nc.Write(b); err != nil {
		return 0, err
	}
	for {
		kind, err := l.message()
		switch {
		case err != nil:
			return 0, err
		case kind == 'E':
			return 0, fmt.Errorf("%s of key %d: %q", statement, key, l.in)
		case kind == 'D':
			rows++
		case kind == 'Z':
			return rows, nil
		}
	}
}

// message reads one message; l.in is its body.
func (l *leanClient) message() (kind byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(l.r, head[:]); err != nil {
		return 0, err
	}
	const most = 1 << 20
	n := int(binary.BigEndian.Uint32(head[1:])) - 4
	if n < 0 || n > most {
		return 0, fmt.Errorf("a message of %d bytes", n)
	}
	if cap(l.in) < n {
		l.in = make([]byte, n)
	}
	l.in = l.in[:n]
	_, err = io.ReadFull(l.r, l.in)
	return head[0], err
}
