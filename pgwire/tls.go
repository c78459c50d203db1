package pgwire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

// CertificateFiles names a PEM certificate chain and its key.
type CertificateFiles struct{ Cert, Key string }

// LoadOrMakeTLS reads the certificate, making a self-signed one at the same paths when neither file exists.
func LoadOrMakeTLS(f CertificateFiles, host string) (*tls.Config, error) {
	_, certErr := os.Stat(f.Cert)
	_, keyErr := os.Stat(f.Key)
	if errors.Is(certErr, fs.ErrNotExist) && errors.Is(keyErr, fs.ErrNotExist) {
		if err := makeSelfSigned(f, host); err != nil {
			return nil, fmt.Errorf("make a self-signed certificate %s: %w", f.Cert, err)
		}
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("load TLS certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	if err := intact(pair.Certificate); err != nil {
		return nil, fmt.Errorf("load TLS certificate %s: %w", f.Cert, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// selfSigned is the organization in certificates that are made here.
const selfSigned = "herd self-signed"

// intact verifies the signatures in a chain, as far as it holds their signers: loading checks that the certificate is that of its key, and nothing
// else in it. Clients would refuse a damaged one and could not say why.
func intact(chain [][]byte) error {
	var issuer *x509.Certificate
	for i := len(chain) - 1; i >= 0; i-- {
		c, err := x509.ParseCertificate(chain[i])
		if err != nil {
			return err
		}
		own := slices.Contains(c.Subject.Organization, selfSigned) || slices.Contains(c.Issuer.Organization, selfSigned)
		if own || bytes.Equal(c.RawIssuer, c.RawSubject) {
			issuer = c
		}
		if issuer != nil && (own || bytes.Equal(c.RawIssuer, issuer.RawSubject)) {
			err := issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
			var insecure x509.InsecureAlgorithmError
			if err != nil && !errors.As(err, &insecure) && !errors.Is(err, x509.ErrUnsupportedAlgorithm) {
				return fmt.Errorf("it is damaged, its signature does not verify: %w", err)
			}
		}
		issuer = c
	}
	return nil
}

func makeSelfSigned(f CertificateFiles, host string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	t := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: []string{selfSigned}},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", name},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(host); ip != nil {
		t.IPAddresses = append(t.IPAddresses, ip)
	} else if host != "" {
		t.DNSNames = append(t.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(f.Key, "PRIVATE KEY", keyDER); err != nil {
		return err
	}
	return writePEM(f.Cert, "CERTIFICATE", der)
}

func writePEM(name, kind string, der []byte) error {
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
