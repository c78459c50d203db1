package session

import (
	"encoding/binary"
	"io"
	"testing"

	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/pgwire/wire"
)

// open starts a server on a folder of its own and connects to it.
func open(t *testing.T) *Session {
	t.Helper()
	root := mem.NewRoot(0)
	e, err := engine.Open(engine.Options{FS: vfs.OS, Dir: t.TempDir(), Memory: root, CheckpointPeriod: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	srv, err := New(Options{Engine: e, Memory: root, SpillFS: vfs.OS, SpillDir: t.TempDir(), PlanCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := srv.Connect(&StartupInfo{User: "postgres", Database: "postgres"}, Client{Out: wire.NewWriter(io.Discard), Wake: func() {}, Terminate: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestPointWriteAllocations holds a prepared one-row UPDATE, from Bind to Sync with its commit, to what the next version
// of the tree consists of.
func TestPointWriteAllocations(t *testing.T) {
	s := open(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Query([]byte("create table t (id int primary key, n int, filler char(84))")))
	must(s.Query([]byte("insert into t select i, 0, '' from generate_series(1, 3000) i")))
	must(s.Query([]byte("select pg_sleep(0.01)")))
	must(s.Parse([]byte("u"), []byte("update t set n = n + 1 where id = $1"), nil))
	var id [4]byte
	b := wire.Bind{Statement: []byte("u"), ParamFormats: []int16{1}, Params: [][]byte{id[:]}}
	i := uint32(0)
	update := func() {
		i = i*1103515245 + 12345
		binary.BigEndian.PutUint32(id[:], 1+i>>8%3000)
		must(s.Bind(&b))
		must(s.Execute(nil, 0))
		must(s.Sync())
		s.out.Flush()
	}
	for range 200 {
		update()
	}
	n := testing.AllocsPerRun(2000, update)
	t.Logf("%v allocations", n)
	if n > 5 {
		t.Errorf("an UPDATE allocates %v times, want 5", n)
	}
}
