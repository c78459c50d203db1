package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"herd/internal/vfs"
	"herd/storage"
	"herd/txlog"
)

// Problem is one finding of Check.
type Problem struct {
	Database string // name
	Where    string // file, tree, entry
	Of       string // what it belongs to; empty: not known, or to nothing in particular
	What     string
	Note     bool // wastes space but endangers nothing
}

// CheckOptions say what to check.
type CheckOptions struct {
	FS                  vfs.FS // default: the operating system
	Dir                 string
	LogDir, MetadataDir string // as in Options
	// Owner says what a tree belongs to by the catalog that a view holds. May be nil.
	Owner func(storage.View, storage.TreeID) string
}

// CheckSummary counts what Check read.
type CheckSummary struct {
	Databases, Trees int
	Rows             int64
	LogEntries       int
}

// Check verifies a data folder that no server uses: formats, every block that the manifests reach, the logs from the
// manifests on, the chain of their entries and what is in them. It changes nothing. Findings go to report; the error
// says that the folder could not be read as one (ErrInUse, ErrNewerFormat, ErrNotHerd).
func Check(o CheckOptions, report func(Problem)) (CheckSummary, error) {
	var sum CheckSummary
	opt := Options{FS: o.FS, Dir: o.Dir, LogDir: o.LogDir, MetadataDir: o.MetadataDir}.withDefaults()
	if _, err := opt.FS.Stat(labelFolder, filepath.Join(o.Dir, formatFile)); err != nil {
		return sum, fmt.Errorf("check %s: %w", o.Dir, ErrNotHerd)
	}
	l, err := lockFolder(opt.FS, o.Dir)
	if err != nil {
		return sum, err
	}
	defer l.Close()
	if _, err := readIdentity(opt.FS, o.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		report(Problem{Where: filepath.Join(o.Dir, identityFile), What: err.Error()})
	}
	names, err := opt.FS.ReadDir(labelFolder, filepath.Join(o.Dir, dbFolder))
	if err != nil {
		return sum, err
	}
	for _, n := range names {
		oid, ok := parseOID(n)
		if !ok {
			report(Problem{Where: filepath.Join(dbFolder, n), What: "left by a crash, removed at the next start", Note: true})
			continue
		}
		sum.Databases++
		if err := checkDatabase(&opt, oid, o.Owner, &sum, report); err != nil {
			report(Problem{Database: n, Where: dbDir(o.Dir, oid), What: err.Error()})
		}
	}
	return sum, nil
}

// CutLogs ends the log of each database of a folder that no server uses before its first damaged group. Every commit
// from there on is lost. report is told where.
func CutLogs(o CheckOptions, report func(database string, damage *txlog.CorruptError)) error {
	infos, err := InspectFolder(o)
	if err != nil {
		return err
	}
	opt := Options{FS: o.FS}.withDefaults()
	l, err := lockFolder(opt.FS, o.Dir)
	if err != nil {
		return err
	}
	defer l.Close()
	cut := false
	for _, f := range infos {
		if shared, err := txlog.HoldsForeign(opt.FS, f.LogDir); err == nil && shared {
			return fmt.Errorf("cut the log of database %q: it is a replica of a cluster; remove the node's folder and join again", f.Name)
		}
		damage, err := txlog.Cut(opt.FS, f.LogDir, txlog.Position(f.Manifest.Meta.LogPosition), opt.Logger)
		if err != nil {
			return fmt.Errorf("cut the log of database %q: %w", f.Name, err)
		}
		if damage != nil {
			report(f.Name, damage)
			cut = true
		}
	}
	if cut { // the log goes on otherwise than what was archived of it
		_, err = newIdentity(opt.FS, o.Dir)
	}
	return err
}

// checkDatabase checks one database.
func checkDatabase(o *Options, oid uint32, owner func(storage.View, storage.TreeID) string, sum *CheckSummary, report func(Problem)) error {
	name, err := readName(o.FS, dbDir(o.Dir, oid))
	if err != nil {
		return err
	}
	manifests, err := openManifests(o.FS, o.metadataDir(oid))
	if err != nil {
		return err
	}
	st, m, err := storage.Open(storage.Options{FS: o.FS, Dir: filepath.Join(dbDir(o.Dir, oid), dataFolder), Manifests: manifests})
	if err != nil {
		return err
	}
	defer st.Close()
	sum.Trees += len(m.Roots)
	for _, r := range m.Roots {
		sum.Rows += r.Rows
	}
	err = st.Check(func(p storage.Problem) {
		found := Problem{Database: name, Where: p.Where, What: p.What, Note: p.Note}
		if owner != nil && p.Tree != 0 {
			found.Of = owner(storage.View{Snap: st.Base()}, p.Tree)
		}
		report(found)
	})
	if err != nil {
		return err
	}
	c := logChecker{done: 0, parts: map[uint64]uint32{}}
	if len(m.Meta.Opaque) > 0 {
		db := &Database{}
		db.sequences.init()
		if c.done, c.parts, err = db.decodeMeta(m.Meta.Opaque); err != nil {
			return err
		}
	}
	from, entry := txlog.Position(m.Meta.LogPosition), c.entry
	shared, err := txlog.HoldsForeign(o.FS, o.logDir(oid))
	if err != nil {
		return err
	}
	if shared { // its records are not this database's entries, and the manifest's position is not one of theirs
		from, entry = 0, c.record
	}
	_, err = txlog.Inspect(o.FS, o.logDir(oid), from, nil, entry)
	sum.LogEntries += c.entries
	return err
}

