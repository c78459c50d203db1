package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herd/tests/peer"
)

// runHerd runs a subcommand of the program under test and returns what it printed and its exit status.
func runHerd(t *testing.T, binary string, args ...string) (output string, status int) {
	t.Helper()
	var out bytes.Buffer
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// changeAll moves money between accounts and makes, changes and drops tables until stop is closed.
func changeAll(t *testing.T, url string, stop <-chan struct{}, done chan<- error) {
	transfers, ddl := Connect(t, url), Connect(t, url)
	loop := func(step func(i int) error) {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := step(i); err != nil {
				done <- err
				return
			}
		}
	}
	go loop(func(i int) error {
		return transfers.Exec(context.Background(), fmt.Sprintf("BEGIN; UPDATE a SET b = b - 1 WHERE i = %d; UPDATE a SET b = b + 1 WHERE i = %d; COMMIT", i%100, (i*7+1)%100)).Close()
	})
	go loop(func(i int) error {
		return ddl.Exec(context.Background(), fmt.Sprintf(`BEGIN; CREATE TABLE d%d (x int PRIMARY KEY, y text); INSERT INTO d%d SELECT g, repeat('y', g) FROM generate_series(1, 200) g; COMMIT;
			CREATE INDEX ON d%d (y); ALTER TABLE d%d ADD z int DEFAULT 5; DROP TABLE IF EXISTS "d%d"`, i, i, i, i, i-5)).Close()
	})
}

// TestBackupUnderLoad backs a server up while rows and tables change, goes on, and restores the backup as it is and to a moment
// after it.
func TestBackupUnderLoad(t *testing.T) {
	archive, dir := t.TempDir(), t.TempDir()
	h := peer.HerdFor(t, "server.log.archive.dir="+archive, "server.log.archive.period=1000")
	s, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c := Connect(t, s.URL)
	Exec(t, c, "CREATE TABLE a (i int PRIMARY KEY, b int); INSERT INTO a SELECT g, 100 FROM generate_series(0, 99) g; CREATE TABLE bulk AS SELECT g, repeat('x', 200) AS r FROM generate_series(1, 20000) g")
	stop, done := make(chan struct{}), make(chan error, 2)
	changeAll(t, s.URL, stop, done)
	time.Sleep(300 * time.Millisecond)
	file := filepath.Join(dir, "b.herd")
	if out, status := runHerd(t, h.Binary, "backup", "--quiet", "--url", s.URL, "--verify", file); status != 0 {
		t.Fatalf("backup: %s", out)
	}
	time.Sleep(500 * time.Millisecond)
	close(stop)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	const sums = "SELECT string_agg(c.relname || ' ' || s.rows || ' ' || s.checksum, ', ' ORDER BY c.relname) FROM pg_class c, LATERAL herd_checksum(c.oid::regclass) AS s(rows, checksum) WHERE c.relkind = 'r' AND c.relnamespace = 2200"
	want, at := Value(t, c, sums), Value(t, c, "SELECT clock_timestamp() AT TIME ZONE 'UTC'")
	time.Sleep(10 * time.Millisecond)
	Exec(t, c, "DROP TABLE bulk; UPDATE a SET b = 0")
	time.Sleep(1500 * time.Millisecond) // the archive has it
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	restored := func(name string, args ...string) *peer.Herd {
		r := &peer.Herd{Binary: h.Binary, Dir: filepath.Join(dir, name)}
		if out, status := runHerd(t, h.Binary, append([]string{"restore", "--quiet", file, r.Dir}, args...)...); status != 0 {
			t.Fatalf("restore: %s", out)
		}
		return r
	}
	look := func(r *peer.Herd, f func(url string)) {
		s, err := r.Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f(s.URL)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	look(restored("plain"), func(url string) {
		c := Connect(t, url)
		if got := Value(t, c, "SELECT count(*) || ' ' || sum(b) FROM a"); got != "100 10000" {
			t.Errorf("accounts: %s", got)
		}
		for _, row := range Exec(t, c, "SELECT relname FROM pg_class WHERE relname LIKE 'd%' AND relkind = 'r' AND relnamespace = 2200") {
			if got := Value(t, c, "SELECT count(*) || ' ' || sum(length(y)) FROM "+string(row[0])); got != "200 20100" {
				t.Errorf("table %s: %s", row[0], got)
			}
		}
	})
	look(restored("later", "--archive", archive, "--to-time", at), func(url string) {
		if got := Value(t, Connect(t, url), sums); got != want {
			t.Errorf("restored to %s:\n%s\nwas\n%s", at, got, want)
		}
	})
	half := filepath.Join(dir, "half")
	whole := mustRead(t, file)
	if err := os.WriteFile(file+".bad", whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, status := runHerd(t, h.Binary, "restore", "--quiet", file+".bad", half); status != 1 || !strings.Contains(out, "torn") {
		t.Errorf("restore of a torn file: status %d, %s", status, out)
	}
	if out, status := runHerd(t, h.Binary, "server", "--base-dir", half, "--port", "0", "--set", "http.enabled=false"); status != 1 || !strings.Contains(out, "did not finish") {
		t.Errorf("server on a folder that was restored in part: status %d, %s", status, out)
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	p, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBackupOfAKilledServer ends a server in the middle of a backup: the program says so and leaves no file.
func TestBackupOfAKilledServer(t *testing.T) {
	h := peer.HerdFor(t)
	s, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	Exec(t, Connect(t, s.URL), "CREATE TABLE bulk AS SELECT g, repeat('x', 200) AS r FROM generate_series(1, 20000) g; CREATE ROLE bob LOGIN")
	file := filepath.Join(t.TempDir(), "b.herd")
	if out, status := runHerd(t, h.Binary, "backup", "--url", strings.Replace(s.URL, "postgres@", "bob@", 1), file); status != 1 || !strings.Contains(out, "superuser") {
		t.Errorf("backup by bob: status %d, %s", status, out)
	}
	killed := make(chan error, 1)
	go func() { // once the backup has begun
		for range 1000 {
			if _, err := os.Stat(file + ".part"); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		killed <- s.Kill()
	}()
	out, status := runHerd(t, h.Binary, "backup", "--rate", "200K", "--url", s.URL, file)
	if status != 1 || !strings.Contains(out, "from the server") {
		t.Errorf("status %d, %s", status, out)
	}
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(file + "*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
