package cluster

import (
	"net"
	"sync"
	"time"
)

// pace holds those that share it to a number of bytes a second.
type pace struct {
	rate int64 // 0: any

	mu   sync.Mutex
	next time.Time // when the bytes that were let through so far should have gone
}

// paceSlack is how much time that was not used may be made up for.
const paceSlack = 50 * time.Millisecond

// take returns how long to wait before n more bytes go.
func (p *pace) take(n int, now time.Time) time.Duration {
	if p.rate <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if least := now.Add(-paceSlack); p.next.Before(least) {
		p.next = least
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	return max(wait, 0)
}

// stateSilence is how long the other end may neither ask nor take anything while it fetches a state. It merges what it has got in between.
const stateSilence = time.Minute

// pacedConn is a connection that sends at a pace, and is given up when the other end is silent.
type pacedConn struct {
	net.Conn
	pace *pace
	stop <-chan struct{}
}

// Read implements io.Reader.
func (c pacedConn) Read(b []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(stateSilence)) // fails only on a closed connection, which the read tells
	return c.Conn.Read(b)
}

// Write implements io.Writer.
func (c pacedConn) Write(b []byte) (int, error) {
	if d := c.pace.take(len(b), time.Now()); d > 0 {
		select {
		case <-time.After(d):
		case <-c.stop:
			return 0, errStopped
		}
	}
	_ = c.SetWriteDeadline(time.Now().Add(stateSilence)) // as above
	return c.Conn.Write(b)
}
