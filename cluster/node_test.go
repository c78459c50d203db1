package cluster

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"herd/internal/vfs"
)

func openNode(t *testing.T, o Options) *Node {
	t.Helper()
	n := openStill(t, o)
	n.Start(Hooks{Create: func(string, uint32) error { return errors.New("no engine here") }, Drop: func(uint32) error { return nil }})
	return n
}

// openStill opens a node that keeps no memberships: who joins stays a learner.
func openStill(t *testing.T, o Options) *Node {
	t.Helper()
	o.FS, o.ElectionTimeout = vfs.OS, 200*time.Millisecond
	if o.Secret == "" && o.CertFile == "" {
		o.Secret = "0123456789abcdef"
	}
	n, err := OpenNode(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// Who does not know the secret gets nothing: no handshake, no answer, no difference between requests.
func TestOutsider(t *testing.T) {
	n := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0"})
	address := n.o.Address
	if c, err := NewClient(address, Credentials{Secret: "0123456789abcdef"}); err != nil {
		t.Fatal(err)
	} else if s, err := c.Status(); err != nil || s.Leader != "n1" {
		t.Fatalf("who knows the secret gets %v, %v", s, err)
	}
	c, err := NewClient(address, Credentials{Secret: "another secret of 16 bytes"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(); err == nil {
		t.Error("another secret was accepted")
	}
	if _, err := NewClient(address, Credentials{Secret: "short"}); err == nil {
		t.Error("a short secret was accepted")
	}
	// Without a certificate, and without TLS at all.
	bare, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	if err == nil {
		bare.SetDeadline(time.Now().Add(5 * time.Second))
		writeMessage(bare, hello{For: forRequest})
		writeMessage(bare, request{Op: opStatus})
		var a answer
		if err := readMessage(bare, &a); err == nil {
			t.Errorf("a client without a certificate got %+v", a)
		}
		bare.Close()
	}
	plain, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.SetDeadline(time.Now().Add(5 * time.Second))
	writeMessage(plain, hello{For: forRequest})
	if p, _ := io.ReadAll(plain); len(p) > 64 { // TLS may say that this is no TLS
		t.Errorf("a client without TLS got %q", p)
	}
}

// A node that comes back is the one it was, also at another address; one with an empty folder is not.
func TestNodeIdentity(t *testing.T) {
	first := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0"})
	if err := first.update(request{Op: opRegister, Database: &DatabaseInfo{OID: 5, Name: "postgres"}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	second := openNode(t, Options{Dir: dir, ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address})
	instance := second.file.Instance
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	second = openNode(t, Options{Dir: dir, ID: "n2", Address: "127.0.0.1:0"})
	if second.file.Instance != instance {
		t.Error("a restart has made another instance")
	}
	moved := func() bool { x, _ := first.system.node("n2"); return x.Address == second.o.Address }
	for end := time.Now().Add(20 * time.Second); !moved() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if x, _ := first.system.node("n2"); x.Address != second.o.Address || x.Instance != instance {
		t.Errorf("node n2 is known as %+v, it is at %s", x, second.o.Address)
	}
	if _, err := OpenNode(Options{FS: vfs.OS, Dir: dir, ID: "n3", Address: "127.0.0.1:0", Credentials: Credentials{Secret: "0123456789abcdef"}}); err == nil {
		t.Error("a folder was taken by another node")
	}
}

// A node that was removed does not come back by telling its address; an empty folder of the same name may join.
func TestRemovedNode(t *testing.T) {
	first := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0"})
	if err := first.update(request{Op: opRegister, Database: &DatabaseInfo{OID: 5, Name: "postgres"}}); err != nil {
		t.Fatal(err)
	}
	second := openNode(t, Options{Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address})
	if err := first.remove("n2"); err != nil {
		t.Fatal(err)
	}
	self := second.self()
	self.SQL = "127.0.0.1:1"
	_, err := ask(first.tls, first.o.Address, request{Op: opJoin, Node: &self}, requestPatience)
	var refused *RefusedError
	if !errors.As(err, &refused) || !refused.Final {
		t.Errorf("a removed node tells its address: %v", err)
	}
	if x, ok := first.system.node("n2"); ok {
		t.Errorf("the removed node is known as %+v", x)
	}
	again := openNode(t, Options{Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address})
	if x, ok := first.system.node("n2"); !ok || x.Instance != again.file.Instance {
		t.Errorf("the node with an empty folder is known as %+v, %v", x, ok)
	}
}

// A second node with the name of one that runs is refused: it would push the first one out. When that one is gone, it takes its place.
func TestSameName(t *testing.T) {
	first := openStill(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0"})
	if err := first.update(request{Op: opRegister, Database: &DatabaseInfo{OID: 5, Name: "postgres"}}); err != nil {
		t.Fatal(err)
	}
	second := openNode(t, Options{Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address})
	third := Options{FS: vfs.OS, Dir: t.TempDir(), ID: "n2", Address: "127.0.0.1:0", Join: first.o.Address, Credentials: Credentials{Secret: "0123456789abcdef"}}
	var refused *RefusedError
	if _, err := OpenNode(third); !errors.As(err, &refused) || !refused.Final {
		t.Errorf("a second node n2: %v", err)
	}
	if x, ok := first.system.node("n2"); !ok || x.Instance != second.file.Instance {
		t.Errorf("node n2 is known as %+v, %v", x, ok)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	x := openNode(t, third)
	if y, ok := first.system.node("n2"); !ok || y.Instance != x.file.Instance {
		t.Errorf("node n2 in place of the first one is known as %+v, %v", y, ok)
	}
}

// Others reach a node at the address that it advertises; what can never succeed is not tried again.
func TestAdvertise(t *testing.T) {
	n := openNode(t, Options{Dir: t.TempDir(), ID: "n1", Address: "127.0.0.1:0", Advertise: "127.0.0.1:9"})
	if x, ok := n.system.node("n1"); !ok || x.Address != "127.0.0.1:9" {
		t.Errorf("the node is known as %+v", x)
	}
	began := time.Now()
	if err := n.Remove("nobody"); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("a node that is not there is removed after %v: %v", time.Since(began), err)
	}
}

// A node that starts is asked at once, and again and again.
func TestAskedWhileItStarts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(address, Credentials{Secret: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		answers := 0
		for {
			select {
			case <-stop:
				done <- answers
				return
			default:
			}
			if _, err := c.Status(); err == nil {
				answers++
			}
		}
	}()
	dir := t.TempDir()
	for range 5 {
		n := openNode(t, Options{Dir: dir, ID: "n1", Address: address})
		time.Sleep(50 * time.Millisecond)
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if n := <-done; n == 0 {
		t.Error("it has answered nothing")
	}
}
