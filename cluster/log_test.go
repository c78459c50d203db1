package cluster

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What Raft repeats about one thing is told once, other things are told.
func TestRaftLogger(t *testing.T) {
	var b bytes.Buffer
	l := raftLogger(slog.New(slog.NewTextHandler(&b, nil)))
	for i := range 20 {
		l.Error("failed to heartbeat to", "peer", "n2", "try", i)
	}
	l.Warn("something else", "peer", "n2")
	l.Info("a detail")
	out := b.String()
	if strings.Count(out, "heartbeat") != 1 || strings.Count(out, "something else") != 1 || strings.Contains(out, "a detail") {
		t.Errorf("told was\n%s", out)
	}
}
