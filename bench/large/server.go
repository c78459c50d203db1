package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"herd/tests/peer"
)

// server is a running herd with what is read from outside.
type server struct {
	*peer.Server
	metrics string
	rss     *sampler
}

// startServer starts herd and samples its memory.
func startServer(ctx context.Context, h *peer.Herd, metricsPort int, rss *sampler) (*server, error) {
	p, err := h.Start(ctx)
	if err != nil {
		return nil, err
	}
	rss.watch(p.Pid)
	return &server{p, fmt.Sprintf("http://127.0.0.1:%d/metrics", metricsPort), rss}, nil
}

// counters returns the values of /metrics that belong to the database postgres or to none.
func (s *server) counters() (map[string]float64, error) {
	r, err := http.Get(s.metrics)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	out := map[string]float64{}
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if i := strings.IndexByte(name, '{'); i > 0 {
			if !strings.HasPrefix(name[i:], `{database="postgres"}`) {
				continue
			}
			name = name[:i]
		}
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = v
		}
	}
	return out, lines.Err()
}

// sampler reads a process's resident set every 100 ms.
type sampler struct {
	mu   sync.Mutex
	pid  int   // guarded by mu
	most int64 // bytes since the last take; guarded by mu
	ever int64 // guarded by mu
	quit chan struct{}
	done sync.WaitGroup
}

func startSampler() *sampler {
	s := &sampler{quit: make(chan struct{})}
	s.done.Go(func() {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-t.C:
				s.look()
			}
		}
	})
	return s
}

func (s *sampler) stop() { close(s.quit); s.done.Wait() }

func (s *sampler) watch(pid int) {
	s.mu.Lock()
	s.pid = pid
	s.mu.Unlock()
}

func (s *sampler) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, err := peer.Resident(s.pid); err == nil {
		s.most, s.ever = max(s.most, n), max(s.ever, n)
	}
}

// take returns the largest resident set since the last call.
func (s *sampler) take() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.most
	s.most = 0
	return n
}
