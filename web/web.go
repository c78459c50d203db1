package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options says what to serve and where.
type Options struct {
	// Addr is host:port; port 0 is any free one.
	Addr string
	// Healthy returns why the server cannot do its work, or nil. Nil means always healthy.
	Healthy func() error
	// Sources are read at every scrape.
	Sources []Source
	// Logger gets errors of the HTTP server; nil for slog's default.
	Logger *slog.Logger
}

// Server is a running endpoint.
type Server struct {
	http     *http.Server
	listener net.Listener
	done     chan struct{} // closed when serving has ended
}

// Listen opens the port and serves. The error names the address. Called by cmd/herd.
func Listen(o Options) (*Server, error) {
	listener, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics on %s: %w", o.Addr, err)
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	const headerTimeout = 10 * time.Second
	s := &Server{listener: listener, done: make(chan struct{}), http: &http.Server{Handler: handler(o),
		ReadHeaderTimeout: headerTimeout, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("metrics endpoint ended", "address", o.Addr, "error", err)
		}
	}()
	return s, nil
}

func handler(o Options) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{sources: o.Sources})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if o.Healthy != nil {
			if err := o.Healthy(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		_, _ = io.WriteString(w, "ok\n") // a client that has gone is no error
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "herd: /metrics /healthz /debug/pprof/\n")
	})
	return mux
}

// Addr returns the address that is listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Close stops serving, waiting for requests in progress as long as ctx allows.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	return err
}
