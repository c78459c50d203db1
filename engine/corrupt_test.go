package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herd/internal/vfs"
	"herd/storage"
)

// TestManifestFileDamage flips every bit of the manifest's file of the real file system: it is refused, or read as it
// was written; never as another one or as none.
func TestManifestFileDamage(t *testing.T) {
	dir := t.TempDir()
	m, err := openManifests(vfs.OS, dir)
	must(t, err)
	var want string
	for i := range 3 {
		man := storage.Manifest{Seq: storage.Seq(i + 7), NextSegment: uint32(i), Meta: storage.Meta{LogPosition: 99, Opaque: []byte("state")}}
		for k := range 40 {
			man.Roots = append(man.Roots, storage.RootEntry{Tree: storage.TreeID(k), Addr: uint64(k), Size: 1, Rows: int64(k)})
		}
		must(t, m.SwitchManifest(man))
		want = fmt.Sprint(man)
	}
	name := filepath.Join(dir, "manifest")
	good, err := os.ReadFile(name)
	must(t, err)
	refused, harmless := 0, 0
	step := 7
	if faultEffort() > 0 {
		step = 1
	}
	r := rand.New(rand.NewSource(faultSeed()))
	for at := r.Intn(step); at < len(good); at += step {
		p := append([]byte(nil), good...)
		p[at] ^= 1 << r.Intn(8)
		must(t, os.WriteFile(name, p, 0o600))
		got, ok, err := loadOnce(dir)
		switch {
		case err != nil:
			refused++
		case !ok || fmt.Sprint(got) != want:
			t.Errorf("byte %d: manifest %v %v", at, ok, got)
		default:
			harmless++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	t.Logf("%d bytes: %d flips refused, %d harmless", len(good), refused, harmless)
}

func loadOnce(dir string) (storage.Manifest, bool, error) {
	m, err := openManifests(vfs.OS, dir)
	if err != nil {
		return storage.Manifest{}, false, err
	}
	return m.LoadManifest()
}

// filesBelow returns all files of a folder of m.
func filesBelow(t *testing.T, m *vfs.Mem, dir string) (files []string) {
	t.Helper()
	names, err := m.ReadDir("test", dir)
	must(t, err)
	for _, n := range names {
		p := filepath.Join(dir, n)
		if _, err := m.ReadDir("test", p); err == nil {
			files = append(files, filesBelow(t, m, p)...)
		} else {
			files = append(files, p)
		}
	}
	return files
}

// TestDamageAnywhere flips bits in every file of a folder. Each flip is reported by the check, with the file, or has no
// effect; the start either refuses, naming a file, or reads give what was written or say that they cannot.
func TestDamageAnywhere(t *testing.T) {
	for _, clean := range []bool{true, false} {
		t.Run(fmt.Sprintf("clean=%v", clean), func(t *testing.T) {
			m := vfs.NewMem()
			w, err := begin(t, m, faultSeed()+1, 1, small)
			must(t, err)
			k := w.workers[0]
			for _, step := range strings.Fields("tree tree load merge large large number checkpoint update load update large") {
				must(t, k.do(step))
			}
			if clean {
				k.s.Close()
				must(t, w.e.Close())
			} else {
				w.end()
			}
			states := append(k.past, k.have)
			flips := 12
			if n := faultEffort(); n > 0 {
				flips = 400 * n
			}
			r := rand.New(rand.NewSource(faultSeed()))
			found, refused, cases := 0, 0, 0
			for _, name := range filesBelow(t, m, "/data") {
				size, err := m.Stat("test", name)
				must(t, err)
				for i := 0; i < flips && size > 0; i++ {
					at := r.Int63n(size)
					if i%2 == 0 && strings.HasSuffix(name, ".log") {
						at = r.Int63n(min(size, 1<<20)) // where the entries are
					}
					c := m.CrashClone(vfs.CrashOptions{})
					must(t, vfs.FlipBit(c, "test", name, at*8+r.Int63n(8)))
					reported, stopped, wrong := damaged(c, states)
					if wrong != "" {
						t.Errorf("byte %d of %s: %s", at, name, wrong)
					}
					cases++
					if reported {
						found++
					}
					if stopped {
						refused++
					}
				}
			}
			t.Logf("%d flips, %d reported by the check, %d starts refused", cases, found, refused)
			if found == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// damaged looks at a folder with one flipped bit.
func damaged(m *vfs.Mem, states []rows) (reported, stopped bool, wrong string) {
	found := checked(m.CrashClone(vfs.CrashOptions{}), small)
	reported = found != ""
	if reported && !strings.Contains(found, "/data") && !strings.Contains(found, formatFile) {
		return true, false, "the check does not say where: " + found
	}
	o := Options{FS: m, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) {}}
	small(&o)
	e, err := Open(o)
	if err != nil {
		if !strings.Contains(err.Error(), "/data") {
			wrong = fmt.Sprintf("the start does not say what is damaged: %v", err)
		} else if !reported {
			wrong = fmt.Sprintf("the start finds what the check does not: %v", err)
		}
		return reported, true, wrong
	}
	defer func() { _ = e.Abandon() }()
	want := states[len(states)-1]
	all, err := readRows(e)
	if err != nil {
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "/data/db/0/data/") {
			wrong = fmt.Sprintf("a read says %v", err)
		} else if !reported {
			wrong = fmt.Sprintf("a read finds what the check does not: %v", err)
		}
		return reported, false, wrong
	}
	got := all.of(0)
	if maps.Equal(got, want) || len(states) > 1 && maps.Equal(got, states[len(states)-2]) { // a damaged last group is a torn one
		return reported, false, ""
	}
	return reported, false, "reads find " + diff(got, want)
}

// TestDamageStaysInItsTable damages one table's block, a leaf or an inner node: the others are read and written, the
// damaged one says what is wrong and can be dropped, and checkpoints go on.
func TestDamageStaysInItsTable(t *testing.T) {
	for level := range uint8(2) {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) { damageOneTable(t, level) })
	}
}

func damageOneTable(t *testing.T, level uint8) {
	m := vfs.NewMem()
	e := openMem(t, m, small)
	s := e.System().NewSession(SessionOptions{})
	good, bad := newTree(t, s), newTree(t, s)
	for i := range 200 {
		put(t, s, good, fmt.Sprint(i), strings.Repeat("good ", 20))
		put(t, s, bad, fmt.Sprint(i), strings.Repeat("bad ", 20))
	}
	s.Close()
	must(t, e.Close())
	hit := 0
	for _, name := range filesBelow(t, m, "/data/db/0/data") {
		must(t, storage.DumpSegment(m, name, func(f storage.FrameInfo) error {
			if f.Tree == bad && f.Level == level && hit == 0 {
				hit++
				return vfs.FlipBit(m, "test", name, (f.Offset+int64(f.Length)/2)*8)
			}
			return nil
		}))
	}
	if hit != 1 {
		t.Fatalf("%d blocks damaged", hit)
	}
	e = openMem(t, m, small)
	s = e.System().NewSession(SessionOptions{})
	fails := 0
	for i := range 200 {
		if got := get(t, s, good, fmt.Sprint(i)); got != strings.Repeat("good ", 20) {
			t.Fatalf("row %d of the good table: %q", i, got)
		}
		tx := s.Begin(TxOptions{})
		val, _, err := tx.BeginStatement().Get(bad, []byte(fmt.Sprint(i)))
		switch {
		case err == nil && string(val) != strings.Repeat("bad ", 20):
			t.Fatalf("row %d of the damaged table: %q", i, val)
		case err != nil && (!errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "/data/db/0/data/")):
			t.Fatal(err)
		case err != nil:
			fails++
			must(t, tx.Put(bad, []byte(fmt.Sprint(i)), []byte("new")))
			if err := tx.Commit(); code(err) != "XX001" {
				t.Fatalf("an update of the damaged block: %v", err)
			}
		}
		tx.Rollback()
	}
	if fails == 0 || level == 0 && fails == 200 {
		t.Fatalf("%d of 200 rows cannot be read", fails)
	}
	put(t, s, good, "more", "rows")
	must(t, e.System().Checkpoint())
	tx := s.Begin(TxOptions{})
	must(t, tx.DropTree(bad))
	must(t, tx.Commit())
	must(t, s.WaitDurable())
	must(t, e.System().Checkpoint())
	for range 3 { // the cleaner meets the damaged frame
		_ = e.System().maintain()
		put(t, s, good, "more", "rows")
		must(t, e.System().Checkpoint())
	}
	s.Close()
	must(t, e.Close())
	checkFolder(t, m)
}
