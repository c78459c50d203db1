package pgwire

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"strconv"
	"strings"

	"herd/sql/session"
	"herd/sql/sqlerr"
)

// SASL mechanism names (RFC 7677; PLUS adds tls-server-end-point channel binding, RFC 5929).
const (
	mechSCRAM     = "SCRAM-SHA-256"
	mechSCRAMPlus = "SCRAM-SHA-256-PLUS"
)

// scram is the server's side of one SCRAM-SHA-256 exchange (RFC 5802).
type scram struct {
	verifier  session.Verifier
	plus      bool
	binding   []byte // tls-server-end-point data, nil without TLS
	nonce     string
	gs2Header string
	firstBare string
	serverMsg string
}

func malformed(detail string) *sqlerr.Error {
	return sqlerr.Fatal(sqlerr.ProtocolViolation, "malformed SCRAM message").WithDetail("%s", detail)
}

// first consumes client-first-message and returns server-first-message.
func (s *scram) first(msg []byte) (string, error) {
	text := string(msg)
	gs2, rest, ok := cut2(text)
	if !ok {
		return "", malformed("The message is incomplete.")
	}
	switch flag := strings.SplitN(gs2, ",", 2)[0]; {
	case flag == "n" && !s.plus:
	case flag == "y" && !s.plus:
		if s.binding != nil {
			return "", sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "SCRAM channel binding negotiation error").
				WithDetail("The client supports SCRAM channel binding but thinks the server does not.  However, this server does support channel binding.")
		}
	case flag == "p=tls-server-end-point" && s.plus:
	default:
		return "", malformed("Unexpected channel-binding flag \"" + flag + "\".")
	}
	s.gs2Header, s.firstBare = gs2, rest
	attrs := strings.Split(rest, ",")
	if len(attrs) < 2 || !strings.HasPrefix(attrs[0], "n=") || !strings.HasPrefix(attrs[1], "r=") || len(attrs[1]) < 4 {
		return "", malformed("Expected user name and nonce.")
	}
	var raw [18]byte
	rand.Read(raw[:])
	s.nonce = attrs[1][2:] + base64.StdEncoding.EncodeToString(raw[:])
	s.serverMsg = "r=" + s.nonce + ",s=" + base64.StdEncoding.EncodeToString(s.verifier.Salt) + ",i=" + strconv.Itoa(s.verifier.Iterations)
	return s.serverMsg, nil
}

// cut2 splits the gs2 header ("flag,authzid,") from the rest.
func cut2(text string) (gs2, rest string, ok bool) {
	i := strings.IndexByte(text, ',')
	if i < 0 {
		return "", "", false
	}
	j := strings.IndexByte(text[i+1:], ',')
	if j < 0 {
		return "", "", false
	}
	return text[:i+j+2], text[i+j+2:], true
}

// final consumes client-final-message; ok is false for a wrong proof. The answer is server-final-message.
func (s *scram) final(msg []byte) (answer string, ok bool, err error) {
	text := string(msg)
	p := strings.LastIndex(text, ",p=")
	if p < 0 {
		return "", false, malformed("Proof is missing.")
	}
	withoutProof := text[:p]
	attrs := strings.Split(withoutProof, ",")
	if len(attrs) < 2 || !strings.HasPrefix(attrs[0], "c=") || !strings.HasPrefix(attrs[1], "r=") {
		return "", false, malformed("Expected channel binding and nonce.")
	}
	want := append([]byte(s.gs2Header), s.bindingData()...)
	if got, err := base64.StdEncoding.DecodeString(attrs[0][2:]); err != nil || !bytes.Equal(got, want) {
		return "", false, sqlerr.Fatal(sqlerr.InvalidAuthorizationSpecification, "SCRAM channel binding check failed")
	}
	if attrs[1][2:] != s.nonce {
		return "", false, malformed("Nonce does not match.")
	}
	proof, err := base64.StdEncoding.DecodeString(text[p+3:])
	if err != nil || len(proof) != sha256.Size {
		return "", false, malformed("Malformed proof in client-final-message.")
	}
	auth := []byte(s.firstBare + "," + s.serverMsg + "," + withoutProof)
	signature := mac(s.verifier.StoredKey, auth)
	for i := range proof {
		proof[i] ^= signature[i]
	}
	stored := sha256.Sum256(proof)
	if subtle.ConstantTimeCompare(stored[:], s.verifier.StoredKey) != 1 {
		return "", false, nil
	}
	return "v=" + base64.StdEncoding.EncodeToString(mac(s.verifier.ServerKey, auth)), true, nil
}

func (s *scram) bindingData() []byte {
	if s.plus {
		return s.binding
	}
	return nil
}

func mac(key, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)
}

// endPointBinding is the hash of the server's certificate under its signature's hash function, SHA-256 at least.
func endPointBinding(cert *x509.Certificate) []byte {
	switch cert.SignatureAlgorithm {
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		h := sha512.Sum384(cert.Raw)
		return h[:]
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		h := sha512.Sum512(cert.Raw)
		return h[:]
	}
	h := sha256.Sum256(cert.Raw)
	return h[:]
}
