package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// asHerd makes the test program be herd, so that tests need no other build.
const asHerd = "HERD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asHerd) != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Setenv(asHerd, "1") // for the children
	os.Exit(m.Run())
}

// process is a herd server under test.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	metrics string
	printed string
	errors  bytes.Buffer
	ended   chan error
}

// herd prepares a command line of this program in a folder.
func herd(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // none runs that long
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	return c
}

// program is a file that no folder can be below.
func program(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// startServerIn starts a server in a folder on free ports and waits until it is ready.
func startServerIn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: herd(t, dir, append([]string{"server", "--port", "0", "--set", "http.port=0"}, args...)...), ended: make(chan error, 1)}
	p.cmd.Stderr = &p.errors
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for !strings.Contains(p.printed, "connect with") && lines.Scan() {
		p.printed += lines.Text() + "\n"
	}
	p.address = regexp.MustCompile(listeningOn + ` (\S+)`).FindStringSubmatch(p.printed + listeningOn + " ?")[1]
	if m := regexp.MustCompile(`metrics at +(\S+)`).FindStringSubmatch(p.printed); m != nil {
		p.metrics = m[1]
	}
	if p.address == "?" {
		t.Fatalf("server did not start: %v\n%s%s", p.cmd.Wait(), p.printed, p.errors.String())
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		p.ended <- p.cmd.Wait()
	}()
	return p
}

// stop sends SIGTERM and expects a clean end.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Fatalf("server ended with %v: %s", err, p.errors.String())
		}
	case <-time.After(20 * time.Second):
		p.t.Fatalf("server did not stop: %s", p.errors.String())
	}
}

func (p *process) connect(options string) (*pgconn.PgConn, error) {
	return pgconn.Connect(context.Background(), "postgres://postgres@"+p.address+"/postgres?"+options)
}

// query returns the first value of a statement's first row.
func (p *process) query(sql string) string {
	p.t.Helper()
	c, err := p.connect("sslmode=disable")
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close(context.Background())
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	last := results[len(results)-1]
	if len(last.Rows) == 0 {
		return ""
	}
	return string(last.Rows[0][0])
}

// Without configuration the server makes ./herd-data, is reached on loopback without a password, and keeps what was stored.
func TestServerWithoutConfiguration(t *testing.T) {
	dir := t.TempDir()
	p := startServerIn(t, dir)
	for _, want := range []string{"herd " + version + " is ready", "listening on 127.0.0.1:", filepath.Join(dir, "herd-data"), "psql -h 127.0.0.1 -p"} {
		if !strings.Contains(p.printed, want) {
			t.Errorf("printed %q lacks %q", p.printed, want)
		}
	}
	if strings.Contains(p.printed, "password") {
		t.Errorf("a password that nobody needs: %q", p.printed)
	}
	if got := p.query("SHOW port"); !strings.HasSuffix(p.address, ":"+got) {
		t.Errorf("SHOW port gives %s on %s", got, p.address)
	}
	p.query("CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept SELECT generate_series(1, 1000)")
	p.stop()
	p = startServerIn(t, dir)
	if got := p.query("SELECT count(*) FROM kept"); got != "1000" {
		t.Errorf("%s rows after a restart", got)
	}
	p.stop()
}

// Every key is obeyed: a server with none of the defaults keeps its files where they are put, and what was stored.
func TestServerWithEveryKey(t *testing.T) {
	for _, sync := range []string{"always", "20", "never"} {
		t.Run(sync, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "users"), []byte("kate:secret\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, set := range []string{"server.mode=standalone", "server.host=127.0.0.1", "server.base.dir=base", "server.data.dir=dd", "server.log.dir=ll",
				"server.tmp.dir=" + filepath.Join(dir, "tt"), "server.metadata.dir=mm", "server.ssl=true", "server.users.file=" + filepath.Join(dir, "users"),
				"server.memory.max.limit=512M", "server.memory.page.size=16K", "server.checkpoint.period=300", "server.checkpoint.duration=100",
				"server.checkpoint.page.dirty.max.threshold=0.1", "server.checkpoint.page.fill.min.threshold=0.5",
				"http.enabled=true", "http.host=127.0.0.1", "server.log.sync=" + sync} {
				args = append(args, "--set", set)
			}
			p := startServerIn(t, dir, args...)
			p.query("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id")
			c, err := pgconn.Connect(context.Background(), "postgres://kate:secret@"+p.address+"/postgres?sslmode=require")
			if err != nil {
				t.Fatal(err)
			}
			c.Close(context.Background())
			for _, folder := range []string{"base/dd/db", "base/ll", "base/mm", "tt"} {
				if names, err := os.ReadDir(filepath.Join(dir, folder)); err != nil || len(names) == 0 && folder != "tt" {
					t.Errorf("folder %s: %d files, %v", folder, len(names), err)
				}
			}
			checkpoints := func() string {
				r, err := http.Get(p.metrics)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Join(regexp.MustCompile(`herd_checkpoints_total\{database="postgres"\} [1-9]\d*`).FindAllString(string(body), 1), "")
			}
			for range 100 { // the period is short
				if checkpoints() != "" {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			if checkpoints() == "" {
				t.Error("no checkpoint came")
			}
			p.stop()
			p = startServerIn(t, dir, args...)
			if got := p.query("SELECT count(*) FROM kept"); got != "1000" {
				t.Errorf("%s rows after a restart", got)
			}
			p.stop()
		})
	}
}

