package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// TestRestoreOfLaterDatabases drops a database after the backup, makes another of its name, and one whose number was drawn before the
// backup: a restore has them all, for the list of databases to decide.
func TestRestoreOfLaterDatabases(t *testing.T) {
	m := vfs.NewMem()
	e, s, _ := source(t, m, archived)
	s.Close()
	want := map[uint32]map[string]string{17000: contents(t, e.byName["shop"])}
	old, err := e.System().NewOID()
	must(t, err)
	early, err := e.System().NewOID()
	must(t, err)
	must(t, e.CreateDatabase("old", old))
	must(t, e.DropDatabase("old"))
	pieces := backUp(t, e)
	must(t, e.DropDatabase("shop"))
	for oid, name := range map[uint32]string{17010: "shop", early: "early"} {
		must(t, e.CreateDatabase(name, oid))
		s := e.byName[name].NewSession(SessionOptions{})
		put(t, s, newTree(t, s), "new", name)
		s.Close()
		want[oid] = contents(t, e.byName[name])
	}
	must(t, e.Close())
	to := vfs.NewMem()
	copyTree(t, m, to, "/archive")
	must(t, restoreInto(to, pieces, RestoreTarget{Archives: []string{"/archive"}}))
	back := openMem(t, to)
	defer back.Abandon()
	var oids []uint32
	for _, d := range back.Databases() {
		oids = append(oids, d.OID)
		if got := contents(t, back.byName[d.Name]); !maps.Equal(got, want[d.OID]) || !strings.HasPrefix(d.Name, map[uint32]string{17000: "shop", 17010: "shop", early: "early"}[d.OID]) {
			t.Errorf("database %d, %q: %d rows, want %d", d.OID, d.Name, len(got), len(want[d.OID]))
		}
	}
	if slices.Sort(oids); !slices.Equal(oids, []uint32{early, 17000, 17010}) {
		t.Errorf("databases %v", oids)
	}
}

// TestRestoreFromNoArchive names a folder that has nothing of the server: that is not a restore of all that there is.
func TestRestoreFromNoArchive(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	pieces := backUp(t, e)
	s.Close()
	must(t, e.Close())
	if err := restoreInto(vfs.NewMem(), pieces, RestoreTarget{Archives: []string{"/nowhere"}}); err == nil {
		t.Error("it says nothing")
	}
}

// Every changed bit of a folder's identity is found; one without a checksum, as earlier ones are, is read.
func TestIdentity(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", "/data"))
	id, err := newIdentity(m, "/data")
	must(t, err)
	name := "/data/" + identityFile
	size, err := m.Stat("t", name)
	must(t, err)
	for bit := range size * 8 {
		must(t, vfs.FlipBit(m, "t", name, bit))
		if got, err := readIdentity(m, "/data"); err == nil {
			t.Errorf("bit %d is changed: %s", bit, got)
		}
		must(t, vfs.FlipBit(m, "t", name, bit))
	}
	rewrite(t, m, name, func(p []byte) []byte { return p[:2*identityBytes+1] })
	if got, err := readIdentity(m, "/data"); got != id || err != nil {
		t.Errorf("without a checksum: %q, %v", got, err)
	}
}

