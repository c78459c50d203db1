package peer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ProcessorTime returns the processor time that a process and its threads have used. It counts on a busy machine too.
func ProcessorTime(pid int) (total time.Duration, err error) {
	const (
		tick         = time.Second / 100 // of every Linux that Go runs on
		user, system = 11, 12            // fields behind the name
	)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything but that
	f := strings.Fields(rest)
	if len(f) <= system {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields behind the name", pid, len(f))
	}
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// Resident returns the bytes of a process that are in memory.
func Resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%d/statm has no second field", pid)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
