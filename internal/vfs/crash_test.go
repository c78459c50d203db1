package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"syscall"
	"testing"
)

func contentsOf(t *testing.T, f FS, name string) string {
	t.Helper()
	p, err := ReadFile(f, lab, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must(t, err)
	return string(p)
}

func crashes(m *Mem, keep, n int, f func(*Mem)) {
	r := rand.New(rand.NewSource(int64(keep)))
	for range n {
		f(m.CrashClone(CrashOptions{Rand: r, KeepPercent: keep}))
	}
}

// TestCrashLeavesEveryMixOfPages writes three pages twice and looks for all that a disk may hold afterwards.
func TestCrashLeavesEveryMixOfPages(t *testing.T) {
	m := NewMem()
	f := create(t, m, "/a", string(bytes.Repeat([]byte("0"), 3*pageBytes)))
	must(t, f.Sync(lab))
	must(t, m.SyncDir(lab, "/"))
	for _, s := range []string{"1", "2"} {
		_, err := f.WriteAt(lab, bytes.Repeat([]byte(s), 3*pageBytes), 0)
		must(t, err)
	}
	seen, torn := map[string]bool{}, 0
	crashes(m, 40, 2000, func(c *Mem) {
		got := contentsOf(t, c, "/a")
		pages := ""
		for p := range 3 {
			page := got[p*pageBytes : (p+1)*pageBytes]
			if page != string(bytes.Repeat([]byte(page[:1]), pageBytes)) {
				torn++
				for s := 0; s < pageBytes; s += sectorBytes {
					if page[s:s+sectorBytes] != string(bytes.Repeat([]byte(page[s:s+1]), sectorBytes)) {
						t.Fatal("a sector is torn")
					}
				}
				continue
			}
			pages += page[:1]
		}
		if len(pages) == 3 {
			seen[pages] = true
		}
	})
	if len(seen) != 27 || torn == 0 {
		t.Errorf("%d of 27 mixes of pages, %d torn ones", len(seen), torn)
	}
	if got := contentsOf(t, m.CrashClone(CrashOptions{}), "/a"); got[0] != '0' {
		t.Error("an unsynced write survived")
	}
}

// TestCrashOfSizes truncates and grows without a sync: any size in between may be found, never bytes that were cut off.
func TestCrashOfSizes(t *testing.T) {
	m := NewMem()
	f := create(t, m, "/a", "abcdefgh")
	must(t, f.Sync(lab))
	must(t, m.SyncDir(lab, "/"))
	must(t, f.Truncate(lab, 2))
	must(t, f.Truncate(lab, 6))
	_, err := f.WriteAt(lab, []byte("xy"), 9)
	must(t, err)
	if got := contentsOf(t, m, "/a"); got != "ab\x00\x00\x00\x00\x00\x00\x00xy" {
		t.Fatalf("contents %q", got)
	}
	sizes := map[int]bool{}
	crashes(m, 50, 300, func(c *Mem) {
		got := contentsOf(t, c, "/a")
		sizes[len(got)] = true
		for i := range got {
			if b := got[i]; b != 0 && (i >= 8 || b != "abcdefgh"[i]) && (i < 9 || b != "xy"[i-9]) {
				t.Fatalf("byte %d of %q is none that was written there", i, got)
			}
		}
	})
	if fmt.Sprint(sizes) != "map[2:true 6:true 8:true 11:true]" {
		t.Errorf("sizes %v", sizes)
	}
	if got := contentsOf(t, m.CrashClone(CrashOptions{}), "/a"); got != "abcdefgh" {
		t.Errorf("synced contents are lost: %q", got)
	}
}

// TestCrashOfNames renames over a file, removes one and makes one: each change is done or not.
func TestCrashOfNames(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll(lab, "/d"))
	for name, s := range map[string]string{"/d/old": "old", "/d/gone": "gone"} {
		must(t, create(t, m, name, s).Sync(lab))
	}
	must(t, m.SyncDir(lab, "/d"))
	must(t, m.SyncDir(lab, "/"))
	must(t, create(t, m, "/d/tmp", "new").Sync(lab))
	must(t, m.Rename(lab, "/d/tmp", "/d/old"))
	must(t, m.Remove(lab, "/d/gone"))
	must(t, create(t, m, "/d/made", "made").Sync(lab))
	state := func(c *Mem) string {
		return contentsOf(t, c, "/d/old") + " " + contentsOf(t, c, "/d/tmp") + " " + contentsOf(t, c, "/d/gone") + " " + contentsOf(t, c, "/d/made")
	}
	if got := state(m); got != "new - - made" {
		t.Fatal(got)
	}
	seen := map[string]bool{}
	crashes(m, 50, 400, func(c *Mem) { seen[state(c)] = true })
	for _, want := range []string{"old - gone -", "old new gone -", "new - gone -", "new - - -", "new - - made", "old - - -", "old - gone made"} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
	for s := range seen {
		if s[:3] != "old" && s[:3] != "new" || s[:5] == "new n" {
			t.Errorf("a rename is half done: %s", s)
		}
	}
	if got := state(m.CrashClone(CrashOptions{})); got != "old - gone -" {
		t.Errorf("without anything unsynced: %s", got)
	}
	if got := state(m.CrashClone(CrashOptions{Rand: rand.New(rand.NewSource(1)), KeepPercent: 100})); got != "new - - made" {
		t.Errorf("with all that is unsynced: %s", got)
	}
}

