package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// Credentials prove that a node, or a person with `herd cluster`, belongs to a cluster: a secret, or certificates. With a CertFile the
// secret is not used.
type Credentials struct {
	Secret string
	// CertFile and KeyFile are this node's certificate and key, CAFile the authorities whose certificates the others have: PEM files.
	// Everybody with a certificate of theirs is a member, so they should sign for nobody else.
	CertFile, KeyFile, CAFile string
}

// errWrongCertificate ends a connection of somebody without a certificate of the cluster.
var errWrongCertificate = errors.New("the other side's certificate is not of an authority that server.cluster.tls.ca names")

// config returns a configuration for both sides of a connection between nodes.
func (c Credentials) config() (*tls.Config, error) {
	if c.CertFile == "" {
		return secretTLS(c.Secret)
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the node's certificate: %w", err)
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("load the cluster's authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("load the cluster's authorities: %s has no certificate", c.CAFile)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS13,
		ClientAuth:   tls.RequireAnyClientCert,
		// A node is known by its id and may change its address, so no name is compared; the chain is, on both sides alike.
		InsecureSkipVerify:     true,
		VerifyConnection:       func(s tls.ConnectionState) error { return verifyChain(s, pool) },
		SessionTicketsDisabled: true,
	}, nil
}

func verifyChain(s tls.ConnectionState, pool *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errWrongCertificate
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return fmt.Errorf("%w: %w", errWrongCertificate, err)
	}
	return nil
}

// isOutsider tells whether a connection failed because one side does not take the other for a member: trying again will not help.
func isOutsider(err error) bool {
	if errors.Is(err, errOutsider) || errors.Is(err, errWrongCertificate) {
		return true
	}
	var remote *net.OpError // a TLS alert that the other side has sent
	return errors.As(err, &remote) && remote.Op == "remote error"
}
