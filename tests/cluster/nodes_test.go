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
	"slices"
	"strings"
	"sync"
	"syscall"
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
	advertise        string // where the other nodes reach it, "": clusterAddr
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
	links        *links // between the nodes; nil: nothing is
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
	c := prepare(t, settings...)
	c.addAll(n)
	return c
}

// prepare makes a cluster without nodes.
func prepare(t *testing.T, settings ...string) *nodes {
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
	return c
}

// addAll starts n nodes and waits until all are voters.
func (c *nodes) addAll(n int) {
	c.t.Helper()
	for range n {
		c.add()
	}
	for _, x := range c.list {
		c.awaitVoter(x)
	}
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
	if c.links != nil {
		c.links.listen(x)
	}
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
	if x.advertise != "" {
		args = append(args, "--set", "server.cluster.advertise.address="+x.advertise)
	}
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
	if c.links != nil {
		c.links.started(x.id, x.process.Process.Pid)
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

// end stops x as an operator does, and waits for it.
func (c *nodes) end(x *node) {
	c.t.Helper()
	if err := x.process.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = x.process.Process.Kill() }) // fails only when it has ended
	err := x.process.Wait()
	late.Stop()
	x.process = nil
	if err != nil {
		c.t.Errorf("node %s was told to stop: %v\n%s", x.id, err, x.output.String())
	}
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

// leader returns the node that leads the database postgres, as the first that runs says.
func (c *nodes) leader() *node {
	c.t.Helper()
	return c.leaderBy(c.up())
}

// leaderBy returns the node that leads the database postgres, as another one says, but none of except.
func (c *nodes) leaderBy(by *node, except ...*node) *node {
	c.t.Helper()
	out := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		out, _ = by.command("status")
		f := databaseStatus(out)
		for _, x := range c.list {
			if len(f) > 1 && x.id == f[1] && x.process != nil && !slices.Contains(except, x) {
				return x
			}
		}
	}
	c.t.Fatalf("nobody leads, as node %s says:\n%s", by.id, out)
	return nil
}

// term returns in which term the database postgres is led, as x says.
func (c *nodes) term(x *node) string {
	c.t.Helper()
	out, err := x.command("status")
	f := databaseStatus(out)
	if err != nil || len(f) < 3 {
		c.t.Fatalf("status of node %s: %v\n%s", x.id, err, out)
	}
	return f[2]
}

// databaseStatus returns the fields of the database postgres in what `herd cluster status` prints: name, leader, term.
func databaseStatus(out string) []string {
	for l := range strings.Lines(out) {
		if f := strings.Fields(l); len(f) > 0 && f[0] == "postgres" {
			return f
		}
	}
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
