package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Conn is a raw protocol connection.
type Conn struct {
	c net.Conn
}

// Dial connects and sends the start-up message; answers are read by Read.
func Dial(addr string, version uint32, params []string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	body := binary.BigEndian.AppendUint32(nil, version)
	for _, kv := range params {
		k, v, _ := strings.Cut(kv, "=")
		body = append(append(append(append(body, k...), 0), v...), 0)
	}
	body = append(body, 0)
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	_, err = c.Write(frame)
	return &Conn{c}, err
}

// Close ends the connection without a Terminate.
func (c *Conn) Close() error { return c.c.Close() }

// Write sends frames.
func (c *Conn) Write(b []byte) error {
	_, err := c.c.Write(b)
	return err
}

// Read returns the messages up to the n-th ReadyForQuery, one line each; n 0 reads until silence. "EOF" marks a closed connection.
func (c *Conn) Read(n int) ([]string, error) {
	var out []string
	wait := 10 * time.Second
	if n == 0 {
		wait = 300 * time.Millisecond
	}
	for {
		c.c.SetReadDeadline(time.Now().Add(wait))
		var head [5]byte
		if _, err := io.ReadFull(c.c, head[:]); err != nil {
			var ne net.Error
			switch {
			case errors.As(err, &ne) && ne.Timeout():
				if n > 0 {
					out = append(out, "TIMEOUT")
				}
			default:
				out = append(out, "EOF")
			}
			return out, nil
		}
		size := int(binary.BigEndian.Uint32(head[1:])) - 4
		if size < 0 || size > 1<<26 {
			return out, fmt.Errorf("answer of %d bytes", size)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(c.c, body); err != nil {
			return out, err
		}
		if line := describe(head[0], body); line != "" {
			out = append(out, line)
		}
		if head[0] == 'Z' {
			if n--; n == 0 {
				return out, nil
			}
		}
	}
}

// describe renders a message; what differs between runs and servers (keys, parameter values of start-up) is left out.
func describe(typ byte, b []byte) string {
	switch typ {
	case 'E', 'N':
		f := make(map[byte]string)
		for _, part := range strings.Split(string(b), "\x00") {
			if part != "" {
				f[part[0]] = part[1:]
			}
		}
		if strings.HasPrefix(f['s'], "pg_temp_") {
			f['s'] = "pg_temp" // its number is the server's affair
		}
		s := fmt.Sprintf("%c %s %s %s", typ, f['V'], f['C'], f['M'])
		for _, k := range []struct {
			code byte
			name string
		}{{'D', "detail"}, {'H', "hint"}, {'P', "position"}, {'s', "schema"}, {'t', "table"}, {'c', "column"}, {'n', "constraint"}} {
			if v := f[k.code]; v != "" && v[0] != 0 {
				s += fmt.Sprintf(" %s=%q", k.name, v)
			}
		}
		return s
	case 'C':
		return "C " + strings.TrimRight(string(b), "\x00")
	case 'Z':
		return "Z " + string(b)
	case 'D':
		return "D" + fields(b)
	case 'T':
		return "T" + columns(b)
	case 't':
		s := "t"
		for i := 2; i+4 <= len(b); i += 4 {
			s += " " + strconv.Itoa(int(binary.BigEndian.Uint32(b[i:])))
		}
		return s
	case 'S':
		p := strings.Split(string(b), "\x00")
		return "S " + p[0] + "=" + p[1]
	case 'K':
		return "K"
	case 'G', 'H':
		return fmt.Sprintf("%c %d columns=%d", typ, b[0], binary.BigEndian.Uint16(b[1:]))
	case 'd':
		return "d " + strconv.Quote(string(b))
	case 'v':
		return fmt.Sprintf("v %x", b)
	case 'R':
		return fmt.Sprintf("R %d", binary.BigEndian.Uint32(b))
	}
	if len(b) == 0 {
		return string(typ)
	}
	return fmt.Sprintf("%c %x", typ, b)
}

func fields(b []byte) string {
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	var s strings.Builder
	for range n {
		size := int(int32(binary.BigEndian.Uint32(b)))
		b = b[4:]
		if size < 0 {
			s.WriteString(" null")
			continue
		}
		s.WriteByte(' ')
		s.WriteString(strconv.QuoteToASCII(string(b[:size])))
		b = b[size:]
	}
	return s.String()
}

func columns(b []byte) string {
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	var s strings.Builder
	for range n {
		i := strings.IndexByte(string(b), 0)
		name := string(b[:i])
		b = b[i+1:]
		typ := binary.BigEndian.Uint32(b[6:])
		size := int16(binary.BigEndian.Uint16(b[10:]))
		mod := int32(binary.BigEndian.Uint32(b[12:]))
		format := binary.BigEndian.Uint16(b[16:])
		fmt.Fprintf(&s, " %s:%d/%d/%d/%d", name, typ, size, mod, format)
		b = b[18:]
	}
	return s.String()
}
