package engine

import (
	"bytes"
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

// laterMeta changes the version of what the engine keeps in the manifest.
func laterMeta(p []byte) []byte {
	m, err := storage.DecodeManifest(p)
	if err != nil {
		panic(err)
	}
	m.Meta.Opaque[0] = 9
	return storage.EncodeManifest(m)
}

// laterFrame changes the format of the first block of a segment.
func laterFrame(p []byte) []byte {
	const at, header = 16, 24
	le := binary.LittleEndian
	f := p[at : at+header+int(le.Uint16(p[at+6:]))+int(le.Uint32(p[at+12:]))]
	f[3] = 2
	table := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(crc32.Checksum(f[:20], table), table, le.AppendUint32(nil, at))
	le.PutUint32(f[20:], crc32.Update(crc, table, f[header:]))
	return p
}

// laterGroup changes the format of the last group of a log.
func laterGroup(p []byte) []byte {
	const header = 56
	le := binary.LittleEndian
	at := bytes.LastIndex(p, p[64:72]) // magic, version, length of the header
	g := p[at : at+header+int(le.Uint32(p[at+40:]))]
	g[4] = 2
	le.PutUint32(g[48:], 0)
	le.PutUint32(g[48:], crc32.Checksum(g, crc32.MakeTable(crc32.Castagnoli)))
	return p
}

// TestNewerFormatsAreRefused writes a whole file of a later format in place of each kind of file: the start and the check say so, and
// name it.
func TestNewerFormatsAreRefused(t *testing.T) {
	fresh := func() *vfs.Mem {
		m := vfs.NewMem()
		e := openMem(t, m, small)
		s := e.System().NewSession(SessionOptions{})
		tr := newTree(t, s)
		put(t, s, tr, "a", "b")
		must(t, e.System().Checkpoint())
		put(t, s, tr, "c", "d")
		s.Close()
		must(t, e.Abandon()) // so that there is something to replay
		return m
	}
	for _, c := range []struct {
		part   string // of the file's name
		what   string
		change func(p []byte) []byte
		lazy   bool // the start does not read it
	}{
		{formatFile, "format 9", func([]byte) []byte { return []byte("herd 9\n") }, false},
		{"/" + nameFile, "format 2", func(p []byte) []byte {
			p[7] = '2'
			binary.LittleEndian.PutUint32(p[len(p)-4:], crc32.ChecksumIEEE(p[:len(p)-4]))
			return p
		}, false},
		{"/manifest", "format 2", func(p []byte) []byte { p[8] = 2; return sealed(p) }, false},
		{"/manifest", "meta version 9", laterMeta, false},
		{".seg", "format 2", func(p []byte) []byte { p[7] = '2'; sealed(p[:16]); return p }, false},
		{".seg", "format 2", laterFrame, true},
		{".log", "log format 2", func(p []byte) []byte { p[4] = 2; sealed(p[:64]); return p }, false},
		{".log", "a group of log format 2", laterGroup, false},
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
			if found := checked(m, small); !strings.Contains(found, "newer version of herd") {
				t.Errorf("the check says %q", found)
			}
			if c.lazy {
				return
			}
			_, err := Open(Options{FS: m, Dir: "/data", CheckpointPeriod: -1})
			if err == nil || !errors.Is(err, ErrNewerFormat) && !errors.Is(err, storage.ErrNewerFormat) && !errors.Is(err, txlog.ErrNewerFormat) {
				t.Fatalf("the start says %v", err)
			}
			if !strings.Contains(err.Error(), c.what) || !strings.Contains(err.Error(), "newer version of herd") || !strings.Contains(err.Error(), "/data") {
				t.Errorf("the start says %v", err)
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
