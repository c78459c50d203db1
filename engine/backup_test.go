package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"syscall"
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// piece is one of a backup that a test keeps.
type piece struct {
	kind BackupPiece
	data []byte
}

// backUp takes a backup of all databases.
func backUp(t testing.TB, e *Engine, names ...string) (out []piece) {
	t.Helper()
	must(t, e.Backup(BackupOptions{Databases: names}, func(k BackupPiece, p []byte) error {
		out = append(out, piece{k, bytes.Clone(p)})
		return nil
	}))
	return out
}

// restoreInto restores pieces into the folder /data of a file system.
func restoreInto(fsys vfs.FS, pieces []piece, target RestoreTarget, change ...func(*RestoreOptions)) error {
	o := RestoreOptions{Options: Options{FS: fsys, Dir: "/data", Fatal: func(error) {}}, Target: target}
	small(&o.Options)
	for _, f := range change {
		f(&o)
	}
	r, err := BeginRestore(o)
	if err != nil {
		return err
	}
	defer r.Abandon()
	for _, p := range pieces {
		if err := r.Piece(p.kind, p.data); err != nil {
			return err
		}
	}
	e, err := r.Open()
	if err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	return r.Done()
}

func verifyPieces(pieces []piece) error {
	var c BackupChecker
	for _, p := range pieces {
		if err := c.Piece(p.kind, p.data); err != nil {
			return err
		}
	}
	return c.Finished()
}

// everything reads the rows of all databases, with the place of a sequence.
func everything(t testing.TB, e *Engine) map[string]string {
	t.Helper()
	out := map[string]string{}
	e.each(func(db *Database) {
		for k, v := range contents(t, db) {
			out[db.Name()+":"+k] = v
		}
	})
	return out
}

// source makes a data folder of two databases with some rows.
func source(t testing.TB, fsys vfs.FS, change ...func(*Options)) (*Engine, *Session, storage.TreeID) {
	t.Helper()
	e := openMem(t, fsys, append([]func(*Options){small}, change...)...)
	must(t, e.CreateDatabase("shop", 17000))
	db, err := e.Database("shop")
	must(t, err)
	s := db.NewSession(SessionOptions{})
	tree := newTree(t, s)
	for i := range 50 {
		put(t, s, tree, fmt.Sprintf("k%03d", i), strings.Repeat("v", i*37))
	}
	sys := e.System().NewSession(SessionOptions{})
	put(t, sys, newTree(t, sys), "role", "bob")
	sys.Close()
	return e, s, tree
}

func TestBackupIsWhatWasThere(t *testing.T) {
	e, s, tree := source(t, vfs.NewMem())
	defer e.Abandon()
	for range 40 {
		_, err := s.NextValue(testSequence, testSequenceSpec)
		must(t, err)
	}
	must(t, s.WaitDurable())
	other := e.byName["shop"].NewSession(SessionOptions{})
	x := other.Begin(TxOptions{}) // large and open: of its parts in the log nothing is in the backup
	for i := range 900 {
		must(t, x.Put(tree, fmt.Appendf(nil, "open%05d", i), bytes.Repeat([]byte("o"), 3000)))
	}
	want := everything(t, e)
	pieces := backUp(t, e)
	put(t, s, tree, "later", "is not in it")
	x.Rollback()
	other.Close()
	must(t, verifyPieces(pieces))
	m := vfs.NewMem()
	must(t, restoreInto(m, pieces, RestoreTarget{}))
	back := openMem(t, m)
	if got := everything(t, back); !maps.Equal(got, want) {
		t.Fatalf("%d rows restored, %d were there", len(got), len(want))
	}
	db, _ := back.Database("shop")
	r := db.NewSession(SessionOptions{})
	if v, err := r.NextValue(testSequence, testSequenceSpec); err != nil || v <= 40 {
		t.Errorf("the sequence goes on with %d, %v", v, err)
	}
	put(t, r, tree, "new", "works")
	r.Close()
	must(t, back.Abandon())
	checkFolder(t, m)
	if err := restoreInto(m, pieces, RestoreTarget{}); err == nil {
		t.Error("a folder that is not empty was restored into")
	}
}

func TestBackupOfOneDatabase(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	defer e.Abandon()
	must(t, e.CreateDatabase("other", 17001))
	pieces := backUp(t, e, "shop")
	if err := e.DropDatabase("shop"); code(err) != "55006" { // s uses it
		t.Error(err)
	}
	s.Close()
	m := vfs.NewMem()
	must(t, restoreInto(m, pieces, RestoreTarget{}))
	back := openMem(t, m)
	defer back.Abandon()
	if l := back.Databases(); len(l) != 1 || l[0].Name != "shop" {
		t.Errorf("restored %v", l)
	}
	if err := e.Backup(BackupOptions{Databases: []string{"none"}}, nil); !errors.Is(err, ErrNoDatabase) {
		t.Error(err)
	}
	if err := restoreInto(vfs.NewMem(), pieces, RestoreTarget{}, func(o *RestoreOptions) { o.Databases = []string{"none"} }); !errors.Is(err, ErrNoDatabase) {
		t.Error(err)
	}
}

