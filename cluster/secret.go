package cluster

import (
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// SecretMin is the fewest bytes a cluster's secret may have.
const SecretMin = 16

// secretRounds makes guessing slow: anybody who can reach the port is shown the public key, before he has to prove anything, and can compare
// guesses with it at home.
const secretRounds = 200_000

// errOutsider ends a connection of somebody who does not know the cluster's secret.
var errOutsider = errors.New("the other side has another cluster secret (server.cluster.secret, HERD_SERVER_CLUSTER_SECRET)")

// secretTLS returns a configuration for both sides of a connection between nodes. Who knows the secret has the one key that
// all nodes have, and TLS has each side prove it; nothing is sent before.
func secretTLS(secret string) (*tls.Config, error) {
	if len(secret) < SecretMin {
		return nil, fmt.Errorf("the cluster's secret has %d bytes, it needs at least %d", len(secret), SecretMin)
	}
	seed, err := pbkdf2.Key(sha256.New, secret, []byte("herd cluster, node key 2"), secretRounds, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	public := key.Public().(ed25519.PublicKey)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "herd node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, fmt.Errorf("make a node's certificate: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS13,
		ClientAuth:   tls.RequireAnyClientCert,
		// The key itself is compared, not a chain of certificates.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errOutsider
			}
			got, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			if !ok || !got.Equal(public) {
				return errOutsider
			}
			return nil
		},
		SessionTicketsDisabled: true,
	}, nil
}
