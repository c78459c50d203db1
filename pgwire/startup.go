package pgwire

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sort"
	"strings"
	"time"

	"herd/pgwire/wire"
	"herd/sql/session"
	"herd/sql/sqlerr"
)

// Request codes that take the place of a protocol version in the first message.
const (
	codeCancel  = 1234<<16 | 5678
	codeSSL     = 1234<<16 | 5679
	codeGSSENC  = 1234<<16 | 5680
	protocol3   = 3 << 16
	tlsRecord   = 0x16 // first byte of a TLS ClientHello: direct TLS
	alpnName    = "postgresql"
	maxRequests = 3 // GSSENC, SSL, then the start-up message itself
)

// errQuiet ends a connection without an answer: what PostgreSQL does with bytes that are not its protocol.
var errQuiet = errors.New("not a PostgreSQL client")

// startup answers encryption and cancel requests and returns the parameters of the start-up message.
func (c *conn) startup() (*session.StartupInfo, error) {
	if err := c.directTLS(); err != nil {
		return nil, err
	}
	for range maxRequests {
		body, err := c.in.Startup()
		if err != nil {
			if err == io.EOF {
				return nil, errQuiet
			}
			return nil, errors.Join(errQuiet, err)
		}
		code := int(binary.BigEndian.Uint32(body))
		switch {
		case code == codeSSL && len(body) == 4:
			err = c.answerSSL()
		case code == codeGSSENC && len(body) == 4:
			_, err = c.nc.Write([]byte{'N'})
		case code == codeCancel && len(body) == 12:
			c.l.cancel(int32(binary.BigEndian.Uint32(body[4:])), int32(binary.BigEndian.Uint32(body[8:])))
			return nil, errQuiet
		case code>>16 == 3:
			if c.l.opts.Router != nil {
				c.start = bytes.Clone(body)
			}
			return c.parseStartup(code, body[4:])
		default:
			return nil, sqlerr.Fatal(sqlerr.FeatureNotSupported,
				"unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", code>>16, code&0xffff)
		}
		if err != nil {
			return nil, errors.Join(errQuiet, err)
		}
	}
	return nil, errQuiet
}

// directTLS accepts a TLS handshake as the first bytes of the connection (PostgreSQL 17's sslnegotiation=direct).
func (c *conn) directTLS() error {
	var first [1]byte
	if _, err := io.ReadFull(c.nc, first[:]); err != nil {
		return errQuiet
	}
	rest := &prefixConn{Conn: c.nc, prefix: first[:]}
	if first[0] != tlsRecord || c.l.opts.TLS == nil {
		return c.in.SetSource(rest)
	}
	cfg := c.l.opts.TLS.Clone()
	cfg.NextProtos = []string{alpnName}
	tc := tls.Server(rest, cfg)
	if err := tc.Handshake(); err != nil {
		return errors.Join(errQuiet, err)
	}
	if tc.ConnectionState().NegotiatedProtocol != alpnName {
		return errors.Join(errQuiet, errors.New("direct TLS connection without ALPN protocol postgresql"))
	}
	return c.useTLS(tc)
}

func (c *conn) answerSSL() error {
	if c.l.opts.TLS == nil || c.tls != nil {
		_, err := c.nc.Write([]byte{'N'})
		return err
	}
	if c.in.Buffered() > 0 {
		return errors.New("received unencrypted data after SSL request")
	}
	if _, err := c.nc.Write([]byte{'S'}); err != nil {
		return err
	}
	tc := tls.Server(c.nc, c.l.opts.TLS)
	if err := tc.Handshake(); err != nil {
		return err
	}
	return c.useTLS(tc)
}

func (c *conn) useTLS(tc *tls.Conn) error {
	c.tls = tc
	c.out.SetDestination(recordWriter{tc})
	return c.in.SetSource(tc)
}

// recordWriter keeps TLS records at 8 KiB: asynchronous libpq clients stall on larger ones (clients-and-pains W31).
type recordWriter struct{ w io.Writer }

func (r recordWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := r.w.Write(p[done:min(done+wire.FlushAt, len(p))])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// prefixConn gives back bytes that were read ahead.
type prefixConn struct {
	net.Conn
	prefix []byte
}

func (p *prefixConn) Read(b []byte) (int, error) {
	if len(p.prefix) > 0 {
		n := copy(b, p.prefix)
		p.prefix = p.prefix[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

// parseStartup reads the name/value pairs and negotiates the protocol version.
func (c *conn) parseStartup(version int, body []byte) (*session.StartupInfo, error) {
	info := &session.StartupInfo{Remote: c.nc.RemoteAddr(), Local: c.nc.LocalAddr(), TLS: c.tls != nil, Started: time.Now()}
	var unknown []string
	for len(body) > 0 && body[0] != 0 {
		name, rest, ok1 := bytes.Cut(body, []byte{0})
		value, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok1 || !ok2 {
			return nil, sqlerr.Fatal(sqlerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
		}
		body = rest
		n, v := string(name), string(value)
		switch {
		case n == "user":
			info.User = v
		case n == "database":
			info.Database = v
		case n == "options":
			opts, err := splitOptions(v)
			if err != nil {
				return nil, err
			}
			info.Settings = append(info.Settings, opts...)
		case n == "replication":
			switch v {
			case "true", "on", "yes", "1", "database":
				info.Replication = true
			case "false", "off", "no", "0":
			default:
				return nil, sqlerr.Fatal(sqlerr.InvalidParameterValue, "invalid value for parameter \"replication\": \"%s\"", v)
			}
		case strings.HasPrefix(n, "_pq_."):
			unknown = append(unknown, n)
		default:
			info.Settings = append(info.Settings, session.Setting{Name: n, Value: v})
		}
	}
	if info.User == "" {
		return nil, sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "no PostgreSQL user name specified in startup packet")
	}
	if info.Database == "" {
		info.Database = info.User
	}
	if version > protocol3 || len(unknown) > 0 {
		sort.Strings(unknown)
		c.out.Begin('v')
		c.out.Int32(protocol3)
		c.out.Int32(int32(len(unknown)))
		for _, n := range unknown {
			c.out.String(n)
		}
		c.out.End()
	}
	return info, nil
}

// splitOptions understands the command-line form of the "options" parameter: -c name=value, --name=value, backslash escapes.
func splitOptions(s string) ([]session.Setting, error) {
	var words []string
	var cur strings.Builder
	open := false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '\\' && i+1 < len(s):
			i++
			cur.WriteByte(s[i])
			open = true
		case ch == ' ' || ch == '\t' || ch == '\n':
			if open {
				words = append(words, cur.String())
				cur.Reset()
				open = false
			}
		default:
			cur.WriteByte(ch)
			open = true
		}
	}
	if open {
		words = append(words, cur.String())
	}
	var out []session.Setting
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		default:
			return nil, sqlerr.Fatal(sqlerr.SyntaxError, "invalid command-line argument for server process: %s", w)
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, sqlerr.Fatal(sqlerr.SyntaxError, "-c %s requires a value", name)
		}
		out = append(out, session.Setting{Name: strings.ReplaceAll(name, "-", "_"), Value: value})
	}
	return out, nil
}
