package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// servers are the two servers that all tests of the package share, PostgreSQL first; each test has databases of its own.
type servers struct {
	postgres, herd *peer.Server
	messages       string // herd's messages
}

// started starts the servers once; err wraps peer.ErrNotInstalled when PostgreSQL is missing.
var started = sync.OnceValues(func() (*servers, error) {
	ctx := context.Background()
	pg, err := peer.StartPostgres(ctx, []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "timezone=UTC", "log_timezone=UTC"})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "herd-clients-")
	if err != nil {
		return nil, errors.Join(err, pg.Stop())
	}
	s := &servers{postgres: pg, messages: filepath.Join(dir, "messages")}
	log, err := os.Create(s.messages)
	if err != nil {
		return nil, errors.Join(err, pg.Stop())
	}
	defer log.Close()
	binary, err := peer.Program(ctx, os.Getenv("HERD_BINARY"), dir)
	if err != nil {
		return nil, errors.Join(err, pg.Stop())
	}
	h := &peer.Herd{Binary: binary, Dir: filepath.Join(dir, "data"), Settings: []string{"server.log.sync=never"}, Messages: log}
	if s.herd, err = h.Start(ctx); err != nil {
		return nil, errors.Join(err, pg.Stop())
	}
	return s, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := started(); err == nil {
		if err := errors.Join(s.herd.Stop(), s.postgres.Stop(), os.RemoveAll(filepath.Dir(s.messages))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// missing skips a test for want of what it runs. In CI, which installs everything, it fails.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("peer missing: "+format, args...)
	}
	t.Skipf("peer missing: "+format, args...)
}

// both returns the running servers; the test is skipped without PostgreSQL.
func both(t *testing.T) *servers {
	t.Helper()
	s, err := started()
	if errors.Is(err, peer.ErrNotInstalled) {
		missing(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// database makes a new database and returns the server's URL with it.
func database(t *testing.T, s *peer.Server, name string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE DATABASE "+name).ReadAll(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path, u.RawQuery = "/"+name, ""
	return u.String()
}

// patience is how long a client may take.
const patience = 3 * time.Minute

// run runs a client on one server and returns what it printed.
func run(t *testing.T, s *peer.Server, url, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url, "PGHOST=127.0.0.1", fmt.Sprint("PGPORT=", s.Port), "PGUSER=postgres",
		"PGDATABASE="+url[strings.LastIndexByte(url, '/')+1:], "PGCONNECT_TIMEOUT=20", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1", "PSQLRC=/dev/null", "PAGER=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s\n%s", name, args, err, out.Bytes(), errs.Bytes())
	}
	return out.String() + errs.String()
}

// same runs a client on both servers and compares; normal takes away what is known to differ.
func same(t *testing.T, normal func(string) string, name string, args ...string) {
	t.Helper()
	s := both(t)
	db := "c_" + regexp.MustCompile(`\W`).ReplaceAllString(strings.ToLower(t.Name()), "_")
	mark := size(t, s.messages)
	want := normal(run(t, s.postgres, database(t, s.postgres, db), name, args...))
	got := normal(run(t, s.herd, database(t, s.herd, db), name, args...))
	compare(t, want, got)
	noErrors(t, s, mark)
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	i, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return i.Size()
}

// noErrors checks that herd has written no message of an error since mark: what a client does wrong is told to the client.
func noErrors(t *testing.T, s *servers, mark int64) {
	t.Helper()
	text, err := os.ReadFile(s.messages)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text[mark:])) {
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("herd's messages: %.2000s", line)
		}
	}
}

// compare reports the first lines that differ.
func compare(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	shown := 0
	for i := 0; i < max(len(w), len(g)) && shown < 10; i++ {
		a, b := "(nothing)", "(nothing)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Errorf("line %d\nPostgreSQL: %.1500s\nherd:       %.1500s", i+1, a, b)
			shown++
		}
	}
}

// userOIDs are OIDs of objects that users made, which differ between any two servers.
var userOIDs = regexp.MustCompile(`\b1[6-9]\d{3}\b`)

func plain(s string) string { return userOIDs.ReplaceAllString(s, "OID") }

// program returns a program's path; the test is skipped when it is not installed.
func program(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "none of %q is installed", names)
	return ""
}

// TestPython runs Debian's Python clients.
func TestPython(t *testing.T) {
	python := program(t, "/usr/bin/python3", "python3")
	for script, module := range map[string]string{"psycopg2": "psycopg2", "psycopg3": "psycopg", "asyncpg": "asyncpg", "sqlalchemy": "sqlalchemy", "django": "django"} {
		t.Run(script, func(t *testing.T) {
			if err := exec.Command(python, "-c", "import psycopg2, "+module).Run(); err != nil {
				missing(t, "Python's module %s: %v", module, err)
			}
			same(t, plain, python, filepath.Join("testdata", "python", script+"_client.py"))
		})
	}
}

// TestNode runs the clients of testdata/node/package-lock.json, installed by npm when they are not there.
func TestNode(t *testing.T) {
	node := program(t, "node")
	dir := filepath.Join("testdata", "node")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		npm := program(t, "npm")
		if os.Getenv("CI") == "" {
			missing(t, "run npm ci in tests/clients/%s", dir)
		}
		cmd := exec.Command(npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			missing(t, "npm ci: %v: %s", err, out)
		}
	}
	for _, name := range []string{"pg", "postgres", "knex", "typeorm"} {
		t.Run(name, func(t *testing.T) { same(t, plain, node, filepath.Join(dir, name+"_client.js")) })
	}
}

// TestJava runs pgjdbc.
func TestJava(t *testing.T) {
	java, javac := program(t, "java"), program(t, "javac")
	driver := "/usr/share/java/postgresql.jar"
	if _, err := os.Stat(driver); err != nil {
		missing(t, "pgjdbc: %v", err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(javac, "-cp", driver, "-d", dir, filepath.Join("testdata", "java", "Client.java")).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v: %s", err, out)
	}
	same(t, plain, java, "-cp", driver+":"+dir, "Client")
}

// TestGo runs the clients of the module in testdata/go.
func TestGo(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "client")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir = filepath.Join("testdata", "go")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(t, "the module of testdata/go does not build (its dependencies need a download): %v: %s", err, out)
	}
	for _, name := range []string{"pgx", "pq", "gorm", "goose"} {
		t.Run(name, func(t *testing.T) { same(t, plain, binary, name) })
	}
}
