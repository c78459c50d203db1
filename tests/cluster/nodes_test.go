package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

const secret = "a secret of this test's cluster"

// node is one server process.
type node struct {
	id               string
	program, dir     string
	clusterAddr, sql string
	join             string
	settings         []string
	process          *exec.Cmd
	output           syncBuffer
}

// syncBuffer takes what a process prints.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *syncBuffer) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Reset()
}

// nodes is a cluster.
type nodes struct {
	t            *testing.T
	list         []*node
	program, dir string
	settings     []string
}

// free returns an address of this machine that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start begins a cluster of n nodes.
func start(t *testing.T, n int, settings ...string) *nodes {
	t.Helper()
	program := os.Getenv("HERD_PROGRAM") // built already
	if program == "" {
		program = filepath.Join(t.TempDir(), "herd")
		if err := peer.BuildHerd(context.Background(), program); err != nil {
			t.Fatal(err)
		}
	}
	c := &nodes{t: t}
	t.Cleanup(c.stop)
	dir := t.TempDir()
	c.program, c.dir, c.settings = program, dir, settings
	for range n {
		c.add()
	}
	for _, x := range c.list {
		c.awaitVoter(x)
	}
	return c
}

// add starts one more node, which joins the others.
func (c *nodes) add() *node {
	c.t.Helper()
	id := fmt.Sprint("n", len(c.list)+1)
	x := &node{id: id, program: c.program, dir: filepath.Join(c.dir, id), clusterAddr: free(c.t), sql: free(c.t), settings: c.settings}
	if len(c.list) > 0 {
		x.join = c.list[0].clusterAddr
	}
	c.list = append(c.list, x)
	c.run(x)
	x.await(c.t)
	return x
}

func (c *nodes) run(x *node) {
	c.t.Helper()
	host, port, err := net.SplitHostPort(x.sql)
	if err != nil {
		c.t.Fatal(err)
	}
	args := []string{"server", "--mode", "cluster", "--node-id", x.id, "--cluster-address", x.clusterAddr, "--host", host, "--port", port,
		"--base-dir", x.dir, "--set", "http.enabled=false", "--set", "server.memory.max.limit=512M", "--set", "server.log.segment.size=4M"}
	for _, s := range x.settings {
		args = append(args, "--set", s)
	}
	if x.join != "" {
		args = append(args, "--join", x.join)
	}
	x.output.reset()
	x.process = exec.Command(x.program, args...)
	x.process.Env = append(os.Environ(), "HERD_SERVER_CLUSTER_SECRET="+secret)
	x.process.Stdout, x.process.Stderr = &x.output, &x.output
	if err := x.process.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// await waits until x says that it is ready.
func (x *node) await(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(x.output.String(), "is ready") {
			return
		}
	}
	t.Fatalf("node %s does not start:\n%s", x.id, x.output.String())
}

// kill ends x as a crash does.
func (c *nodes) kill(x *node) {
	if x.process == nil {
		return
	}
	_ = x.process.Process.Kill() // fails only when it has ended
	_ = x.process.Wait()         // says that it was killed
	x.process = nil
}

func (c *nodes) stop() {
	for _, x := range c.list {
		c.kill(x)
		if c.t.Failed() {
			out := x.output.String()
			c.t.Logf("node %s:\n%s", x.id, out[max(0, len(out)-4000):])
		}
	}
}

// command runs `herd cluster`, asking x.
func (x *node) command(args ...string) (string, error) {
	c := exec.Command(x.program, append(append([]string{"cluster"}, args...), "--cluster-address", x.clusterAddr)...)
	c.Env = append(os.Environ(), "HERD_SERVER_CLUSTER_SECRET="+secret)
	out, err := c.CombinedOutput()
	return string(out), err
}

// awaitVoter waits until x is a voter of every database's group.
func (c *nodes) awaitVoter(x *node) {
	c.t.Helper()
	out := ""
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, _ = c.up().command("status")
		lines := strings.Split(out, "\n")
		ok := 0
		for _, l := range lines {
			if strings.Contains(l, x.id) && !strings.Contains(l, x.id+" (learner)") && (strings.HasPrefix(l, "(system)") || strings.HasPrefix(l, "postgres")) {
				ok++
			}
		}
		if ok == 2 {
			return
		}
	}
	c.t.Fatalf("node %s does not become a voter:\n%s", x.id, out)
}

// up returns a node that runs.
func (c *nodes) up() *node {
	for _, x := range c.list {
		if x.process != nil {
			return x
		}
	}
	c.t.Fatal("no node runs")
	return nil
}

// leader returns the node that leads the database postgres, as others than the given one say.
func (c *nodes) leader() *node {
	c.t.Helper()
	out := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		out, _ = c.up().command("status")
		for l := range strings.Lines(out) {
			f := strings.Fields(l)
			if len(f) < 2 || f[0] != "postgres" {
				continue
			}
			for _, x := range c.list {
				if x.id == f[1] && x.process != nil {
					return x
				}
			}
		}
	}
	c.t.Fatalf("nobody leads:\n%s", out)
	return nil
}

// url connects to whichever node takes the session.
func (c *nodes) url() string {
	var hosts, ports []string
	for _, x := range c.list {
		h, p, _ := net.SplitHostPort(x.sql)
		hosts, ports = append(hosts, h), append(ports, p)
	}
	return fmt.Sprintf("host=%s port=%s user=postgres dbname=postgres sslmode=disable target_session_attrs=read-write connect_timeout=5",
		strings.Join(hosts, ","), strings.Join(ports, ","))
}

func (x *node) url() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable&connect_timeout=15", x.sql)
}

// value runs SQL on a new session and returns the first value of the last result.
func value(url, sql string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	r, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	if last := r[len(r)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0]), nil
	}
	return "", nil
}

func must(t *testing.T, url, sql string) string {
	t.Helper()
	v, err := value(url, sql)
	if err != nil {
		t.Fatalf("%.100s: %v", sql, err)
	}
	return v
}

// code returns the SQLSTATE of an error, "" when it is not the server's.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
