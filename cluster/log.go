package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// raftLogger turns Raft's messages into the server's. What Raft finds worth a warning is mostly an election, so its levels
// are taken one lower.
func raftLogger(l *slog.Logger) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Info, Output: logWriter{l}, DisableTime: true})
}

type logWriter struct{ l *slog.Logger }

// Write implements io.Writer: one call is one message.
func (w logWriter) Write(p []byte) (int, error) {
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
	w.l.Log(context.Background(), level, line)
	return len(p), nil
}
