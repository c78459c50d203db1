package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"herd/internal/vfs"
)

// TestFailedSyncStopsTheServer has the n-th sync of each kind of file fail in a process of its own. It ends with status
// 1 and a message that names the file, acknowledges nothing after it, and a restart finds what was acknowledged.
func TestFailedSyncStopsTheServer(t *testing.T) {
	if dir := os.Getenv("HERD_TEST_SYNC_DIR"); dir != "" {
		syncUntilItFails(t, dir, vfs.Label(os.Getenv("HERD_TEST_SYNC_LABEL")))
		return
	}
	for label, file := range map[vfs.Label]string{"log.sync": ".log", "log.segment": ".log", "storage.sync": ".seg", "storage.manifest": "manifest"} {
		t.Run(string(label), func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestFailedSyncStopsTheServer$")
			cmd.Env = append(os.Environ(), "HERD_TEST_SYNC_DIR="+dir, "HERD_TEST_SYNC_LABEL="+string(label))
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("ended with %v\n%s\n%s", err, out, &stderr)
			}
			if s := stderr.String(); !strings.Contains(s, "level=ERROR msg=\"stopping:") || !strings.Contains(s, dir) || !strings.Contains(s, file) {
				t.Fatalf("it said\n%s", s)
			}
			acked := strings.Count(string(out), "acknowledged\n")
			e, err := Open(Options{Dir: dir, CheckpointPeriod: -1})
			must(t, err)
			s := e.System().NewSession(SessionOptions{})
			for i := range acked {
				if got := get(t, s, tree1, fmt.Sprint(i)); len(got) != 50<<10 {
					t.Errorf("row %d of %d acknowledged ones is lost", i, acked)
				}
			}
			if acked == 0 {
				t.Error("the fault came before any commit")
			}
			s.Close()
			must(t, e.Close())
		})
	}
}

// syncUntilItFails is the process: it says "acknowledged" after each commit.
func syncUntilItFails(t *testing.T, dir string, label vfs.Label) {
	f := vfs.NewFault(vfs.OS)
	e, err := Open(Options{FS: f, Dir: dir, CheckpointPeriod: -1, LogSegmentBytes: 3 << 20, LogSegmentBytesMax: 3 << 20,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	must(t, err)
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	for i := range 400 {
		if i == 30 {
			f.Add(vfs.Rule{Label: label, Op: vfs.OpSync, Nth: 2, Err: syscall.EIO})
		}
		tx := s.Begin(TxOptions{})
		must(t, tx.Put(tr, []byte(fmt.Sprint(i)), []byte(strings.Repeat("v", 50<<10))))
		err := tx.Commit()
		if err == nil {
			err = s.WaitDurable()
		}
		if err != nil {
			select {} // the process is about to end, and has to do so by itself
		}
		fmt.Println("acknowledged")
		if i%20 == 19 {
			_ = e.System().Checkpoint()
		}
	}
}

// TestFullDevice fills a real file system: writes get 53100, reads, DELETE and DROP go on, and writes resume once there
// is space, without a restart.
func TestFullDevice(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("herd", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	defer func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) }()
	ballast := filepath.Join(dir, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 8<<20), 0o600))
	o := Options{Dir: filepath.Join(dir, "data"), CheckpointPeriod: -1, LogSegmentBytes: 3 << 20, LogSegmentBytesMax: 3 << 20, MemLimit: 16 << 20}
	e, err := Open(o)
	must(t, err)
	s := e.System().NewSession(SessionOptions{})
	full, other := newTree(t, s), newTree(t, s)
	put(t, s, other, "a", "b")
	val := []byte(strings.Repeat("v", 100<<10))
	n := 0
	write := func() error {
		tx := s.Begin(TxOptions{})
		must(t, tx.Put(full, []byte(fmt.Sprint(n)), val))
		if err := tx.Commit(); err != nil {
			return err
		}
		n++
		return s.WaitDurable()
	}
	for err == nil && n < 1000 {
		err = write()
	}
	if code(err) != "53100" {
		t.Fatalf("after %d rows: %v", n, err)
	}
	for range 3 { // a checkpoint frees the log; at last the data fill the device
		if err = e.System().Checkpoint(); err != nil && code(err) != "53100" {
			t.Fatal(err)
		}
		for err = nil; err == nil && n < 1000; {
			err = write()
		}
		if code(err) != "53100" {
			t.Fatalf("after %d rows: %v", n, err)
		}
	}
	tx := s.Begin(TxOptions{}) // its parts find no room either
	for i := 0; err == nil || i == 0; i++ {
		err = tx.Put(full, []byte(fmt.Sprint("part", i)), val)
	}
	tx.Rollback()
	if code(err) != "53100" {
		t.Fatalf("a big transaction: %v", err)
	}
	if got := get(t, s, full, fmt.Sprint(n-1)); len(got) != len(val) || get(t, s, full, fmt.Sprint(n)) != "" {
		t.Fatal("reads must go on, and hold no row that was refused")
	}
	for i := range 10 {
		tx := s.Begin(TxOptions{})
		must(t, tx.Delete(full, []byte(fmt.Sprint(i))))
		if err := tx.Commit(); err != nil {
			t.Fatalf("DELETE on a full disk: %v", err)
		}
		must(t, s.WaitDurable())
	}
	tx = s.Begin(TxOptions{})
	must(t, tx.DropTree(other))
	if err := tx.Commit(); err != nil {
		t.Fatalf("DROP on a full disk: %v", err)
	}
	must(t, s.WaitDurable())
	must(t, os.Remove(ballast))
	began := time.Now()
	for err = write(); err != nil && time.Since(began) < 20*time.Second; err = write() { // the checkpointer frees the log
		time.Sleep(20 * time.Millisecond)
	}
	must(t, err)
	must(t, e.System().Checkpoint())
	s.Close()
	must(t, e.Close())
	e, err = Open(o)
	must(t, err)
	s = e.System().NewSession(SessionOptions{})
	for i := range n {
		if got := len(get(t, s, full, fmt.Sprint(i))); (got == 0) != (i < 10) {
			t.Fatalf("row %d has %d bytes after a restart", i, got)
		}
	}
	s.Close()
	must(t, e.Close())
}
