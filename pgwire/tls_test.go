package pgwire

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedCertificate flips bits of a certificate and of its key: they are refused with the file's name, or read as what they were.
func TestDamagedCertificate(t *testing.T) {
	dir := t.TempDir()
	f := CertificateFiles{Cert: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key")}
	c, err := LoadOrMakeTLS(f, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	want := c.Certificates[0].Certificate[0]
	for _, name := range []string{f.Cert, f.Key} {
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for bit := 0; bit < 8*len(good); bit += 3 {
			bad := bytes.Clone(good)
			bad[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := LoadOrMakeTLS(f, "127.0.0.1")
			switch {
			case err == nil && !bytes.Equal(c.Certificates[0].Certificate[0], want):
				t.Fatalf("%s, bit %d: another certificate is served", filepath.Base(name), bit)
			case err != nil && !strings.Contains(err.Error(), name):
				t.Errorf("%s, bit %d: %v", filepath.Base(name), bit, err)
			case err != nil:
				refused++
			}
		}
		if block, _ := pem.Decode(good); refused < 2*len(block.Bytes) { // most flips change what is encoded
			t.Errorf("%s: %d flips of %d are refused", filepath.Base(name), refused, 8*len(good)/3)
		}
		if err := os.WriteFile(name, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x509.ParseCertificate(want); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrMakeTLS(f, ""); err != nil {
		t.Fatal(err)
	}
}
