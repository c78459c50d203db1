package pgwire

import (
	"crypto/x509"
	"net"

	"herd/pgwire/wire"
	"herd/sql/session"
	"herd/sql/sqlerr"
)

// authenticate proves the client's identity as the listener's mode asks.
func (c *conn) authenticate(info *session.StartupInfo) error {
	role, known := c.l.srv.LoginRole(info.User)
	if c.l.opts.Auth == AuthTrust && isLoopback(c.nc.RemoteAddr()) {
		return c.authOK(role, known, info)
	}
	// An unknown role goes through the same exchange with a made-up verifier: the answer does not tell which names exist.
	verifier, usable := role.Verifier, known && role.HasPassword
	if !usable {
		verifier = session.MockVerifier(info.User)
	}
	ok, err := c.exchangeSCRAM(verifier)
	if err != nil {
		return err
	}
	if !ok || !usable {
		return sqlerr.Fatal(sqlerr.InvalidPassword, "password authentication failed for user \"%s\"", info.User)
	}
	return c.authOK(role, known, info)
}

// authOK tells the client that it is who it says; whether that role may have a session is looked at after that, as in PostgreSQL.
func (c *conn) authOK(role session.LoginRole, known bool, info *session.StartupInfo) error {
	c.out.Begin('R')
	c.out.Int32(0)
	c.out.End()
	switch {
	case !known:
		return sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "role \"%s\" does not exist", info.User)
	case !role.CanLogin:
		return sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "role \"%s\" is not permitted to log in", info.User)
	}
	return nil
}

func isLoopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

func (c *conn) exchangeSCRAM(v session.Verifier) (bool, error) {
	s := &scram{verifier: v, binding: c.channelBinding()}
	c.out.Begin('R')
	c.out.Int32(10)
	if s.binding != nil {
		c.out.String(mechSCRAMPlus)
	}
	c.out.String(mechSCRAM)
	c.out.Byte(0)
	c.out.End()
	body, err := c.saslMessage()
	if err != nil {
		return false, err
	}
	f := wire.NewFields(body)
	mech := string(f.String())
	n := f.Int32()
	if f.Bad || (mech != mechSCRAM && (mech != mechSCRAMPlus || s.binding == nil)) {
		return false, sqlerr.Fatal(sqlerr.ProtocolViolation, "client selected an invalid SASL authentication mechanism")
	}
	s.plus = mech == mechSCRAMPlus
	var first []byte
	if n >= 0 {
		first = f.Raw(int(n))
	}
	answer, err := s.first(first)
	if err != nil {
		return false, err
	}
	c.saslAnswer(11, answer)
	body, err = c.saslMessage()
	if err != nil {
		return false, err
	}
	answer, ok, err := s.final(body)
	if err != nil || !ok {
		return false, err
	}
	c.saslAnswer(12, answer)
	return true, nil
}

func (c *conn) saslAnswer(code int32, text string) {
	c.out.Begin('R')
	c.out.Int32(code)
	c.out.Raw([]byte(text))
	c.out.End()
}

func (c *conn) saslMessage() ([]byte, error) {
	if err := c.out.Flush(); err != nil {
		return nil, errQuiet
	}
	typ, body, err := c.in.NextOf('p')
	if err != nil {
		return nil, errQuiet
	}
	if typ != 'p' {
		return nil, sqlerr.Fatal(sqlerr.ProtocolViolation, "expected SASL response, got message type %d", typ)
	}
	return body, nil
}

func (c *conn) channelBinding() []byte {
	if c.tls == nil || len(c.l.opts.TLS.Certificates) == 0 {
		return nil
	}
	cert := c.l.opts.TLS.Certificates[0].Leaf
	if cert == nil {
		var err error
		if cert, err = x509.ParseCertificate(c.l.opts.TLS.Certificates[0].Certificate[0]); err != nil {
			return nil
		}
	}
	return endPointBinding(cert)
}