// Every changed bit of FORMAT is found, and a checksum that is missing; formats before 4 have none.
func TestFormatFile(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", "/data"))
	must(t, checkFormat(m, "/data"))
	name := "/data/" + formatFile
	size, err := m.Stat("t", name)
	must(t, err)
	for bit := range size * 8 {
		must(t, vfs.FlipBit(m, "t", name, bit))
		if err := checkFormat(m, "/data"); err == nil || !strings.Contains(err.Error(), formatFile) {
			t.Errorf("bit %d is changed: %v", bit, err)
		}
		must(t, vfs.FlipBit(m, "t", name, bit))
	}
	must(t, checkFormat(m, "/data"))
	for text, want := range map[string]error{"herd 4\n": storage.ErrCorrupt, "herd 3\n": nil, "herd 2\n": nil, "herd 3\n01234567\n": storage.ErrCorrupt, "": ErrNotHerd} {
		rewrite(t, m, name, func([]byte) []byte { return []byte(text) })
		if err := checkFormat(m, "/data"); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// TestCommitTimesAscend sets the clock back by an hour across a clean restart, a kill, and a checkpoint before a kill: as the last commit's time
// was then, so are later ones.
func TestCommitTimesAscend(t *testing.T) {
	for _, end := range []string{"stop", "kill", "checkpoint"} {
		m := vfs.NewMem()
		e := openMem(t, m)
		s := e.System().NewSession(SessionOptions{})
		tree := newTree(t, s)
		ahead := uint64(time.Now().Add(time.Hour).UnixMicro())
		must(t, e.System().exclusive(func() error { e.System().now.Store(ahead); return nil }))
		put(t, s, tree, "a", "1")
		if end == "checkpoint" {
			must(t, e.System().Checkpoint())
		}
		s.Close()
		if end == "stop" {
			must(t, e.Close())
		} else {
			must(t, e.Abandon())
		}
		e = openMem(t, m)
		s = e.System().NewSession(SessionOptions{})
		put(t, s, tree, "a", "2")
		s.Close()
		must(t, e.Abandon())
		last := uint64(0)
		_, err := txlog.Inspect(m, dbDir("/data", 0)+"/"+logFolder, 0, nil, func(_ txlog.Position, e txlog.Entry) error {
			if c := commitTime(&e); !c.IsZero() {
				last = uint64(c.UnixMicro())
			}
			return nil
		})
		must(t, err)
		if last < ahead {
			t.Errorf("%s: the last commit is of %d, an earlier one of %d", end, last, ahead)
		}
	}
}

// TestMoment takes a moment beside commits: all later ones are later, also while the clock is behind the last commit.
func TestMoment(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m)
	db := e.System()
	s := db.NewSession(SessionOptions{})
	tree := newTree(t, s)
	ahead := time.Now().Add(time.Hour).UnixMicro()
	must(t, db.exclusive(func() error { db.now.Store(uint64(ahead)); return nil }))
	put(t, s, tree, "a", "1")
	at := db.moment()
	put(t, s, tree, "a", "2")
	s.Close()
	must(t, e.Abandon())
	var times []time.Time
	_, err := txlog.Inspect(m, dbDir("/data", 0)+"/"+logFolder, 0, nil, func(_ txlog.Position, e txlog.Entry) error {
		if c := commitTime(&e); !c.IsZero() {
			times = append(times, c)
		}
		return nil
	})
	must(t, err)
	if n := len(times); n < 3 || !times[n-1].After(at) || at.Before(time.UnixMicro(ahead-1)) {
		t.Errorf("moment %s, commits at %v", at, times)
	}
}

// TestCommitsWithoutTime opens a folder of format 2, whose commits have no time in the log.
func TestCommitsWithoutTime(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m, small)
	s := e.System().NewSession(SessionOptions{})
	tree := newTree(t, s)
	put(t, s, tree, "a", "b")
	s.Close()
	must(t, e.Abandon())
	var last txlog.Entry
	o := txlog.Options{FS: m, Dir: dbDir("/data", 0) + "/" + logFolder, SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20}
	l, err := txlog.OpenLocal(o, 0, func(_ txlog.Position, e txlog.Entry) error { last = e; return nil })
	must(t, err)
	p := appendHeader(nil, header{tx: 5000})
	p = appendChange(p, &storage.Change{Tree: tree, Op: storage.OpPut, Key: []byte("c"), Val: []byte("d")}, 0)
	room, err := l.Reserve(len(p), txlog.Normal)
	must(t, err)
	must(t, l.Append(room, txlog.Entry{Epoch: last.Epoch, Seq: last.Seq + 1, Prev: last.Seq, Kind: txlog.Commit, Payload: p}))
	must(t, l.Close())
	rewrite(t, m, "/data/"+formatFile, func([]byte) []byte { return []byte("herd 2\n") })
	checkFolder(t, m)
	e = openMem(t, m, small)
	s = e.System().NewSession(SessionOptions{})
	if a, c := get(t, s, tree, "a"), get(t, s, tree, "c"); a != "b" || c != "d" {
		t.Errorf("rows %q and %q", a, c)
	}
	s.Close()
	must(t, e.Close())
	if p, err := vfs.ReadFile(m, "t", "/data/"+formatFile); err != nil || string(p) != string(formatText()) {
		t.Errorf("the format is %q, %v", p, err)
	}
}

// TestPartsForgottenMeanwhile has a checkpoint forget a large commit between the moment a backup takes its state, which lacks it, and its
// look at what the log has to have.
func TestPartsForgottenMeanwhile(t *testing.T) {
	var p openParts
	p.init()
	p.begin(7, 100)
	p.begin(8, 200)
	p.committed(8, 5)
	before := p.spans()
	p.committed(7, 11)
	p.begin(9, 300)
	p.forget(12)
	if at := p.floorSince(before, 500, 10); at != 100 {
		t.Errorf("the log is needed from %d on", at)
	}
	if at := p.floorSince(map[uint64]partSpan{}, 500, 10); at != 300 {
		t.Errorf("without what was there before, from %d on", at)
	}
}

// TestRestoreOfFewerDatabases leaves one database out of a backup's pieces.
func TestRestoreOfFewerDatabases(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	pieces := backUp(t, e)
	s.Close()
	must(t, e.Close())
	end := pieces[len(pieces)-1]
	for n := len(pieces) - 1; n > 0; n-- {
		if pieces[n].kind == BackupDatabase {
			pieces = append(pieces[:n:n], end)
			break
		}
	}
	if err := restoreInto(vfs.NewMem(), pieces, RestoreTarget{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("the restore ended with %v", err)
	}
}

// TestRestoreBesideServer finds the folder locked by a server that began a moment ago: it is left as one that opens.
func TestRestoreBesideServer(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", "/data"))
	l, err := m.Lock("t", "/data/"+lockFile)
	must(t, err)
	o := Options{FS: m, Dir: "/data"}.withDefaults()
	if _, err := markRestoring(&o); !errors.Is(err, vfs.ErrLocked) {
		t.Error(err)
	}
	must(t, l.Close())
	must(t, openMem(t, m).Close())
}
