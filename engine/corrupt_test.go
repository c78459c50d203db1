package engine

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
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
