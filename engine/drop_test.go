package engine

import (
	"errors"
	"testing"
	"time"

	"herd/internal/vfs"
)

// TestDropWithHungArchive drops a database while no call to the archive comes back: it ends, and others use their databases meanwhile.
func TestDropWithHungArchive(t *testing.T) {
	f := vfs.NewFault(vfs.NewMem())
	e := openMem(t, f, func(o *Options) {
		o.ArchiveDir, o.ArchivePeriod, o.archivePatience = "/archive", time.Hour, 300*time.Millisecond
	})
	must(t, e.CreateDatabase("gone", 20001))
	must(t, e.SettleDatabase("gone"))
	db, err := e.Database("gone")
	must(t, err)
	s := db.NewSession(SessionOptions{})
	put(t, s, newTree(t, s), "k", "v")
	s.Close()
	back := make(chan struct{})
	defer close(back)
	f.Add(vfs.Rule{Label: labelArchive, Nth: 1, Sticky: true, Hang: back})
	f.Add(vfs.Rule{Label: "log.archive", Nth: 1, Sticky: true, Hang: back})
	dropped := make(chan error, 1)
	go func() { dropped <- e.DropDatabase("gone") }()
	for end := time.Now().Add(20 * time.Second); ; {
		begin := time.Now()
		if _, err := e.Database("gone"); err == nil && time.Now().After(end) {
			t.Fatal("the database is still found")
		}
		_ = e.Databases()
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Fatalf("the list of databases took %s beside the drop", took)
		}
		select {
		case err := <-dropped:
			must(t, err)
			if _, err := e.Database("gone"); !errors.Is(err, ErrNoDatabase) {
				t.Fatalf("the dropped database: %v", err)
			}
			closed := make(chan error, 1)
			go func() { closed <- e.Close() }()
			select {
			case err := <-closed:
				must(t, err)
			case <-time.After(20 * time.Second):
				t.Fatal("the engine does not close")
			}
			return
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("the drop hangs")
		}
	}
}