func TestBackupIsStoppedAndThrottled(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	defer e.Abandon()
	stop := errors.New("stop")
	if err := e.Backup(BackupOptions{Sleep: func(time.Duration) error { return stop }}, func(BackupPiece, []byte) error { return nil }); !errors.Is(err, stop) {
		t.Error(err)
	}
	slept := time.Duration(0)
	sleep := func(d time.Duration) error {
		slept = max(slept, d)
		return nil
	}
	must(t, e.Backup(BackupOptions{Rate: 1000, Sleep: sleep}, func(BackupPiece, []byte) error { return nil }))
	if slept < 5*time.Second { // some 50 KB
		t.Errorf("the last wait was %s", slept)
	}
	s.Close()
	if err := e.DropDatabase("shop"); err != nil { // nothing holds it any more
		t.Error(err)
	}
}

// Every bit of every piece counts: a change is refused, by the verification and by a restore, which leaves no folder that opens.
func TestDamagedPiecesAreFound(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	pieces := backUp(t, e)
	s.Close()
	e.Abandon()
	r := rand.New(rand.NewSource(faultSeed()))
	flips := 0
	for i, p := range pieces {
		if p.kind != BackupState {
			continue
		}
		for range 30 {
			bad := append([]piece(nil), pieces...)
			bad[i].data = bytes.Clone(p.data)
			bad[i].data[r.Intn(len(p.data))] ^= 1 << r.Intn(8)
			if verifyPieces(bad) == nil {
				t.Fatal("a changed bit was not found")
			}
			if flips++; flips%10 == 0 {
				m := vfs.NewMem()
				if restoreInto(m, bad, RestoreTarget{}) == nil {
					t.Fatal("a changed bit was restored")
				}
				notWhole(t, m)
			}
		}
		for _, n := range []int{0, 1, len(p.data) / 2, len(p.data) - 1} {
			bad := append([]piece(nil), pieces...)
			bad[i].data = p.data[:n]
			if verifyPieces(bad) == nil {
				t.Fatalf("a piece of %d instead of %d bytes was not found", n, len(p.data))
			}
		}
	}
	for n := range pieces {
		m := vfs.NewMem()
		if verifyPieces(pieces[:n]) == nil || restoreInto(m, pieces[:n], RestoreTarget{}) == nil {
			t.Fatalf("%d of %d pieces are taken for a backup", n, len(pieces))
		}
		notWhole(t, m)
	}
}

// A verification that is stopped and stored behind each piece goes on as if it had not been.
func TestVerificationGoesOn(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	pieces := backUp(t, e)
	s.Close()
	e.Abandon()
	c := &BackupChecker{}
	for _, p := range pieces {
		must(t, c.Piece(p.kind, p.data))
		stored, err := json.Marshal(c)
		must(t, err)
		c = &BackupChecker{}
		must(t, json.Unmarshal(stored, c))
	}
	must(t, c.Finished())
	if len(c.Done) != 2 || c.Done[1].Name != "shop" || c.Done[1].Rows != 50 {
		t.Errorf("verified %+v", c.Done)
	}
}

// notWhole demands that a folder does not open.
func notWhole(t testing.TB, m vfs.FS) {
	t.Helper()
	e, err := Open(Options{FS: m, Dir: "/data", Fatal: func(error) {}})
	if err == nil {
		e.Abandon()
		t.Fatal("a folder that was restored in part opens")
	}
	if !errors.Is(err, ErrHalfRestored) {
		t.Fatal(err)
	}
}

// wholeOrNothing says what is wrong with what a restore left that ended at any moment: it is refused, or new and empty, or whole.
func wholeOrNothing(t testing.TB, m vfs.FS, want map[string]string, succeeded bool) string {
	e, err := Open(Options{FS: m, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) {}})
	if errors.Is(err, ErrHalfRestored) && !succeeded {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	defer e.Abandon()
	got := everything(t, e)
	if len(got) == 0 && !succeeded {
		return ""
	}
	if !maps.Equal(got, want) {
		return fmt.Sprintf("%d rows are there, %d were backed up", len(got), len(want))
	}
	return ""
}

