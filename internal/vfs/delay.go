package vfs

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Disk describes a simulated device. Zero fields cost nothing.
type Disk struct {
	// Sync is added to every fsync.
	Sync time.Duration
	// Seek is the time to move the arm and wait for the sector: once a flush, once a read that does not continue the
	// previous one.
	Seek time.Duration
	// BytesPerSecond is the sequential bandwidth.
	BytesPerSecond int64
}

// HDD is a 7,200 rpm hard disk: 8 ms seek and 4.2 ms half a turn, 150 MB/s.
var HDD = Disk{Seek: 12200 * time.Microsecond, BytesPerSecond: 150 << 20}

// Delay is a file system on a slower device: one arm for reads and flushes when Seek or BytesPerSecond is set.
type Delay struct {
	FS
	disk Disk
	sync atomic.Int64 // nanoseconds, changeable while running

	arm  sync.Mutex // one request at a time
	file File       // under arm: where the arm stands
	pos  int64
}

// NewDelay returns base with the timing of d.
func NewDelay(base FS, d Disk) *Delay {
	f := &Delay{FS: base, disk: d}
	f.sync.Store(int64(d.Sync))
	return f
}

// SetSync changes the time added to every fsync.
func (d *Delay) SetSync(t time.Duration) { d.sync.Store(int64(t)) }

// RealFiles implements Truer. It is false also over the operating system: what opens paths itself would not be slow.
func (d *Delay) RealFiles() bool { return false }

func (d *Delay) wrap(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &delayFile{File: f, d: d}, nil
}

// Create implements FS.
func (d *Delay) Create(l Label, name string) (File, error) { return d.wrap(d.FS.Create(l, name)) }

// Open implements FS.
func (d *Delay) Open(l Label, name string) (File, error) { return d.wrap(d.FS.Open(l, name)) }

// OpenRead implements FS.
func (d *Delay) OpenRead(l Label, name string) (File, error) { return d.wrap(d.FS.OpenRead(l, name)) }

// SyncDir implements FS.
func (d *Delay) SyncDir(l Label, dir string) error {
	d.pause(nil, 0, 0, true)
	return d.FS.SyncDir(l, dir)
}

// Lock implements FS.
func (d *Delay) Lock(l Label, name string) (io.Closer, error) { return d.FS.Lock(l, name) }

// pause waits for one request of n bytes at off of f.
func (d *Delay) pause(f File, off, n int64, flush bool) {
	if flush {
		if t := d.sync.Load(); t > 0 {
			time.Sleep(time.Duration(t))
		}
	}
	if d.disk.Seek == 0 && d.disk.BytesPerSecond == 0 {
		return
	}
	d.arm.Lock()
	defer d.arm.Unlock()
	var t time.Duration
	if flush || d.file != f || d.pos != off {
		t += d.disk.Seek
	}
	if d.disk.BytesPerSecond > 0 {
		t += time.Duration(n * int64(time.Second) / d.disk.BytesPerSecond)
	}
	d.file, d.pos = f, off+n
	if flush {
		d.file = nil // the next read moves the arm
	}
	time.Sleep(t)
}

type delayFile struct {
	File
	d     *Delay
	dirty atomic.Int64 // bytes written since the last flush
}

// ReadAt implements File. Data written since the last flush is in the page cache of a real machine; so are recent
// reads, which a simulated disk of cold data leaves out.
func (f *delayFile) ReadAt(l Label, p []byte, off int64) (int, error) {
	f.d.pause(f, off, int64(len(p)), false)
	return f.File.ReadAt(l, p, off)
}

// WriteAt implements File.
func (f *delayFile) WriteAt(l Label, p []byte, off int64) (int, error) {
	f.dirty.Add(int64(len(p)))
	return f.File.WriteAt(l, p, off)
}

// Sync implements File.
func (f *delayFile) Sync(l Label) error {
	f.d.pause(f, 0, f.dirty.Swap(0), true)
	return f.File.Sync(l)
}
