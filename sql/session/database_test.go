package session

import (
	"fmt"
	"log/slog"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/catalog"
)

// serve opens a server on the folder /data of a file system.
func serve(fsys vfs.FS) (*Server, error) {
	root := mem.NewRoot(0)
	e, err := engine.Open(engine.Options{FS: fsys, Dir: "/data", Memory: root, CheckpointPeriod: -1, LogSegmentBytes: 3 << 20,
		LogSegmentBytesMax: 3 << 20, Fatal: func(error) {}})
	if err != nil {
		return nil, err
	}
	srv, err := New(Options{Engine: e, Memory: root, PlanCacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		_ = e.Abandon()
		return nil, err
	}
	return srv, nil
}

// newDatabase is what CREATE DATABASE writes into the list.
func newDatabase(name string) *catalog.Database {
	return &catalog.Database{Name: name, Owner: catalog.BootstrapRole, AllowConn: true, ConnLimit: -1}
}

// listed returns the names of the list of databases that have a store, and of the stores.
func listed(srv *Server) (list, stores []string, err error) {
	rows, err := srv.systemReader().Databases()
	for _, d := range rows {
		if d.Name != "template0" {
			list = append(list, fmt.Sprint(d.Name, " ", d.OID))
		}
	}
	for _, d := range srv.engine.Databases() {
		stores = append(stores, fmt.Sprint(d.Name, " ", d.OID))
	}
	slices.Sort(list)
	slices.Sort(stores)
	return list, stores, err
}

// agrees says what is wrong with what a crash left: it starts, its list of databases and its stores are the same, the first
// databases are there, the database shop is as it was acknowledged to be, and can be made or dropped.
func agrees(fsys vfs.FS, shop string) string {
	srv, err := serve(fsys)
	if err != nil {
		return fmt.Sprintf("no start: %v", err)
	}
	defer func() { _ = srv.engine.Abandon() }()
	list, stores, err := listed(srv)
	if err != nil || !slices.Equal(list, stores) {
		return fmt.Sprintf("the list has %v, the stores are %v, %v", list, stores, err)
	}
	has := slices.ContainsFunc(list, func(n string) bool { return strings.HasPrefix(n, "shop ") })
	switch {
	case !slices.Contains(list, "postgres 5") || !slices.Contains(list, "template1 1"):
		return fmt.Sprintf("the list has %v", list)
	case shop == "made" && !has || shop == "none" && has:
		return fmt.Sprintf("shop is %s, the list has %v", shop, list)
	case has:
		d, err := srv.systemReader().DatabaseByName("shop")
		if err == nil {
			err = srv.dropDatabase(d)
		}
		if err != nil {
			return fmt.Sprintf("shop cannot be dropped: %v", err)
		}
	}
	if err := srv.createDatabase(newDatabase("shop"), Placement{}); err != nil {
		return fmt.Sprintf("shop cannot be made: %v", err)
	}
	left, err := srv.engine.Unsettled()
	if err != nil || len(left) > 0 {
		return fmt.Sprintf("unsettled are %v, %v", left, err)
	}
	return ""
}

// TestDatabasesAtEveryCrash loses power at every sync while a folder is made, and a database in it made and dropped.
func TestDatabasesAtEveryCrash(t *testing.T) {
	m := vfs.NewMem()
	r := rand.New(rand.NewSource(1))
	var mu sync.Mutex
	shop, crashes, wrong := "none", 0, ""
	now := func(s string) {
		mu.Lock()
		shop = s
		mu.Unlock()
	}
	m.SetSyncHook(func(n int, l vfs.Label) {
		mu.Lock()
		defer mu.Unlock()
		if l == "log.segment" || wrong != "" { // zeros
			return
		}
		for _, keep := range []int{0, 70}[n%2:] {
			crashes++
			if wrong = agrees(m.CrashClone(vfs.CrashOptions{Rand: r, KeepPercent: keep}), shop); wrong != "" {
				wrong = fmt.Sprintf("crash at sync %d (%s), keeping %d %%: %s", n, l, keep, wrong)
				return
			}
		}
	})
	srv, err := serve(m)
	if err != nil {
		t.Fatal(err)
	}
	step := func(next string, f func() error) {
		t.Helper()
		now("under way")
		if err := f(); err != nil {
			t.Fatal(err)
		}
		now(next)
	}
	d := newDatabase("shop")
	step("made", func() error { return srv.createDatabase(d, Placement{}) })
	step("none", func() error { return srv.dropDatabase(d) })
	step("made", func() error { return srv.createDatabase(newDatabase("shop"), Placement{}) })
	m.SetSyncHook(nil)
	if err := srv.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Fatal(wrong)
	}
	t.Logf("%d crashes", crashes)
}

// TestDropKeepsOthersOut begins to drop a database: nobody connects to it, its name stays taken, and it can be given back.
func TestDropKeepsOthersOut(t *testing.T) {
	srv, err := serve(vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.engine.Abandon() }()
	if err := srv.createDatabase(newDatabase("shop"), Placement{}); err != nil {
		t.Fatal(err)
	}
	drop, err := srv.engine.BeginDrop("shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.engine.Database("shop"); err == nil {
		t.Error("a database that is being dropped is found")
	}
	if _, err := srv.engine.BeginDrop("shop"); err == nil {
		t.Error("it is dropped twice")
	}
	if err := srv.engine.CreateDatabase("shop", 30000); err == nil {
		t.Error("its name is given away")
	}
	drop.Cancel()
	db, err := srv.engine.Database("shop")
	if err != nil {
		t.Fatal(err)
	}
	s := db.NewSession(engine.SessionOptions{})
	d, _ := srv.systemReader().DatabaseByName("shop")
	if err := srv.dropDatabase(d); err == nil {
		t.Error("a database in use was dropped")
	}
	if list, _, _ := listed(srv); !slices.ContainsFunc(list, func(n string) bool { return strings.HasPrefix(n, "shop ") }) {
		t.Errorf("the list has %v", list) // and not the list without the store
	}
	s.Close()
	if err := srv.dropDatabase(d); err != nil {
		t.Error(err)
	}
}
