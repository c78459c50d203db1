package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// smallDisk mounts a file system of some MiB: ext4 in a file, or else one in memory. The test is skipped when neither may be mounted.
func smallDisk(t *testing.T, mib int) string {
	t.Helper()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	if f, err := os.Create(image); err != nil || f.Truncate(int64(mib)<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	mkfs, err := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", image).CombinedOutput()
	if err == nil {
		var out []byte
		if out, err = exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err == nil {
			t.Log("ext4 on a loop device")
			t.Cleanup(func() { unmount(t, dir) })
			return dir
		}
		mkfs = out
	}
	t.Logf("no loop mount: %v: %s", err, mkfs)
	if err := syscall.Mount("herd", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Log("tmpfs")
	t.Cleanup(func() { unmount(t, dir) })
	return dir
}

func unmount(t *testing.T, dir string) {
	if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
		t.Errorf("unmount %s: %v", dir, err)
	}
}

// sqlState is the SQLSTATE of an error, "" of none.
func sqlState(err error) string {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pg):
		return pg.Code
	}
	return err.Error()
}

// A server on a full disk refuses what needs space with 53100, reads, deletes, empties and drops tables, and writes again once there is
// space, all without a restart.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 160)
	h := peer.HerdFor(t, "server.log.segment.size=4MB", "server.memory.max.limit=256MB")
	h.Dir = filepath.Join(disk, "data")
	s := start(t, h)
	c, ctx := Connect(t, s.URL), context.Background()
	try := func(sql string) string {
		_, err := c.Exec(ctx, sql).ReadAll()
		return sqlState(err)
	}
	Exec(t, c, `CREATE TABLE kept (id int PRIMARY KEY, v text); INSERT INTO kept SELECT i, 'kept ' || i FROM generate_series(1, 1000) i;
		CREATE TABLE filler (id serial PRIMARY KEY, v text); CREATE TABLE gone (id serial PRIMARY KEY, v text); CHECKPOINT`)
	ballast := filepath.Join(disk, "ballast")
	const filling = "INSERT INTO filler (v) SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 200)"
	acked, state := 0, ""
	fill := func() {
		for state = ""; state == "" && acked < 1000; {
			if state = try(filling); state == "" {
				acked++
			}
		}
		if state != "53100" {
			t.Fatalf("after %d inserts: %s, want 53100", acked, state)
		}
	}
	if err := writeBallast(ballast, 60<<20); err != nil {
		t.Fatal(err)
	}
	fill()
	for range 5 { // a checkpoint makes the log shorter: fill again what it leaves
		if state := try("CHECKPOINT"); state != "" && state != "53100" {
			t.Fatalf("checkpoint: %s", state)
		}
		fill()
	}
	t.Logf("%d inserts of 200 rows until the disk was full", acked)
	if n := Value(t, c, "SELECT count(*) FROM filler"); n != fmt.Sprint(200*acked) {
		t.Errorf("%s rows, %d acknowledged", n, 200*acked)
	}
	if state := try("BEGIN; " + filling + "; ROLLBACK"); state != "" && state != "53100" {
		t.Errorf("a transaction that is rolled back: %s", state)
	}
	if state := try("ROLLBACK"); state != "" {
		t.Errorf("rollback: %s", state)
	}
	for _, sql := range []string{"SELECT sum(length(v)) FROM filler", "DELETE FROM kept WHERE id > 900", "TRUNCATE gone", "DROP TABLE gone", "DELETE FROM filler WHERE id % 100 = 0"} {
		if state := try(sql); state != "" {
			t.Errorf("%s on a full disk: %s", sql, state)
		}
	}
	if state := try(filling); state != "53100" {
		t.Errorf("an insert before there is space: %q", state)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for state = try(filling); state == "53100" && time.Now().Before(deadline); state = try(filling) {
		time.Sleep(100 * time.Millisecond)
	}
	if state != "" {
		t.Fatalf("writes did not resume: %s", state)
	}
	Exec(t, c, "TRUNCATE filler; CHECKPOINT")
	Exec(t, c, "INSERT INTO kept VALUES (5000, 'after'); CHECKPOINT")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if out := herd(t, h, "check"); !strings.Contains(out, "0 problems") {
		t.Error(out)
	}
	c = Connect(t, start(t, h).URL)
	if got := Value(t, c, "SELECT count(*) || ' ' || max(id) FROM kept"); got != "901 5000" {
		t.Errorf("after a restart: %s", got)
	}
}

// writeBallast fills a file with bytes that take space.
func writeBallast(name string, size int) error {
	return os.WriteFile(name, make([]byte, size), 0o600)
}