// logChecker verifies the chain of entries and their payloads.
type logChecker struct {
	done    txlog.Seq
	last    txlog.Seq
	parts   map[uint64]uint32
	entries int
}

// record takes one record of a log that several nodes share: they follow each other.
func (c *logChecker) record(_ txlog.Position, e txlog.Entry) error {
	if c.entries > 0 && e.Prev != c.last || e.Kind < txlog.Foreign {
		return fmt.Errorf("log record %d of kind %d says it follows %d; the one before is %d", e.Seq, e.Kind, e.Prev, c.last)
	}
	c.last = e.Seq
	c.entries++
	return nil
}

func (c *logChecker) entry(_ txlog.Position, e txlog.Entry) error {
	if c.last != 0 && e.Prev != c.last || c.last == 0 && e.Prev > c.done || e.Seq <= c.last {
		return fmt.Errorf("log entry %d says it follows %d; the one before is %d", e.Seq, e.Prev, max(c.last, c.done))
	}
	c.last = e.Seq
	c.entries++
	switch e.Kind {
	case txlog.Open:
		clear(c.parts)
		return nil
	case txlog.SeqReserve:
		var q sequences
		q.init()
		return q.apply(e.Payload)
	case txlog.Commit, txlog.Part, txlog.Abort:
	default:
		return fmt.Errorf("log entry %d is of unknown kind %d", e.Seq, e.Kind)
	}
	h, body, err := decodeHeader(e.Payload)
	if err == nil {
		_, err = decodeChanges(nil, body)
	}
	if err != nil {
		return fmt.Errorf("log entry %d: %w", e.Seq, err)
	}
	switch e.Kind {
	case txlog.Part:
		c.parts[h.tx] = max(c.parts[h.tx], h.parts+1)
	case txlog.Abort:
		delete(c.parts, h.tx)
	case txlog.Commit:
		if e.Seq > c.done && c.parts[h.tx] != h.parts {
			return fmt.Errorf("log entry %d commits %d parts, %d are there", e.Seq, h.parts, c.parts[h.tx])
		}
		delete(c.parts, h.tx)
	}
	return nil
}

// LogEntry is one entry of a log as herd inspect shows it.
type LogEntry struct {
	Position    txlog.Position
	Epoch       txlog.Epoch
	Seq         txlog.Seq
	Kind        txlog.Kind
	Transaction uint64
	Parts       uint32
	Bytes       int
	Changes     storage.ChangeSet // valid during the call
}

// InspectLog reads the log of a database folder (…/db/<number>) from a position on, 0 = the oldest, and calls onGroup
// and onEntry, which may be nil, in order. It may be used beside a running server; the end is then arbitrary.
func InspectLog(fsys vfs.FS, logDir string, from txlog.Position, onGroup func(txlog.GroupInfo), onEntry func(LogEntry) error) (txlog.Summary, error) {
	return txlog.Inspect(fsys, logDir, from, onGroup, func(pos txlog.Position, e txlog.Entry) error {
		if onEntry == nil {
			return nil
		}
		x := LogEntry{Position: pos, Epoch: e.Epoch, Seq: e.Seq, Kind: e.Kind, Bytes: len(e.Payload)}
		if e.Kind == txlog.Commit || e.Kind == txlog.Part || e.Kind == txlog.Abort {
			h, body, err := decodeHeader(e.Payload)
			if err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			x.Transaction, x.Parts = h.tx, h.parts
			if x.Changes, err = decodeChanges(nil, body); err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
		}
		return onEntry(x)
	})
}

// FolderInfo describes one database of a data folder for herd inspect.
type FolderInfo struct {
	OID      uint32
	Name     string
	LogDir   string
	Manifest storage.Manifest
	HasOne   bool // a manifest was ever written
}

// InspectFolder lists the databases of a folder that no server uses, with their manifests.
func InspectFolder(o CheckOptions) ([]FolderInfo, error) {
	opt := Options{FS: o.FS, Dir: o.Dir, LogDir: o.LogDir, MetadataDir: o.MetadataDir}.withDefaults()
	names, err := opt.FS.ReadDir(labelFolder, filepath.Join(o.Dir, dbFolder))
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", o.Dir, ErrNotHerd)
	}
	l, err := lockFolder(opt.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var out []FolderInfo
	var errs []error
	for _, n := range names {
		oid, ok := parseOID(n)
		if !ok {
			continue
		}
		f := FolderInfo{OID: oid, LogDir: opt.logDir(oid)}
		if f.Name, err = readName(opt.FS, dbDir(o.Dir, oid)); err != nil {
			errs = append(errs, err)
			continue
		}
		m, err := openManifests(opt.FS, opt.metadataDir(oid))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f.Manifest, f.HasOne, err = m.LoadManifest()
		errs = append(errs, err)
		out = append(out, f)
	}
	return out, errors.Join(errs...)
}
