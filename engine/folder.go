package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"herd/internal/vfs"
	"herd/storage"
)

// The data folder:
//
//	herd.lock         locked while a server uses the folder
//	FORMAT            one line, "herd 2"
//	db/<number>/      one database: name, manifest, data/, log/
const (
	lockFile   = "herd.lock"
	formatFile = "FORMAT"
	dbFolder   = "db"
	nameFile   = "name"
	dataFolder = "data"
	logFolder  = "log"

	folderFormat = 2

	suffixNew  = ".tmp"
	suffixDrop = ".drop"
)

const labelFolder vfs.Label = "engine.folder"

// Errors about the data folder.
var (
	// ErrInUse: another server has the folder open.
	ErrInUse = errors.New("data folder is in use by another server")
	// ErrOlderFormat: an earlier version of herd wrote the folder, in a format that is no longer read.
	ErrOlderFormat = errors.New("data folder was written by an older version of herd")
	// ErrNewerFormat: a later version of herd wrote the folder.
	ErrNewerFormat = errors.New("data folder was written by a newer version of herd")
	// ErrNotHerd: the folder has contents that are not herd's.
	ErrNotHerd = errors.New("folder is not empty and not a herd data folder")
)

// lockFolder makes dir when it is missing, locks it and checks its format.
func lockFolder(fsys vfs.FS, dir string) (io.Closer, error) {
	if err := fsys.MkdirAll(labelFolder, dir); err != nil {
		return nil, fmt.Errorf("make data folder %s: %w", dir, err)
	}
	if err := fsys.SyncDir(labelFolder, filepath.Dir(filepath.Clean(dir))); err != nil {
		return nil, fmt.Errorf("make data folder %s: %w", dir, err)
	}
	l, err := fsys.Lock(labelFolder, filepath.Join(dir, lockFile))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("open %s: %w", dir, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err := checkFormat(fsys, dir); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// checkFormat reads FORMAT, or writes it into a new folder.
func checkFormat(fsys vfs.FS, dir string) error {
	name := filepath.Join(dir, formatFile)
	p, err := vfs.ReadFile(fsys, labelFolder, name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fsys.Stat(labelFolder, filepath.Join(dir, dbFolder)); err == nil {
			return fmt.Errorf("open %s: file %s is missing: %w", dir, formatFile, ErrNotHerd)
		}
		return vfs.WriteFileAtomic(fsys, labelFolder, dir, name, fmt.Appendf(nil, "herd %d\n", folderFormat))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	v, ok := strings.CutPrefix(strings.TrimSpace(string(p)), "herd ")
	n, err := strconv.Atoi(v)
	if !ok || err != nil {
		return fmt.Errorf("open %s: file %s says %q: %w", dir, formatFile, p, ErrNotHerd)
	}
	if n > folderFormat {
		return fmt.Errorf("open %s: format %d, this server reads up to %d: %w", dir, n, folderFormat, ErrNewerFormat)
	}
	if n < folderFormat {
		return fmt.Errorf("open %s: format %d, this server reads %d: %w", dir, n, folderFormat, ErrOlderFormat)
	}
	return nil
}

// writeName records a database's name in its folder.
func writeName(fsys vfs.FS, dir, name string) error {
	p := append([]byte("HERDNAM1"), name...)
	p = binary.LittleEndian.AppendUint32(p, crc32.ChecksumIEEE(p))
	return vfs.WriteFileAtomic(fsys, labelFolder, dir, filepath.Join(dir, nameFile), p)
}

// readName is the inverse of writeName.
func readName(fsys vfs.FS, dir string) (string, error) {
	p, err := vfs.ReadFile(fsys, labelFolder, filepath.Join(dir, nameFile))
	if err != nil {
		return "", err
	}
	if len(p) < 12 || string(p[:8]) != "HERDNAM1" ||
		crc32.ChecksumIEEE(p[:len(p)-4]) != binary.LittleEndian.Uint32(p[len(p)-4:]) {
		return "", fmt.Errorf("read %s: not a database's name: %w", filepath.Join(dir, nameFile), storage.ErrCorrupt)
	}
	return string(p[8 : len(p)-4]), nil
}

// dbDir returns the folder of a database.
func dbDir(base string, oid uint32) string {
	return filepath.Join(base, dbFolder, strconv.FormatUint(uint64(oid), 10))
}

// parseOID reads a database's number from its folder's name.
func parseOID(base string) (uint32, bool) {
	v, err := strconv.ParseUint(base, 10, 32)
	return uint32(v), err == nil
}

// outside returns the folders of a database that are not below the data folder.
func outside(o *Options, oid uint32) (dirs []string) {
	if o.LogDir != "" {
		dirs = append(dirs, o.logDir(oid))
	}
	if o.MetadataDir != "" {
		dirs = append(dirs, o.metadataDir(oid))
	}
	return dirs
}

// makeDatabaseFolder makes the folder of a new database: complete under another name first.
func makeDatabaseFolder(o *Options, oid uint32, name string) error {
	fsys, base := o.FS, o.Dir
	dir := dbDir(base, oid)
	tmp := dir + suffixNew
	if err := removeTree(fsys, tmp); err != nil {
		return err
	}
	for _, d := range outside(o, oid) { // what is there was left by a crash: the database does not exist yet
		if err := removeTree(fsys, d); err != nil {
			return err
		}
		if err := fsys.MkdirAll(labelFolder, d); err != nil {
			return err
		}
		for _, p := range []string{filepath.Dir(d), filepath.Dir(filepath.Dir(d))} {
			if err := fsys.SyncDir(labelFolder, p); err != nil {
				return err
			}
		}
	}
	for _, d := range []string{dataFolder, logFolder} {
		if err := fsys.MkdirAll(labelFolder, filepath.Join(tmp, d)); err != nil {
			return err
		}
	}
	if err := writeName(fsys, tmp, name); err != nil {
		return err
	}
	if err := fsys.SyncDir(labelFolder, tmp); err != nil {
		return err
	}
	if err := fsys.Rename(labelFolder, tmp, dir); err != nil {
		return err
	}
	return fsys.SyncDir(labelFolder, filepath.Join(base, dbFolder))
}

// removeTree removes a folder with all it holds; a folder that is not there is no error.
func removeTree(fsys vfs.FS, dir string) error {
	names, err := fsys.ReadDir(labelFolder, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	for _, n := range names {
		p := filepath.Join(dir, n)
		if _, err := fsys.ReadDir(labelFolder, p); err == nil {
			if err := removeTree(fsys, p); err != nil {
				return err
			}
			continue
		}
		if err := fsys.Remove(labelFolder, p); err != nil {
			return fmt.Errorf("remove %s: %w", p, err)
		}
	}
	return fsys.Remove(labelFolder, dir)
}

// listDatabases returns the numbers of the database folders and removes what a crash left half made or half dropped.
func listDatabases(fsys vfs.FS, base string) ([]uint32, error) {
	dir := filepath.Join(base, dbFolder)
	names, err := fsys.ReadDir(labelFolder, dir)
	if err != nil {
		return nil, err
	}
	var out []uint32
	for _, n := range names {
		if strings.HasSuffix(n, suffixNew) || strings.HasSuffix(n, suffixDrop) {
			if err := removeTree(fsys, filepath.Join(dir, n)); err != nil {
				return nil, err
			}
			continue
		}
		if v, ok := parseOID(n); ok {
			out = append(out, v)
		}
	}
	return out, nil
}
