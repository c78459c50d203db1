package cluster

import (
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
)

// A call on connections that broke before is made again, one to a node that is gone is not.
func TestAgain(t *testing.T) {
	for _, x := range []struct {
		err   error
		fails int
		calls int
		ok    bool
	}{
		{io.EOF, 0, 1, true},
		{io.EOF, stalePool, stalePool + 1, true},
		{io.EOF, 100, stalePool + 1, false},
		{fmt.Errorf("connect: %w", syscall.ECONNREFUSED), 100, 1, false},
	} {
		calls := 0
		err := again(func() error {
			if calls++; calls <= x.fails {
				return x.err
			}
			return nil
		})
		if calls != x.calls || (err == nil) != x.ok {
			t.Errorf("%v, %d times: %d calls, then %v", x.err, x.fails, calls, err)
		}
	}
}

// An address is gone when nobody listens there, and only then.
func TestRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if refuses(address) {
		t.Error("somebody listens, and is said to be gone")
	}
	l.Close()
	if !refuses(address) {
		t.Error("nobody listens, and is not said to be gone")
	}
}
