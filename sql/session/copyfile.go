package session

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// The files of COPY are the user's, named with the operating system's names, and none of the database's: they do not go through
// internal/vfs.

// Roles whose members may use files of the server.
const (
	roleReadFiles  = types.OID(4569)
	roleWriteFiles = types.OID(4570)
)

// mayCopyFile says whether the user may have the server read or write files.
func (s *Session) mayCopyFile(from bool) error {
	role, name, way := roleWriteFiles, "pg_write_server_files", "to"
	if from {
		role, name, way = roleReadFiles, "pg_read_server_files", "from"
	}
	if s.superuser {
		return nil
	}
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	set, err := catalog.MembersOf(cat, s.user.OID)
	if err != nil || set[role] {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of the %s role to COPY %s a file", name, way).
		WithHint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.")
}

// openCopyFile opens a file of COPY. Pipes and devices are refused: waiting for one could not be cancelled.
func openCopyFile(name string, from bool) (*os.File, error) {
	doing, flags := "writing", os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	hint := "COPY TO instructs the PostgreSQL server process to write a file. You may want a client-side facility such as psql's \\copy."
	if from {
		doing, flags = "reading", os.O_RDONLY
		hint = "COPY FROM instructs the PostgreSQL server process to read a file. You may want a client-side facility such as psql's \\copy."
	}
	if !filepath.IsAbs(name) {
		return nil, sqlerr.New(sqlerr.InvalidName, "relative path not allowed for COPY %s file", map[bool]string{true: "from", false: "to"}[from])
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a directory", name)
	} else if err == nil && !info.Mode().IsRegular() {
		return nil, sqlerr.Unsupported("COPY with \"%s\", which is no regular file,", name)
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return nil, fileError(err, "could not open file \"%s\" for %s", name, doing).WithHint("%s", hint)
	}
	return f, nil
}

// fileError is an error of the operating system in PostgreSQL's words and with its SQLSTATE.
func fileError(err error, format string, args ...any) *sqlerr.Error {
	code := sqlerr.IoError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = sqlerr.UndefinedFile
	case errors.Is(err, fs.ErrPermission):
		code = sqlerr.InsufficientPrivilege
	case errors.Is(err, syscall.ENOSPC):
		code = sqlerr.DiskFull
	}
	why := err.Error()
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		why = strings.ToUpper(errno.Error()[:1]) + errno.Error()[1:]
	}
	return sqlerr.New(code, format+": %s", append(args, why)...)
}

// fileSource reads the data of COPY FROM out of a file.
type fileSource struct {
	f   *os.File
	buf [1 << 16]byte
}

// NextCopyData returns the next piece of the file.
func (s *fileSource) NextCopyData() ([]byte, bool, error) {
	n, err := s.f.Read(s.buf[:])
	switch {
	case n > 0:
		return s.buf[:n], false, nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, true, nil
	}
	return nil, false, fileError(err, "could not read from COPY file")
}

// fileTarget takes the rows of COPY TO. What it could not write it says at the end.
type fileTarget struct {
	f *os.File
	w *bufio.Writer
}

func newFileTarget(name string) (*fileTarget, error) {
	f, err := openCopyFile(name, false)
	if err != nil {
		return nil, err
	}
	return &fileTarget{f, bufio.NewWriterSize(f, 1<<16)}, nil
}

func (t *fileTarget) write(b []byte) error {
	if _, err := t.w.Write(b); err != nil {
		return fileError(err, "could not write to COPY file")
	}
	return nil
}

// finish writes what is buffered and closes the file.
func (t *fileTarget) finish() error {
	err := t.w.Flush()
	if closing := t.f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fileError(err, "could not write to COPY file")
	}
	return nil
}
