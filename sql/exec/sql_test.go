package exec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"herd/engine"
	"herd/internal/golden"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/pgwire"
	"herd/sql/session"
	"herd/sql/vec"
	"herd/tests/script"
)

// sqlServer is a server of this process whose data and temporary files are in memory. Only sessions ask for memory.
type sqlServer struct {
	fs       *vfs.Mem
	spilled  *countFS
	memory   *mem.Account
	sessions *session.Server
	url      string
}

// countFS counts the files that are made.
type countFS struct {
	vfs.FS
	created atomic.Int64
}

// Create implements vfs.FS.
func (c *countFS) Create(l vfs.Label, name string) (vfs.File, error) {
	c.created.Add(1)
	return c.FS.Create(l, name)
}

const spillDir = "/tmp"

func serveSQL(t *testing.T) *sqlServer {
	t.Helper()
	s := &sqlServer{fs: vfs.NewMem(), memory: mem.NewRoot(0)}
	s.spilled = &countFS{FS: s.fs}
	e, err := engine.Open(engine.Options{FS: s.fs, Dir: "/data", CheckpointPeriod: -1, Memory: mem.NewRoot(0)})
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := session.New(session.Options{Engine: e, Memory: s.memory, SpillFS: s.spilled, SpillDir: spillDir})
	if err != nil {
		t.Fatal(err)
	}
	s.sessions = sessions
	l, err := pgwire.Listen(pgwire.Options{Address: "127.0.0.1:0", MaxConnections: 100}, sessions)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		if n := s.memory.Used(); n != 0 {
			t.Errorf("%d bytes are still accounted for", n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s.url = fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", l.Addr())
	return s
}

// temporary lists the temporary files.
func (s *sqlServer) temporary(t *testing.T) []string {
	t.Helper()
	names, err := s.fs.ReadDir("test", spillDir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return names
}

// TestScripts runs the scripts as PostgreSQL 15 answered them.
func TestScripts(t *testing.T) { script.Run(t, "testdata/*.sql") }

// TestBatchSizes runs the same scripts with batches of other sizes and without the fast paths: nobody may see a difference.
func TestBatchSizes(t *testing.T) {
	if os.Getenv("HERD_SCRIPT_PEER") != "" {
		t.Skip("herd only")
	}
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	size := vec.MaxRows
	defer func() { vec.MaxRows = size }()
	for _, rows := range []int{1, 3, 1024} {
		for _, fast := range []string{"on", "off"} {
			t.Run(fmt.Sprintf("rows=%d,fast_paths=%s", rows, fast), func(t *testing.T) {
				vec.MaxRows = rows
				s := serveSQL(t)
				for _, f := range files {
					text, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					name := strings.TrimSuffix(filepath.Base(f), ".sql")
					url := script.Database(t, s.url, fmt.Sprintf("%s_%d_%s", name, rows, fast)) + "&options=-c%20herd.fast_paths%3D" + fast
					golden.Check(t, strings.TrimSuffix(f, ".sql")+".out", script.Output(t, url, string(text)))
				}
			})
		}
	}
}