// A start that cannot work says what is in the way, and exits with 1.
func TestServerRefusals(t *testing.T) {
	dir := t.TempDir()
	p := startServerIn(t, dir)
	newer := t.TempDir()
	if err := os.MkdirAll(filepath.Join(newer, "herd-data", "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(newer, "herd-data", "data", "FORMAT"), []byte("herd 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		args []string
		want []string
		code int
	}{
		"port in use":   {t.TempDir(), []string{"--port", port}, []string{p.address, "in use"}, 1},
		"folder in use": {dir, []string{"--port", "0"}, []string{"herd-data", "in use by another server"}, 1},
		"newer format":  {newer, []string{"--port", "0"}, []string{"herd-data", "format 99", "newer version"}, 1},
		"unknown key":   {dir, []string{"--set", "server.prot=1"}, []string{"server.prot", "server.port"}, 1},
		"bad port":      {dir, []string{"--port", "x"}, []string{"--port", "server.port", `"x"`, "0 to 65535"}, 1},
		"unknown flag":  {dir, []string{"--prot", "1"}, []string{"--prot", "herd server --help"}, 2},
		"argument":      {dir, []string{"data"}, []string{"data", "herd server --help"}, 2},
		"no such certificate": {t.TempDir(), []string{"--port", "0", "--set", "server.ssl=true", "--set", "server.ssl.cert.file=c.pem", "--set", "server.ssl.key.file=k.pem"},
			[]string{"c.pem"}, 1},
		"no such host":          {t.TempDir(), []string{"--set", "server.host=host.invalid"}, []string{"host.invalid"}, 1},
		"no such users":         {t.TempDir(), []string{"--port", "0", "--set", "server.users.file=nobody"}, []string{"nobody", "no such file"}, 1},
		"base is a file":        {t.TempDir(), []string{"--port", "0", "--base-dir", program(t)}, []string{program(t)}, 1},
		"data below a file":     {t.TempDir(), []string{"--port", "0", "--set", "server.data.dir=" + program(t) + "/x"}, []string{program(t)}, 1},
		"log below a file":      {t.TempDir(), []string{"--port", "0", "--set", "server.log.dir=" + program(t) + "/x"}, []string{program(t)}, 1},
		"tmp below a file":      {t.TempDir(), []string{"--port", "0", "--set", "server.tmp.dir=" + program(t) + "/x"}, []string{program(t)}, 1},
		"metadata below a file": {t.TempDir(), []string{"--port", "0", "--set", "server.metadata.dir=" + program(t) + "/x"}, []string{program(t)}, 1},
		"http port in use":      {t.TempDir(), []string{"--port", "0", "--set", "http.enabled=true", "--set", "http.port=" + port}, []string{port, "in use"}, 1},
		"http host":             {t.TempDir(), []string{"--port", "0", "--set", "http.enabled=true", "--set", "http.host=host.invalid"}, []string{"host.invalid"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := herd(t, c.dir, append([]string{"server", "--set", "http.enabled=false"}, c.args...)...).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("ended with %v, expected status %d", err, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("printed %q lacks %q", out, want)
				}
			}
		})
	}
	if got := p.query("SELECT 1"); got != "1" {
		t.Error("the running server was disturbed")
	}
	p.stop()
}

// Bytes of other protocols, absurd lengths and invalid text end their own session at most.
func TestServerBadInput(t *testing.T) {
	p := startServerIn(t, t.TempDir())
	for name, bytes := range map[string]string{
		"HTTP":            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"2 GiB length":    "\x7f\xff\xff\xff\x00\x03\x00\x00",
		"negative length": "\xff\xff\xff\xff\x00\x03\x00\x00",
		"nothing":         "",
		"half a length":   "\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write([]byte(bytes)); err != nil {
				t.Fatal(err)
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the server kept the connection")
			}
		})
	}
	c, err := p.connect("sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for sql, state := range map[string]string{
		"SELECT '\xff'": "22021",
		"SELEC 1":       "42601",
		"SELECT " + strings.Repeat("(", 2_000_000) + "1" + strings.Repeat(")", 2_000_000): "54001",
	} {
		_, err := c.Exec(context.Background(), sql).ReadAll()
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != state {
			t.Errorf("%.20q: error %v, expected %s", sql, err, state)
		}
	}
	if got := p.query("SELECT 1"); got != "1" {
		t.Error("the server does not answer any more")
	}
	p.stop()
}

