package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + s.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestPages(t *testing.T) {
	var sick error
	source := func(e *Emitter) {
		e.Counter("herd_statements_total", "Statements run.", 7, "kind", "select")
		e.Counter("herd_statements_total", "Statements run.", 3, "kind", "insert")
		e.Gauge("herd_sessions", "Open sessions.", 2)
		e.Histogram("herd_sync_seconds", "Time of a sync.", Distribution{Bounds: []float64{0.001, 0.01}, Counts: []uint64{4, 1, 1}, Sum: 0.5})
	}
	s, err := Listen(Options{Addr: "127.0.0.1:0", Sources: []Source{source}, Healthy: func() error { return sick }})
	if err != nil {
		t.Fatal(err)
	}
	code, body := get(t, s, "/metrics")
	for _, want := range []string{`herd_statements_total{kind="select"} 7`, `herd_statements_total{kind="insert"} 3`, "herd_sessions 2",
		`herd_sync_seconds_bucket{le="0.001"} 4`, `herd_sync_seconds_bucket{le="0.01"} 5`, `herd_sync_seconds_bucket{le="+Inf"} 6`, "go_goroutines "} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("/metrics: status %d, lacks %q", code, want)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok", "/debug/pprof/": "goroutine", "/": "/metrics"} {
		if code, body := get(t, s, path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, %q", path, code, body)
		}
	}
	sick = errors.New("log: disk full")
	if code, body := get(t, s, "/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "disk full") {
		t.Errorf("/healthz: status %d, %q", code, body)
	}
	if code, _ := get(t, s, "/nothing"); code != http.StatusNotFound {
		t.Errorf("/nothing: status %d", code)
	}
	if _, err := Listen(Options{Addr: s.Addr().String()}); err == nil || !strings.Contains(err.Error(), s.Addr().String()) {
		t.Errorf("port in use: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://" + s.Addr().String() + "/healthz"); err == nil {
		t.Error("still serving after Close")
	}
}

// A source that gives the same metric twice fails the scrape and not the server.
func TestBadMetric(t *testing.T) {
	s, err := Listen(Options{Addr: "127.0.0.1:0", Sources: []Source{func(e *Emitter) {
		e.Gauge("twice", "help", 1, "a", "b")
		e.Gauge("twice", "help", 2, "a", "b")
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t, s, "/metrics"); code != http.StatusInternalServerError {
		t.Errorf("status %d", code)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
