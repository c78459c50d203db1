package engine

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// rewrite replaces a file by what change makes of it.
func rewrite(t *testing.T, m *vfs.Mem, name string, change func(p []byte) []byte) {
	t.Helper()
	p, err := vfs.ReadFile(m, "test", name)
	must(t, err)
	must(t, m.Remove("test", name))
	f, err := m.Create("test", name)
	must(t, err)
	_, err = f.WriteAt("test", change(p), 0)
	must(t, err)
	must(t, f.Sync("test"))
	must(t, f.Close())
}

// sealed puts a CRC32C of all before it into the last four bytes of p.
func sealed(p []byte) []byte {
	binary.LittleEndian.PutUint32(p[len(p)-4:], crc32.Checksum(p[:len(p)-4], crc32.MakeTable(crc32.Castagnoli)))
	return p
}

// TestNewerFormatsAreRefused writes a whole file of a later format in place of each kind of file: the start and the check say so, and
// name it.
func TestNewerFormatsAreRefused(t *testing.T) {
	fresh := func() *vfs.Mem {
		m := vfs.NewMem()
		e := openMem(t, m, small)
		s := e.System().NewSession(SessionOptions{})
		put(t, s, newTree(t, s), "a", "b")
		s.Close()
		must(t, e.Close())
		return m
	}
	for _, c := range []struct {
		part   string // of the file's name
		what   string
		change func(p []byte) []byte
	}{
		{formatFile, "format 9", func([]byte) []byte { return []byte("herd 9\n") }},
		{"/" + nameFile, "format 2", func(p []byte) []byte {
			p[7] = '2'
			binary.LittleEndian.PutUint32(p[len(p)-4:], crc32.ChecksumIEEE(p[:len(p)-4]))
			return p
		}},
		{"/manifest", "format 2", func(p []byte) []byte { p[8] = 2; return sealed(p) }},
		{".seg", "format 2", func(p []byte) []byte { p[7] = '2'; sealed(p[:16]); return p }},
		{".log", "log format 2", func(p []byte) []byte { p[4] = 2; sealed(p[:64]); return p }},
	} {
		t.Run(strings.Trim(c.part, "/."), func(t *testing.T) {
			m := fresh()
			hit := ""
			for _, name := range filesBelow(t, m, "/data") {
				if strings.Contains(name, c.part) && hit == "" {
					hit = name
					rewrite(t, m, name, c.change)
				}
			}
			if hit == "" {
				t.Fatal("there is no such file")
			}
			_, err := Open(Options{FS: m, Dir: "/data", CheckpointPeriod: -1})
			if err == nil || !errors.Is(err, ErrNewerFormat) && !errors.Is(err, storage.ErrNewerFormat) && !errors.Is(err, txlog.ErrNewerFormat) {
				t.Fatalf("the start says %v", err)
			}
			if !strings.Contains(err.Error(), c.what) || !strings.Contains(err.Error(), "newer version of herd") || !strings.Contains(err.Error(), "/data") {
				t.Errorf("the start says %v", err)
			}
			if found := checked(m, small); !strings.Contains(found, "newer version of herd") {
				t.Errorf("the check says %q", found)
			}
		})
	}
}

// TestUpgrade takes a folder of format 2 over, once, and refuses formats that it does not know.
func TestUpgrade(t *testing.T) {
	m := vfs.NewMem()
	e := openMem(t, m, small)
	s := e.System().NewSession(SessionOptions{})
	tr := newTree(t, s)
	put(t, s, tr, "a", "b")
	if _, _, err := Upgrade(CheckOptions{FS: m, Dir: "/data"}); !errors.Is(err, ErrInUse) {
		t.Errorf("of a folder in use: %v", err)
	}
	s.Close()
	must(t, e.Close())
	rewrite(t, m, "/data/"+formatFile, func([]byte) []byte { return []byte("herd 2\n") })
	for _, want := range []int{2, folderFormat} {
		from, to, err := Upgrade(CheckOptions{FS: m, Dir: "/data"})
		if from != want || to != folderFormat || err != nil {
			t.Fatalf("from %d to %d, %v; want from %d", from, to, err, want)
		}
		m = m.CrashClone(vfs.CrashOptions{}) // what is not on disk is gone
	}
	e = openMem(t, m, small)
	s = e.System().NewSession(SessionOptions{})
	if got := get(t, s, tr, "a"); got != "b" {
		t.Errorf("afterwards: %q", got)
	}
	s.Close()
	must(t, e.Close())
	for content, want := range map[string]error{"herd 1\n": ErrOlderFormat, "herd 99\n": ErrNewerFormat, "other\n": ErrNotHerd} {
		rewrite(t, m, "/data/"+formatFile, func([]byte) []byte { return []byte(content) })
		if _, _, err := Upgrade(CheckOptions{FS: m, Dir: "/data"}); !errors.Is(err, want) {
			t.Errorf("of %q: %v", content, err)
		}
	}
	if _, _, err := Upgrade(CheckOptions{FS: vfs.NewMem(), Dir: "/other"}); !errors.Is(err, ErrNotHerd) {
		t.Errorf("of no folder: %v", err)
	}
}
