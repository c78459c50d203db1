package engine

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
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
//	FORMAT            "herd 4"; a line with its CRC32C
//	IDENTITY          a random number that no other folder has: which history of commits this is; a line with its CRC32C
//	RESTORING         a restore has begun and not ended
//	db/<number>/      one database: name, manifest, data/, log/; UNLISTED while it is being made or dropped
const (
	lockFile      = "herd.lock"
	formatFile    = "FORMAT"
	identityFile  = "IDENTITY"
	restoringFile = "RESTORING"
	dbFolder      = "db"
	nameFile      = "name"
	unlistedFile  = "UNLISTED" // what the list of databases says at the next start decides whether it is one
	dataFolder    = "data"
	logFolder     = "log"

	// folderFormat 3 has the time of a commit in its log entry, 4 that of the last one in the manifest, and a checksum in FORMAT; folders of
	// formats 2 and 3 are taken over.
	folderFormat = 4
	folderOldest = 2
	summedFormat = 4 // the first whose FORMAT has a checksum

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
	// ErrHalfRestored: "herd restore" did not come to its end.
	ErrHalfRestored = errors.New("a restore into this folder did not finish: what is in it is not whole; remove the folder and restore again")
)

// lockFolder makes dir when it is missing, locks it and checks its format.
func lockFolder(fsys vfs.FS, dir string) (io.Closer, error) {
	if err := vfs.MakeFolder(fsys, labelFolder, dir); err != nil {
		return nil, fmt.Errorf("make data folder %s: %w", dir, err)
	}
	l, err := fsys.Lock(labelFolder, filepath.Join(dir, lockFile))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("open %s: %w", dir, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err = notRestoring(fsys, dir); err == nil {
		err = checkFormat(fsys, dir)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// notRestoring refuses a folder whose restore has not ended.
func notRestoring(fsys vfs.FS, dir string) error {
	_, err := fsys.Stat(labelFolder, filepath.Join(dir, restoringFile))
	switch {
	case err == nil:
		return fmt.Errorf("open %s: %w", dir, ErrHalfRestored)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open %s: %w", dir, err)
	}
	return nil
}

// identity reads a folder's identity, or gives it one.
func identity(fsys vfs.FS, dir string) (string, error) {
	id, err := readIdentity(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return newIdentity(fsys, dir)
	}
	return id, err
}

// readIdentity reads a folder's identity.
func readIdentity(fsys vfs.FS, dir string) (string, error) {
	name := filepath.Join(dir, identityFile)
	p, err := vfs.ReadFile(fsys, labelFolder, name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	id, sum, _ := strings.Cut(string(p), "\n")
	if len(id) != 2*identityBytes || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("read %s: not an identity: %w", name, storage.ErrCorrupt)
	}
	if sum != "" && sum != lineSum(id) { // earlier ones have none
		return "", fmt.Errorf("read %s: its checksum does not match: %w", name, storage.ErrCorrupt)
	}
	return id, nil
}

// lineSum is the line with the checksum of the one before it.
func lineSum(line string) string {
	return fmt.Sprintf("%08x\n", crc32.Checksum([]byte(line), castagnoli))
}

const identityBytes = 8

// newIdentity gives a folder an identity that no folder had: its log will not go on like that of any other.
func newIdentity(fsys vfs.FS, dir string) (string, error) {
	var raw [identityBytes]byte
	rand.Read(raw[:]) // never fails
	id := hex.EncodeToString(raw[:])
	return id, vfs.WriteFileAtomic(fsys, labelFolder, dir, filepath.Join(dir, identityFile), []byte(id+"\n"+lineSum(id)))
}

// formatText is what FORMAT says in a folder of this version.
func formatText() []byte {
	line := fmt.Sprintf("herd %d", folderFormat)
	return []byte(line + "\n" + lineSum(line))
}

// readFormat reads FORMAT: the number of the folder's format, which may be one that this version does not read.
func readFormat(fsys vfs.FS, dir string) (format int, err error) {
	name := filepath.Join(dir, formatFile)
	p, err := vfs.ReadFile(fsys, labelFolder, name)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	line, sum, _ := strings.Cut(string(p), "\n")
	v, ok := strings.CutPrefix(line, "herd ")
	format, err = strconv.Atoi(v)
	switch {
	case !ok || err != nil:
		return 0, fmt.Errorf("open %s: file %s says %q: %w", dir, formatFile, p, ErrNotHerd)
	case sum == "" && (format < summedFormat || format > folderFormat), sum == lineSum(line):
		return format, nil
	}
	return 0, fmt.Errorf("read %s: its checksum does not match: %w", name, storage.ErrCorrupt)
}

// checkFormat reads FORMAT, or writes it into a new folder.
func checkFormat(fsys vfs.FS, dir string) error {
	n, err := readFormat(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fsys.Stat(labelFolder, filepath.Join(dir, dbFolder)); err == nil {
			return fmt.Errorf("open %s: file %s is missing: %w", dir, formatFile, ErrNotHerd)
		}
		return vfs.WriteFileAtomic(fsys, labelFolder, dir, filepath.Join(dir, formatFile), formatText())
	}
	if err != nil {
		return err
	}
	if n > folderFormat {
		return fmt.Errorf("open %s: format %d, this server reads up to %d: %w", dir, n, folderFormat, ErrNewerFormat)
	}
	if n < folderOldest {
		return fmt.Errorf("open %s: format %d, this server reads %d to %d: %w", dir, n, folderOldest, folderFormat, ErrOlderFormat)
	}
	return nil
}

// takeOver marks a folder of an older format as one of this version, which is about to write what the older does not read.
func takeOver(fsys vfs.FS, dir string) error {
	n, err := readFormat(fsys, dir)
	if err != nil || n == folderFormat {
		return err
	}
	return vfs.WriteFileAtomic(fsys, labelFolder, dir, filepath.Join(dir, formatFile), formatText())
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
	whole := len(p) >= 12 && crc32.ChecksumIEEE(p[:len(p)-4]) == binary.LittleEndian.Uint32(p[len(p)-4:])
	if whole && string(p[:7]) == "HERDNAM" && p[7] > '1' {
		return "", fmt.Errorf("read %s: format %c: %w", filepath.Join(dir, nameFile), p[7], ErrNewerFormat)
	}
	if !whole || string(p[:8]) != "HERDNAM1" {
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

// makeDatabaseFolder makes the folder of a new database: complete under another name first. unlisted marks it as one that the
// list of databases may not have.
func makeDatabaseFolder(o *Options, oid uint32, name string, unlisted bool) error {
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
		for _, p := range []string{filepath.Dir(d), d} { // both may be new
			if err := vfs.MakeFolder(fsys, labelFolder, p); err != nil {
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
	if unlisted {
		if err := markUnlisted(fsys, tmp); err != nil {
			return err
		}
	}
	if err := fsys.SyncDir(labelFolder, tmp); err != nil {
		return err
	}
	if err := fsys.Rename(labelFolder, tmp, dir); err != nil {
		return err
	}
	return fsys.SyncDir(labelFolder, filepath.Join(base, dbFolder))
}

// markUnlisted marks a database's folder.
func markUnlisted(fsys vfs.FS, dir string) error {
	return vfs.WriteFileAtomic(fsys, labelFolder, dir, filepath.Join(dir, unlistedFile), nil)
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