// TestCrashOfARenamedFolder finds the folder with its contents under the one name or the other.
func TestCrashOfARenamedFolder(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll(lab, "/d/x"))
	must(t, create(t, m, "/d/x/f", "data").Sync(lab))
	for _, d := range []string{"/", "/d", "/d/x"} {
		must(t, m.SyncDir(lab, d))
	}
	must(t, m.Rename(lab, "/d/x", "/d/y"))
	for range 20 {
		crashes(m, 50, 20, func(c *Mem) {
			if x, y := contentsOf(t, c, "/d/x/f"), contentsOf(t, c, "/d/y/f"); x+y != "data-" && x+y != "-data" {
				t.Fatalf("x %q, y %q", x, y)
			}
		})
	}
	if got := contentsOf(t, m.CrashClone(CrashOptions{}), "/d/x/f"); got != "data" {
		t.Fatalf("got %q", got)
	}
}

func TestFaultDamagesReadsAndWrites(t *testing.T) {
	f := NewFault(NewMem(), Rule{Label: "r", Op: OpRead, Nth: 2, Bit: 9}, Rule{Label: "r", Op: OpRead, Nth: 3, Partial: 3, Err: syscall.EIO},
		Rule{Label: "w", Op: OpWrite, Nth: 2, Bit: 0})
	file, err := f.Create(lab, "/a")
	must(t, err)
	_, err = file.WriteAt("w", []byte("abcd"), 0)
	must(t, err)
	p := make([]byte, 4)
	read := func(want string, n int, fails error) {
		t.Helper()
		clear(p)
		got, err := file.ReadAt("r", p, 0)
		if got != n || !errors.Is(err, fails) || string(p[:got]) != want {
			t.Fatalf("read %d bytes %q: %v", got, p[:got], err)
		}
	}
	read("abcd", 4, nil)
	read("a`cd", 4, nil)
	read("abc", 3, syscall.EIO)
	_, err = file.WriteAt("w", []byte("bbbb"), 0)
	must(t, err)
	read("cbbb", 4, nil)
	must(t, FlipBit(f, "test", "/a", 1))
	read("abbb", 4, nil)
	if f.Fired() != 3 {
		t.Fatalf("%d rules fired", f.Fired())
	}
}

func TestSpaceComesBack(t *testing.T) {
	m := NewMem()
	m.SetSpace(10)
	f := create(t, m, "/a", "12345678")
	if n, err := f.WriteAt(lab, []byte("abcd"), 7); n != 1 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("wrote %d: %v", n, err)
	}
	must(t, f.Truncate(lab, 4))
	_, err := f.WriteAt(lab, []byte("123456"), 4)
	must(t, err)
	must(t, m.Remove(lab, "/a"))
	if free, _ := m.FreeBytes("/"); free != 10 {
		t.Fatalf("%d bytes are free", free)
	}
}
