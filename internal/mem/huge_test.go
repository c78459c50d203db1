package mem

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// What the heap takes after PreferHugePages lies where huge pages may be, and reserving has put nothing into memory. It is tried
// in a process of its own: the heap of this one has grown already.
func TestPreferHugePages(t *testing.T) {
	const child = "HERD_TEST_HUGE"
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestPreferHugePages$", "-test.v")
		c.Env = append(os.Environ(), child+"=1")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if s := string(out); strings.Contains(s, "small pages:") {
			t.Skip(s)
		}
		return
	}
	used := make([]byte, 48<<20) // and freed: the heap has addresses that were in use
	clear(used)
	runtime.KeepAlive(used)
	used = nil
	runtime.GC()
	if err := PreferHugePages(1 << 30); err != nil {
		t.Skip("small pages:", err)
	}
	if rss := resident(t); rss > 64<<20 {
		t.Errorf("%d bytes are in memory after a reservation", rss)
	}
	if peak := peakResident(t); peak > 256<<20 {
		t.Errorf("%d bytes were in memory during a reservation", peak)
	}
	b := make([]byte, 64<<20)
	at := uint64(uintptr(unsafe.Pointer(&b[len(b)/2])))
	if !advised(t, at) {
		t.Error("the heap grew elsewhere")
	}
	runtime.KeepAlive(b)
}

func TestPreferHugePagesForALittle(t *testing.T) {
	if err := PreferHugePages(hugeLeast - 1); err == nil {
		t.Error("a small heap was given huge pages")
	}
}

func resident(t *testing.T) (bytes int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// advised tells whether the mapping that holds at was marked for huge pages.
func advised(t *testing.T, at uint64) bool {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range bytes.Lines(text) {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(string(line), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= at && at < hi
		}
		if flags, ok := strings.CutPrefix(string(line), "VmFlags:"); ok && inside {
			return strings.Contains(flags, " hg")
		}
	}
	return false
}

// peakResident returns the most bytes that were in memory so far.
func peakResident(t *testing.T) (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); n == 1 {
			return bytes << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}
