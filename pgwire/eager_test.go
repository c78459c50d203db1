package pgwire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// eagerPair returns both ends of a connection, the server's wrapped.
func eagerPair(t *testing.T, s *solo) (server, client net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server = eager(nc, s)
	t.Cleanup(func() { client.Close(); server.Close() })
	return server, client
}

// echo answers what it reads, a byte at a time, until the connection ends.
func echo(c net.Conn, done chan<- error) {
	var b [1]byte
	for {
		if _, err := c.Read(b[:]); err != nil {
			done <- err
			return
		}
		if _, err := c.Write(b[:]); err != nil {
			done <- err
			return
		}
	}
}

func TestEagerEcho(t *testing.T) {
	var s solo
	a, ca := eagerPair(t, &s)
	b, cb := eagerPair(t, &s)
	done := make(chan error, 2)
	go echo(a, done)
	go echo(b, done)
	var buf [1]byte
	ask := func(c net.Conn, v byte) {
		t.Helper()
		if _, err := c.Write([]byte{v}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf[:]); err != nil || buf[0] != v {
			t.Fatalf("answer %d, %v; want %d", buf[0], err, v)
		}
	}
	for i := range 2000 { // alone, then in turns, then slowly
		ask(ca, byte(i))
	}
	for i := range 2000 {
		ask(ca, byte(i))
		ask(cb, byte(i))
	}
	for i := range 20 {
		time.Sleep(time.Millisecond)
		ask(ca, byte(i))
	}
	ca.Close()
	cb.Close()
	for range 2 {
		if err := <-done; err != io.EOF {
			t.Errorf("after the client's end: %v, want EOF", err)
		}
	}
}

func TestEagerDeadlineWakes(t *testing.T) {
	var s solo
	server, client := eagerPair(t, &s)
	done := make(chan error, 1)
	go echo(server, done)
	var buf [1]byte
	for range 100 {
		client.Write(buf[:])
		if _, err := io.ReadFull(client, buf[:]); err != nil {
			t.Fatal(err)
		}
	}
	server.SetReadDeadline(time.Unix(1, 0))
	select {
	case err := <-done:
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read ended with %v, want a timeout", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the deadline did not end the read")
	}
}

func TestEagerReadAllocatesNothing(t *testing.T) {
	var s solo
	server, client := eagerPair(t, &s)
	var buf [8]byte
	if n := testing.AllocsPerRun(200, func() {
		client.Write(buf[:])
		if _, err := server.Read(buf[:]); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
}

func TestEagerWriteOfMoreThanTheSocketTakes(t *testing.T) {
	var s solo
	server, client := eagerPair(t, &s)
	want := make([]byte, 32<<20)
	for i := range want {
		want[i] = byte(i * 7)
	}
	done := make(chan error, 1)
	go func() {
		n, err := server.Write(want)
		if err == nil && n != len(want) {
			err = io.ErrShortWrite
		}
		done <- err
	}()
	time.Sleep(20 * time.Millisecond) // the socket is full by now
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("other bytes arrived")
	}
	client.Close()
	var err error
	for range 100 { // the peer's reset takes a moment to arrive
		if _, err = server.Write(want[:1<<16]); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	var oe *net.OpError
	if !errors.As(err, &oe) || oe.Op != "write" {
		t.Errorf("write to a closed connection: %v", err)
	}
}