func TestRestoreCrashes(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	want, pieces := everything(t, e), backUp(t, e)
	s.Close()
	e.Abandon()
	m, crashes := vfs.NewMem(), 0
	r := rand.New(rand.NewSource(faultSeed()))
	look := func(n int, l vfs.Label) {
		keeps := []int{0, 50, 100}
		if faultEffort() == 0 {
			keeps = keeps[n%3 : n%3+1]
		}
		for _, keep := range keeps {
			crashes++
			if wrong := wholeOrNothing(t, m.CrashClone(vfs.CrashOptions{Rand: r, KeepPercent: keep}), want, false); wrong != "" {
				t.Errorf("crash at sync %d (%s), keeping %d %%: %s", n, l, keep, wrong)
			}
		}
	}
	m.SetSyncHook(look)
	must(t, restoreInto(m, pieces, RestoreTarget{}))
	m.SetSyncHook(nil)
	if wrong := wholeOrNothing(t, m.CrashClone(vfs.CrashOptions{}), want, true); wrong != "" {
		t.Errorf("after the end: %s", wrong)
	}
	t.Logf("%d crashes", crashes)
}

func TestRestoreFaults(t *testing.T) {
	e, s, _ := source(t, vfs.NewMem())
	want, pieces := everything(t, e), backUp(t, e)
	s.Close()
	e.Abandon()
	count := vfs.NewFault(vfs.NewMem())
	must(t, restoreInto(count, pieces, RestoreTarget{}))
	faulty := 0
	for call, calls := range count.Calls() {
		step := 1 // all calls on demand, ordinarily two or three of each kind
		if faultEffort() == 0 {
			step = 1 + calls/2
		}
		for n := 1 + int(faultSeed())%step; n <= calls; n += step {
			for _, rule := range []vfs.Rule{{Err: syscall.EIO}, {Err: syscall.ENOSPC, Partial: 100, Sticky: true}} {
				rule.Label, rule.Op, rule.Nth = call.Label, call.Op, n
				m := vfs.NewMem()
				err := restoreInto(vfs.NewFault(m, rule), pieces, RestoreTarget{})
				faulty++
				if wrong := wholeOrNothing(t, m.CrashClone(vfs.CrashOptions{}), want, err == nil); wrong != "" {
					t.Errorf("%s %s, call %d, %v: the restore ended with %v: %s", call.Label, call.Op, n, rule.Err, err, wrong)
				}
			}
		}
	}
	t.Logf("%d faults", faulty)
}

func archived(o *Options) {
	o.ArchiveDir, o.ArchivePeriod = "/archive", time.Hour
}

// copyTree copies a folder of one file system to another.
func copyTree(t testing.TB, from, to vfs.FS, dir string) {
	t.Helper()
	names, err := from.ReadDir("test", dir)
	must(t, err)
	must(t, to.MkdirAll("test", dir))
	for _, n := range names {
		p := dir + "/" + n
		if _, err := from.ReadDir("test", p); err == nil {
			copyTree(t, from, to, p)
			continue
		}
		data, err := vfs.ReadFile(from, "test", p)
		must(t, err)
		must(t, vfs.WriteFileAtomic(to, "test", dir, p, data))
	}
}

// TestPointInTime restores to every entry of a log with all kinds of transactions, and to the times between.
func TestPointInTime(t *testing.T) {
	m := vfs.NewMem()
	e, s, tree := source(t, m, archived)
	db := s.Database()
	other := db.NewSession(SessionOptions{})
	x := other.Begin(TxOptions{}) // its parts are in the log before and after the backup
	for i := range 900 {
		must(t, x.Put(tree, fmt.Appendf(nil, "large%05d", i), bytes.Repeat([]byte("o"), 3000)))
	}
	pieces := backUp(t, e)
	type state struct {
		seq  txlog.Seq
		rows map[string]string
		at   time.Time
	}
	var states []state
	note := func() {
		time.Sleep(2 * time.Millisecond)
		states = append(states, state{db.log.Last(), contents(t, db), time.Now()})
		time.Sleep(2 * time.Millisecond)
	}
	note()
	put(t, s, tree, "k001", "changed")
	note()
	for i := range 600 {
		must(t, x.Put(tree, fmt.Appendf(nil, "more%05d", i), bytes.Repeat([]byte("p"), 3000)))
	}
	must(t, x.Commit())
	must(t, other.WaitDurable())
	note()
	must(t, db.Checkpoint())
	made := newTree(t, s)
	put(t, s, made, "in", "the new tree")
	note()
	drop := s.Begin(TxOptions{})
	must(t, drop.DropTree(made))
	must(t, drop.Commit())
	must(t, s.WaitDurable())
	note()
	put(t, s, tree, "last", "one")
	note()
	other.Close()
	s.Close()
	must(t, e.Close())
	archive := []string{"/archive"}
	for i, want := range states {
		for _, target := range []RestoreTarget{{Archives: archive, Index: want.seq, Of: "shop"}, {Archives: archive, Time: want.at}} {
			to := vfs.NewMem()
			copyTree(t, m, to, "/archive")
			if err := restoreInto(to, pieces, target); err != nil {
				t.Fatalf("state %d: %v", i, err)
			}
			back := openMem(t, to)
			shop, err := back.Database("shop")
			must(t, err)
			if got := contents(t, shop); !maps.Equal(got, want.rows) {
				t.Errorf("state %d, index %d: %d rows restored, %d were there", i, target.Index, len(got), len(want.rows))
			}
			must(t, back.Abandon())
		}
	}
	for what, target := range map[string]RestoreTarget{
		"ends at entry":     {Archives: archive, Index: 1 << 40, Of: "shop"},
		"later than that":   {Archives: archive, Index: 1, Of: "shop"},
		"was backed up at":  {Archives: archive, Time: time.Now().Add(-time.Hour)},
		"archived log goes": {Archives: archive, Time: time.Now().Add(time.Hour)},
		"does not exist":    {Archives: archive, Index: 60, Of: "none"},
	} {
		to := vfs.NewMem()
		copyTree(t, m, to, "/archive")
		if err := restoreInto(to, pieces, target); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: %v", target, err)
		}
	}
}

