package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// raftLogger turns Raft's messages into the server's. What Raft finds worth a warning is mostly an election, so its levels
// are taken one lower.
func raftLogger(l *slog.Logger) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Info, Output: &logWriter{l: l, told: map[string]time.Time{}}, DisableTime: true})
}

// logWriter passes on what Raft has to say, the same message about failing again and again only now and then.
type logWriter struct {
	l *slog.Logger

	mu   sync.Mutex
	told map[string]time.Time // by the message without its fields
}

const tellAgain = 10 * time.Second

// repeated tells whether a message was passed on a short time ago.
func (w *logWriter) repeated(line string) bool {
	what, _, _ := strings.Cut(line, "=")
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.told[what]) < tellAgain {
		return true
	}
	w.told[what] = now
	return false
}

// Write implements io.Writer: one call is one message.
func (w *logWriter) Write(p []byte) (int, error) {
	line := string(bytes.TrimSpace(p))
	level := slog.LevelDebug
	switch {
	case strings.HasPrefix(line, "[ERROR]"):
		level = slog.LevelWarn
	case strings.HasPrefix(line, "[WARN]"):
		level = slog.LevelInfo
	}
	if _, rest, ok := strings.Cut(line, "]"); ok {
		line = strings.TrimSpace(rest)
	}
	if level > slog.LevelDebug && w.repeated(line) {
		return len(p), nil
	}
	w.l.Log(context.Background(), level, line)
	return len(p), nil
}
