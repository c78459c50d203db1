package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"herd/sql/session"
)

// AuthMode says how a client proves who it is.
type AuthMode uint8

const (
	// AuthTrust believes clients on the loopback interface and asks all others for a SCRAM proof.
	AuthTrust AuthMode = iota
	// AuthSCRAM asks everybody.
	AuthSCRAM
)

// Options configure a Listener.
type Options struct {
	Address string // host:port; port 0 picks a free one
	Auth    AuthMode
	TLS     *tls.Config // nil: SSLRequest is answered N
	// MaxConnections bounds concurrent sessions (53300 beyond it).
	MaxConnections int
	// StartupTimeout bounds the time from accept to a finished authentication.
	StartupTimeout time.Duration
	Router         Router // nil: every session runs here
	Logger         *slog.Logger
}

// Listener accepts PostgreSQL connections for one session.Server.
type Listener struct {
	opts    Options
	srv     *session.Server
	ln      net.Listener
	cancels cancelTable
	solo    solo
	log     *slog.Logger

	mu      sync.Mutex
	conns   map[*conn]struct{} // guarded by mu
	closing bool               // guarded by mu
	wg      sync.WaitGroup
	active  atomic.Int64
}

// Listen binds the address; Serve starts accepting.
func Listen(opts Options, srv *session.Server) (*Listener, error) {
	ln, err := net.Listen("tcp", opts.Address)
	if err != nil {
		return nil, fmt.Errorf("listen for SQL clients on %s: %w", opts.Address, err)
	}
	if opts.StartupTimeout == 0 {
		opts.StartupTimeout = time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	l := &Listener{opts: opts, srv: srv, ln: ln, log: opts.Logger, conns: make(map[*conn]struct{})}
	l.cancels.init()
	return l, nil
}

// Addr returns the bound address.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Connections returns the number of open connections.
func (l *Listener) Connections() int64 { return l.active.Load() }

// Serve accepts until Close; it returns nil then.
func (l *Listener) Serve() error {
	var pause time.Duration
	for {
		nc, err := l.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Out of file descriptors and the like pass; a tight loop would burn the core that has to free them.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			l.log.Warn("accept a SQL client", "error", err, "retry_in", pause)
			time.Sleep(pause)
			continue
		}
		pause = 0
		c := newConn(l, nc)
		if !l.add(c) {
			nc.Close()
			return nil
		}
		go c.run()
	}
}

func (l *Listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.conns[c] = struct{}{}
	l.wg.Add(1)
	l.active.Add(1)
	return true
}

func (l *Listener) remove(c *conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
	l.active.Add(-1)
	l.wg.Done()
}

// Close stops accepting, ends every session with 57P01 and waits for them until ctx ends; then it cuts them off.
func (l *Listener) Close(ctx context.Context) error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return nil
	}
	l.closing = true
	err := l.ln.Close()
	for c := range l.conns {
		c.terminate()
	}
	l.mu.Unlock()
	done := make(chan struct{})
	go func() { l.wg.Wait(); close(done) }()
	select {
	case <-done:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	for c := range l.conns {
		c.nc.Close()
	}
	l.mu.Unlock()
	<-done
	return err
}
