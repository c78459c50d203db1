package mem

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	hugePage = 2 << 20
	// hugeLeast is the memory limit, in bytes, from which huge pages are worth what they round up.
	hugeLeast = 512 << 20
)

// PreferHugePages asks the kernel to back the heap with huge pages, up to n bytes of it: memory that is touched for the first
// time then costs a fault in 2 MiB and not in 4 KiB, and look-ups miss the translation buffer less often. Go's runtime does
// not ask for them, and a kernel that is set to "madvise" gives them to nobody else. Call it once, when the program starts: the
// heap takes its lowest addresses first, so what is reserved, marked and freed here is where it grows. Nothing of it is in
// memory before the heap uses it. The error says why the heap stays with small pages; nothing else is wrong then.
func PreferHugePages(n int64) error {
	if n < hugeLeast {
		return fmt.Errorf("a memory limit of %d bytes is less than %d", n, hugeLeast)
	}
	if int64(int(n)) != n {
		return fmt.Errorf("%d bytes are more than addresses reach", n)
	}
	if err := mayReserve(n); err != nil {
		return err
	}
	// A Builder's memory is not cleared. That of a slice is, all of it, when any of its addresses was in use before.
	var area strings.Builder
	area.Grow(int(n))
	area.WriteByte(0)
	b := unsafe.Slice(unsafe.StringData(area.String()), n)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-at % hugePage)
	err := unix.Madvise(b[skip:skip+(len(b)-skip)&^(hugePage-1)], unix.MADV_HUGEPAGE)
	runtime.KeepAlive(b)
	b = nil
	area.Reset()
	debug.FreeOSMemory() // Go takes it for memory in use until it is given back
	if err != nil {
		return fmt.Errorf("ask for huge pages: %w", err)
	}
	return nil
}

// mayReserve tells whether n bytes of address space that are not used cost nothing: where they do, Go would stop the program.
func mayReserve(n int64) error {
	for _, r := range []struct {
		name     string
		resource int
	}{{"RLIMIT_AS", unix.RLIMIT_AS}, {"RLIMIT_DATA", unix.RLIMIT_DATA}} {
		var l unix.Rlimit
		if err := unix.Getrlimit(r.resource, &l); err != nil {
			return fmt.Errorf("read %s: %w", r.name, err)
		}
		if l.Cur != unix.RLIM_INFINITY {
			return fmt.Errorf("%s limits the address space", r.name)
		}
	}
	const file, strict = "/proc/sys/vm/overcommit_memory", "2"
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(bytes.TrimSpace(text)) == strict {
		return fmt.Errorf("%s is %s: memory is reserved strictly", file, strict)
	}
	const rounding = 128 << 20 // Go takes whole arenas
	probe, err := unix.Mmap(-1, 0, int(n)+rounding, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("reserve %d bytes of addresses: %w", n, err)
	}
	return unix.Munmap(probe)
}
