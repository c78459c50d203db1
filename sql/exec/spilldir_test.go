package exec

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"herd/internal/vfs"
)

// Old spill files go at start; those of running processes and files of others stay.
func TestPrepareSpill(t *testing.T) {
	fsys := vfs.NewMem()
	const dir = "/spill"
	if err := PrepareSpill(fsys, dir); err != nil {
		t.Fatal(err)
	}
	stay := []string{fmt.Sprintf("herd-spill-%d-1", os.Getppid()), "herd-spill-x-1", "letters"}
	for _, n := range append([]string{"herd-spill-4194305-9", fmt.Sprintf("herd-spill-%d-77", os.Getpid())}, stay...) { // no process has a number that high
		f, err := fsys.Create(labelSpill, dir+"/"+n)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if err := PrepareSpill(fsys, dir); err != nil {
		t.Fatal(err)
	}
	got, err := fsys.ReadDir(labelSpill, dir)
	slices.Sort(stay)
	if err != nil || !slices.Equal(got, stay) {
		t.Errorf("%v are left, expected %v (%v)", got, stay, err)
	}
}
