package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// diskBlock is what a read of one leaf asks of the device: 8 KiB that begin anywhere lie in three of its pages.
const diskBlock = 12 << 10

// dataFiles returns the files of the database's blocks.
func (b *bench) dataFiles() (files []string, err error) {
	err = filepath.WalkDir(filepath.Join(b.h.Dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		if errors.Is(err, os.ErrNotExist) { // the server removes files meanwhile
			return nil
		}
		return err
	})
	return files, err
}

// dropCache has the system forget what it keeps of the data files in memory, so that reads go to the disk: the limit is
// the server's, the machine may have memory for all of the data.
func (b *bench) dropCache() error {
	files, err := b.dataFiles()
	if err != nil {
		return err
	}
	for _, name := range files {
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		const dontNeed = 4
		err = f.Sync() // what is not written yet cannot be forgotten
		if _, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); e != 0 {
			err = errors.Join(err, e)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("drop %s from the page cache: %w", name, err)
		}
	}
	return nil
}

// diskRate measures random direct reads of the data files by as many readers as there are clients, in reads a second.
func (b *bench) diskRate(readers int, length time.Duration) (float64, error) {
	names, err := b.dataFiles()
	if err != nil {
		return 0, err
	}
	var fds []int
	var sizes []int64
	defer func() {
		for _, fd := range fds {
			_ = syscall.Close(fd) // was only read
		}
	}()
	for _, name := range names {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_DIRECT, 0)
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("open %s for direct reads: %w", name, err)
		}
		fds = append(fds, fd)
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return 0, err
		}
		sizes = append(sizes, st.Size)
	}
	return readAtRandom(fds, sizes, readers, length)
}

// readAtRandom reads blocks at random places of the files, each file as often as its size says.
func readAtRandom(fds []int, sizes []int64, readers int, length time.Duration) (float64, error) {
	const page = 4096
	total := int64(0)
	for _, n := range sizes {
		total += max(0, n-diskBlock)
	}
	if total == 0 {
		return 0, errors.New("no data file is large enough for direct reads")
	}
	var reads atomic.Int64
	errs := make([]error, readers)
	begin := time.Now()
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			buf, err := syscall.Mmap(-1, 0, diskBlock, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE) // on a page's border
			if err != nil {
				errs[i] = err
				return
			}
			defer func() { errs[i] = errors.Join(errs[i], syscall.Munmap(buf)) }()
			for time.Since(begin) < length && errs[i] == nil {
				k, at := 0, rand.Int64N(total)
				for n := max(0, sizes[0]-diskBlock); at >= n; n = max(0, sizes[k]-diskBlock) {
					at -= n
					k++
				}
				_, errs[i] = syscall.Pread(fds[k], buf, at/page*page)
				reads.Add(1)
			}
		})
	}
	all.Wait()
	return float64(reads.Load()) / time.Since(begin).Seconds(), errors.Join(errs...)
}

// readFromDisk reads rows while the system has none of their blocks in memory, beside direct reads of the same files by as
// many readers, right before and after.
func (b *bench) readFromDisk(ctx context.Context) (int64, string, error) {
	const probe = 4 * time.Second
	if err := b.dropCache(); err != nil {
		return 0, "", err
	}
	before, err := b.diskRate(b.o.clients, probe)
	if err != nil {
		return 0, "", err
	}
	begin := time.Now()
	ops, note, err := b.points(readRow, b.uniform)(ctx)
	rate := float64(ops) / time.Since(begin).Seconds()
	if err != nil {
		return ops, note, err
	}
	after, err := b.diskRate(b.o.clients, probe)
	disk := (before + after) / 2
	return ops, fmt.Sprintf("%s; %.0f a second, direct reads of %d KiB %.0f and %.0f a second: the disk's rate is %.2f of ours",
		note, rate, diskBlock>>10, before, after, disk/rate), err
}
