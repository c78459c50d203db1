package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"herd/conf"
	"herd/internal/mem"
)

// memoryLimit returns the bytes that the process may use: the setting, or three quarters of the container's or machine's memory.
func memoryLimit(setting int64) (int64, error) {
	if setting > 0 {
		return setting, nil
	}
	total, err := machineMemory()
	if err != nil {
		return 0, fmt.Errorf("find the size of memory (server.memory.max.limit sets it): %w", err)
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// "max" means no limit, and so does a number larger than the machine.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			total = min(total, n)
		}
	}
	return total / 4 * 3, nil
}

// preferHugePages lets the heap have huge pages, up to the memory limit, where that is wanted and possible. Call it once, before
// there is a heap to speak of.
func preferHugePages(c *conf.Config, logger *slog.Logger) {
	if c.HugePages == "off" {
		return
	}
	limit, err := memoryLimit(c.MemoryMaxBytes)
	total, merr := machineMemory()
	if err = cmp.Or(err, merr); err == nil {
		const small = 256 << 20                            // of the machine: stays with small pages
		err = mem.PreferHugePages(min(limit, total-small)) // a kernel refuses to reserve more than there is
	}
	if err != nil {
		logger.Debug("no huge pages", "reason", err)
	}
}

func machineMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no MemTotal in /proc/meminfo")
}

// accountedLimit returns how much of the process's limit may be accounted. The rest is the program itself, the collector's
// slack and what is not accounted.
func accountedLimit(limit int64) int64 {
	const (
		share   = 0.6
		program = 32 << 20 // its pages that get into memory, about
	)
	return int64(share * float64(limit-min(program, limit/4)))
}

// mappedBytes returns the bytes of mapped files in memory: mostly pages of the program, which Go's own limit leaves out.
func mappedBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
