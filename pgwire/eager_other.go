//go:build !linux

package pgwire

import "net"

// solo is of use on Linux only.
type solo struct{}

func eager(nc net.Conn, _ *solo) net.Conn { return nc }
