package vfs

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DirectAlign is what the address and the length of a buffer and the offset in the file must be multiples of, in bytes, for a
// write to pass the page cache by.
const DirectAlign = 4096

// AlignedBuffer returns n zero bytes whose address is a multiple of DirectAlign.
func AlignedBuffer(n int) []byte {
	b := make([]byte, n+DirectAlign)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % DirectAlign)
	return b[skip : skip+n : skip+n]
}

func aligned(p []byte, off int64) bool {
	return len(p)%DirectAlign == 0 && off%DirectAlign == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(p)))%DirectAlign == 0
}

// director is a file that may have a way past the page cache.
type director interface {
	direct() (File, error)
}

// Direct returns f with a way past the page cache for its aligned writes, for a file that is written once and seldom read:
// neither the copy nor the memory is spent. Reads and other writes go as before. Where the operating system or the file
// system has no such way it is f itself.
func Direct(f File) File {
	if d, ok := f.(director); ok {
		if g, err := d.direct(); err == nil {
			return g
		}
	}
	return f
}

// directFile is a file with a second descriptor for aligned writes.
type directFile struct {
	osFile
	past osFile
}

// direct asks the file system first: some take the flag and refuse the writes.
func (o osFile) direct() (File, error) {
	var st unix.Statx_t
	if err := unix.Statx(int(o.f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st); err != nil {
		return nil, err
	}
	if st.Mask&unix.STATX_DIOALIGN == 0 || !divides(st.Dio_mem_align) || !divides(st.Dio_offset_align) {
		return nil, unix.EOPNOTSUPP
	}
	f, err := os.OpenFile(o.f.Name(), os.O_WRONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	return directFile{o, osFile{f}}, nil
}

// divides tells whether an alignment the file system asks for is met by DirectAlign; 0 is its word for never.
func divides(align uint32) bool { return align != 0 && DirectAlign%align == 0 }

func (d directFile) WriteAt(l Label, p []byte, off int64) (int, error) {
	if aligned(p, off) {
		n, err := d.past.WriteAt(l, p, off)
		if n > 0 || !errors.Is(err, unix.EINVAL) {
			return n, err
		}
	}
	return d.osFile.WriteAt(l, p, off)
}

func (d directFile) writeSync(p []byte, off int64, w Waiting) error {
	if aligned(p, off) {
		if err := d.past.writeSyncPast(p, off, w); !errors.Is(err, errNoWriteSync) {
			return err
		}
	}
	return d.osFile.writeSync(p, off, w)
}

func (d directFile) Close() error {
	err := d.past.Close()
	if cerr := d.osFile.Close(); err == nil {
		err = cerr
	}
	return err
}