// The users file makes roles with passwords, changes them at the next start, and is refused by line when it is wrong.
func TestServerUsersFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "users")
	login := func(p *process, user, password string) error {
		c, err := pgconn.Connect(context.Background(), "postgres://"+user+":"+password+"@"+p.address+"/postgres?sslmode=disable")
		if err == nil {
			err = c.Close(context.Background())
		}
		return err
	}
	args := []string{"--set", "server.auth=scram", "--set", "server.users.file=" + file}
	for _, c := range []struct{ text, right, wrong string }{{"# team\n\nann:one\n", "one", "two"}, {"ann:two\nbob:three\n", "two", "one"}} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := startServerIn(t, dir, args...)
		if err := login(p, "ann", c.right); err != nil {
			t.Error(err)
		}
		if err := login(p, "ann", c.wrong); err == nil {
			t.Errorf("logged in with %q", c.wrong)
		}
		p.stop()
	}
	if err := os.WriteFile(file, []byte("ann:one\nbob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := herd(t, dir, append([]string{"server", "--port", "0", "--set", "http.enabled=false"}, args...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "line 2") {
		t.Errorf("a line without password: %v, %s", err, out)
	}
}

// A server that asks for passwords makes one up on a new folder, prints it once, and takes no other.
func TestServerPassword(t *testing.T) {
	dir := t.TempDir()
	p := startServerIn(t, dir, "--set", "server.auth=scram", "--set", "server.ssl=true")
	m := regexp.MustCompile(`password +(\S+) `).FindStringSubmatch(p.printed)
	if m == nil {
		t.Fatalf("no password in %q", p.printed)
	}
	for password, works := range map[string]bool{m[1]: true, "wrong": false, "": false} {
		for _, mode := range []string{"sslmode=disable", "sslmode=require"} {
			c, err := p.connect(mode + "&password=" + password)
			if works != (err == nil) {
				t.Errorf("password %q with %s: %v", password, mode, err)
			}
			if err == nil {
				c.Close(context.Background())
			}
		}
	}
	p.stop()
	if p = startServerIn(t, dir, "--set", "server.auth=scram"); strings.Contains(p.printed, "password") {
		t.Errorf("printed at the second start: %q", p.printed)
	}
	if c, err := p.connect("sslmode=disable&password=" + m[1]); err != nil {
		t.Error(err)
	} else {
		c.Close(context.Background())
	}
	p.stop()
}

func TestServerMetrics(t *testing.T) {
	p := startServerIn(t, t.TempDir())
	p.query("CREATE TABLE m (id int PRIMARY KEY)")
	p.query("INSERT INTO m VALUES (1)")
	p.query("SELECT * FROM m")
	r, err := http.Get(p.metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`herd_statements_total{kind="insert"} 1`, "herd_statement_seconds_bucket", "herd_sessions", "herd_commits_total",
		"herd_log_sync_seconds_count", "herd_log_bytes_total", "herd_checkpoint_age_seconds", "herd_memory_bytes", "herd_evictions_total", "herd_lock_waits_total"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
	p.stop()
}

// The embedded server of ycsb is loaded, run and checked, on the disk and on a simulated one.
func TestEmbeddedYCSB(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	c := herd(t, t.TempDir(), "ycsb", "workloada", "e", "--records", "300", "--operations", "300", "--threads", "8", "--devices", "ssd,hdd", "--json", file)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"| workload | mix | ssd herd | hdd herd | ssd herd / hdd herd |", "all there", "p99.9", "| e | 95 scan 5 insert |"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestConfAndVersion(t *testing.T) {
	for _, args := range []string{"conf", "conf --example", "conf --values --set server.port=1", "version", "--help", "ycsb --help"} {
		if out, err := herd(t, t.TempDir(), strings.Fields(args)...).CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("herd %s: %v: %s", args, err, out)
		}
	}
	out, err := herd(t, t.TempDir(), "conf", "--values", "--set", "server.port=17").CombinedOutput()
	if want := fmt.Sprintln("server.port=17  # --set"); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("conf --values: %v: %s", err, out)
	}
}

// One session more than allowed is refused by name, and room comes back with the end of another.
func TestServerConnectionLimit(t *testing.T) {
	p := startServerIn(t, t.TempDir(), "--set", "server.max.connections=5")
	var open []*pgconn.PgConn
	for range 5 {
		c, err := p.connect("sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	_, err := p.connect("sslmode=disable")
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "53300" {
		t.Errorf("the sixth of five: %v", err)
	}
	open[0].Close(context.Background())
	deadline := time.Now().Add(5 * time.Second)
	for {
		c, err := p.connect("sslmode=disable")
		if err == nil {
			open[0] = c
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no room after a session has ended: %v", err)
		}
	}
	for _, c := range open {
		c.Close(context.Background())
	}
	p.stop()
}