// TestArchiveHoldsTheLog fails the archive while checkpoints free log: nothing goes that is not archived, and what is archived once
// it works again is all there was. With a bound the log goes, and the archive says so.
func TestArchiveHoldsTheLog(t *testing.T) {
	for _, bound := range []int64{0, 4 << 20} {
		m := vfs.NewMem()
		f := vfs.NewFault(m)
		e, s, tree := source(t, f, archived, func(o *Options) { o.ArchivePeriod, o.ArchiveKeepMax = 10*time.Millisecond, bound })
		pieces := backUp(t, e)
		f.Add(vfs.Rule{Label: "log.archive", Op: vfs.OpWrite, Nth: 1, Sticky: true, Err: syscall.EIO})
		for i := range 6 {
			for j := range 16 {
				put(t, s, tree, fmt.Sprintf("a%d-%d", i, j), strings.Repeat("x", 200<<10))
			}
			must(t, s.Database().Checkpoint())
		}
		st := s.Database().Stats()
		if st.ArchiveFailures == 0 {
			t.Error("no failure was counted")
		}
		want := contents(t, s.Database())
		f.Clear()
		s.Close()
		must(t, e.Close())
		target := RestoreTarget{Archives: []string{"/archive"}}
		to := vfs.NewMem()
		copyTree(t, m, to, "/archive")
		err := restoreInto(to, pieces, target)
		if bound > 0 {
			if st.ArchiveGaps == 0 || !errors.Is(err, txlog.ErrTruncated) {
				t.Errorf("%d gaps; the restore over them ended with %v", st.ArchiveGaps, err)
			}
			continue
		}
		must(t, err)
		if st.ArchiveGaps > 0 || st.ArchiveWaiting < 12<<20 {
			t.Errorf("%d gaps, %d bytes waited", st.ArchiveGaps, st.ArchiveWaiting)
		}
		back := openMem(t, to)
		db, err := back.Database("shop")
		must(t, err)
		if got := contents(t, db); !maps.Equal(got, want) {
			t.Errorf("%d rows restored, %d were there", len(got), len(want))
		}
		must(t, back.Abandon())
	}
}

// TestDamagedArchiveIsFound flips bits of archived segments: a restore fails, and does not end earlier.
func TestDamagedArchiveIsFound(t *testing.T) {
	m := vfs.NewMem()
	e, s, tree := source(t, m, archived)
	pieces := backUp(t, e)
	for i := range 25 {
		put(t, s, tree, fmt.Sprintf("a%d", i), strings.Repeat("x", 200<<10))
	}
	id := e.identity
	s.Close()
	must(t, e.Close())
	r := rand.New(rand.NewSource(faultSeed()))
	dir := "/archive/" + id + "/17000"
	names, err := m.ReadDir("test", dir)
	must(t, err)
	tried := 0
	for _, n := range names {
		size, err := m.Stat("test", dir+"/"+n)
		must(t, err)
		for range 12 {
			to := vfs.NewMem()
			copyTree(t, m, to, "/archive")
			// The log before the backup is not read.
			bit := size*8/2 + r.Int63n(size*8/2)
			must(t, vfs.FlipBit(to, "test", dir+"/"+n, bit))
			if err := restoreInto(to, pieces, RestoreTarget{Archives: []string{"/archive"}}); err == nil && n != nameFile {
				t.Errorf("bit %d of %s is changed and the restore says nothing", bit, n)
			}
			tried++
		}
	}
	t.Logf("%d bits in %d files", tried, len(names))
}
