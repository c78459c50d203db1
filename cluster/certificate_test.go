package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herd/internal/vfs"
)

// authority makes certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  ed25519.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	var der []byte
	a.key, der = a.sign(&x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign})
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) sign(c *x509.Certificate) (ed25519.PrivateKey, []byte) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, by)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, der
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// member returns the credentials of a node.
func (a *authority) member(name string) Credentials {
	key, der := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}})
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return Credentials{CertFile: a.write(name+".crt", "CERTIFICATE", der), KeyFile: a.write(name+".key", "PRIVATE KEY", raw),
		CAFile: filepath.Join(a.dir, "ca.pem")}
}

// Nodes with certificates of one authority are a cluster; who has one of another, or the secret of another cluster, is told so at
// once, on both ways of asking.
func TestCertificates(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	first := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0", Credentials: ours.member("n1")})
	if err := first.update(request{Op: opRegister, Database: &DatabaseInfo{OID: 5, Name: "postgres"}}); err != nil {
		t.Fatal(err)
	}
	openNode(t, Options{Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address, Credentials: ours.member("n2")})
	c, err := NewClient(first.o.Address, ours.member("person"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Status(); err != nil || len(s.Nodes) != 2 {
		t.Errorf("status: %+v, %v", s, err)
	}
	mixed := theirs.member("n4") // trusts our nodes, but is not trusted
	mixed.CAFile = filepath.Join(ours.dir, "ca.pem")
	for name, who := range map[string]Credentials{"another authority": theirs.member("n3"), "a certificate of another authority": mixed,
		"a secret": {Secret: "a secret of 16 bytes or more"}} {
		began := time.Now()
		_, err := OpenNode(Options{FS: vfs.OS, Dir: t.TempDir(), ID: "n3", Address: "127.0.0.1:0", Join: first.o.Address, Credentials: who})
		if err == nil || !isOutsider(err) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > joinPatience/2 {
			t.Errorf("%s is refused after %v", name, took)
		}
	}
}

// A node with another secret is told so at once; one that waits for a cluster that is not there stops when it is told to.
func TestJoinEnds(t *testing.T) {
	first := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0"})
	began := time.Now()
	_, err := OpenNode(Options{FS: vfs.OS, Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address,
		Credentials: Credentials{Secret: "another secret of 16 bytes"}})
	if !errors.Is(err, errOutsider) || !strings.Contains(err.Error(), "secret") {
		t.Errorf("another secret: %v", err)
	}
	stop := make(chan struct{})
	time.AfterFunc(300*time.Millisecond, func() { close(stop) })
	_, err = OpenNode(Options{FS: vfs.OS, Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: "127.0.0.1:1", Stop: stop,
		Credentials: Credentials{Secret: "another secret of 16 bytes"}})
	if !errors.Is(err, errStopped) {
		t.Errorf("stopped: %v", err)
	}
	if took := time.Since(began); took > joinPatience/2 {
		t.Errorf("both took %v", took)
	}
}
