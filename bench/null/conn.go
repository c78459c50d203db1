package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

const maxMessage = 1 << 20

// conn is a connection; its goroutine owns it.
type conn struct {
	c        net.Conn
	in       *bufio.Reader
	body     []byte // of the message read last
	out      []byte // messages not yet sent
	log      *groupLog
	locks    *locks
	prepared map[string]statement
	bound    statement
	key      int // of the row that bound changes
	status   byte
	held     []chan struct{}
}

func newConn(c net.Conn, log *groupLog, l *locks) *conn {
	return &conn{c: c, in: bufio.NewReaderSize(c, 16<<10), log: log, locks: l, prepared: map[string]statement{}, status: 'I'}
}

// serve answers until the client goes; a client that breaks the protocol is let go without a word.
func (c *conn) serve() {
	defer c.c.Close()
	defer c.release()
	if err := c.start(); err != nil {
		return
	}
	for {
		kind, err := c.read()
		if err != nil || kind == 'X' {
			return
		}
		if err := c.message(kind); err != nil {
			return
		}
	}
}

// start refuses encryption and lets everybody in.
func (c *conn) start() error {
	const sslRequest, gssRequest = 80877103, 80877104
	for {
		if err := c.readBody(); err != nil {
			return err
		}
		if len(c.body) < 4 {
			return errors.New("short start")
		}
		if code := binary.BigEndian.Uint32(c.body); code != sslRequest && code != gssRequest {
			break
		}
		if _, err := c.c.Write([]byte{'N'}); err != nil {
			return err
		}
	}
	c.add('R', 0, 0, 0, 0)
	for _, p := range []string{"server_version\x0015.0\x00", "client_encoding\x00UTF8\x00", "standard_conforming_strings\x00on\x00"} {
		c.add('S', []byte(p)...)
	}
	return c.ready()
}

func (c *conn) message(kind byte) error {
	switch kind {
	case 'P':
		name, rest, _ := strings.Cut(string(c.body), "\x00")
		text, _, _ := strings.Cut(rest, "\x00")
		c.prepared[name] = classify(text)
		c.add('1')
	case 'B':
		return c.bind()
	case 'D':
		c.describe(c.bound.answer)
	case 'E':
		c.execute(c.bound, c.key)
	case 'Q':
		text := strings.TrimRight(string(c.body), "\x00")
		s := classify(text)
		if s.answer != noRows {
			c.describe(s.answer)
		}
		c.execute(s, lastNumber(text))
		return c.ready()
	case 'S':
		return c.ready()
	}
	return nil
}

// bind chooses the statement. The last parameter of an update, in text, is its key; of others nothing is looked at.
func (c *conn) bind() error {
	_, rest, _ := strings.Cut(string(c.body), "\x00")
	name, _, _ := strings.Cut(rest, "\x00")
	c.bound = c.prepared[name]
	if c.bound.lock != noLock {
		var m pgproto3.Bind
		if err := m.Decode(c.body); err != nil {
			return err
		}
		if n := len(m.Parameters); n > 0 {
			c.key = lastNumber(string(m.Parameters[n-1]))
		}
	}
	c.add('2')
	return nil
}

func (c *conn) describe(a answer) {
	column := []byte{'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0}
	switch a {
	case noRows:
		c.add('n')
	case oneRow:
		c.add('T', append([]byte{0, 1}, column...)...)
	case tableRow:
		row := []byte{0, 3}
		for range 3 {
			row = append(row, column...)
		}
		c.add('T', row...)
	}
}

func (c *conn) execute(s statement, key int) {
	switch {
	case s.begins:
		c.status = 'T'
	case s.ends:
		c.release()
		c.log.commit()
		c.status = 'I'
	}
	if s.lock != noLock && c.status == 'T' {
		row := c.locks.row(s.lock, key)
		row <- struct{}{}
		c.held = append(c.held, row)
	}
	if s.writes && c.status == 'I' {
		c.log.commit()
	}
	switch s.answer {
	case oneRow:
		c.add('D', 0, 1, 0, 0, 0, 1, '1')
	case tableRow:
		c.add('D', 0, 3, 0, 0, 0, 1, '1', 255, 255, 255, 255, 0, 0, 0, 1, '0')
	}
	c.add('C', append([]byte(s.tag), 0)...)
}

func (c *conn) release() {
	for _, row := range c.held {
		<-row
	}
	c.held = c.held[:0]
}

// ready ends a request and sends what has been gathered.
func (c *conn) ready() error {
	c.add('Z', c.status)
	_, err := c.c.Write(c.out)
	c.out = c.out[:0]
	return err
}

func (c *conn) add(kind byte, body ...byte) {
	const lengthBytes = 4
	c.out = append(c.out, kind)
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(len(body)+lengthBytes))
	c.out = append(c.out, body...)
}

func (c *conn) read() (byte, error) {
	kind, err := c.in.ReadByte()
	if err != nil {
		return 0, err
	}
	return kind, c.readBody()
}

// readBody reads a length and what it says.
func (c *conn) readBody() error {
	const lengthBytes = 4
	var length [lengthBytes]byte
	if _, err := io.ReadFull(c.in, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < lengthBytes || n > maxMessage {
		return errors.New("message too long")
	}
	n -= lengthBytes
	if cap(c.body) < int(n) {
		c.body = make([]byte, n)
	}
	c.body = c.body[:n]
	_, err := io.ReadFull(c.in, c.body)
	return err
}
