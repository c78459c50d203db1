package engine

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/txlog"
)

// Options configure Open. Zero values mean the defaults.
type Options struct {
	FS  vfs.FS // default: the operating system
	Dir string // data folder, made when missing
	// LogDir and MetadataDir hold the logs and the manifests in a folder for each database's number; "" = with the data.
	LogDir      string
	MetadataDir string

	// Memory is the account of the process. Nil: one is made whose limit is 60 % of MemLimit.
	Memory *mem.Account
	// MemLimit is the most memory of the process in bytes (server.memory.max.limit); 0 = no limit and no eviction.
	MemLimit int64
	// MappedBytes returns the bytes of files that the process has mapped into memory, its program above all. nil: not known.
	MappedBytes func() int64
	// TuneCollector lets the engine set GOMEMLIMIT and GOGC of the process.
	TuneCollector bool
	// PageSize is the target size of a leaf in bytes, 0 = storage's default.
	PageSize int

	// OpenLog opens the log of a database that several nodes share; nil: a local one, for which the options that begin
	// with Log are.
	OpenLog func(txlog.Opening) (txlog.Log, error)
	// LogSync, LogSyncInterval: see txlog.SyncMode.
	LogSync         txlog.SyncMode
	LogSyncInterval time.Duration
	// LogSegmentBytes and LogSegmentBytesMax: see txlog.Options.
	LogSegmentBytes    int64
	LogSegmentBytesMax int64
	// LogKeepFreeBytes of the disk are left to checkpoints when the log grows. 0 = 64 MiB, at most an eighth of what is free
	// when the folder is opened.
	LogKeepFreeBytes uint64

	// ArchiveDir is where logs are copied to before they are freed, in a folder for the data folder's identity; "" = nowhere.
	// ArchivePeriod and ArchiveKeepMax: see txlog.ArchiveOptions.
	ArchiveDir     string
	ArchivePeriod  time.Duration
	ArchiveKeepMax int64

	// A checkpoint begins when CheckpointPeriod has passed since the last one began (default 15 min), or the log has grown by
	// CheckpointLogBytes (default 256 MiB), or CheckpointDirtyBytes of blocks have no disk copy (default: a quarter of the
	// memory limit). Negative CheckpointPeriod: never by itself. It is spread over CheckpointDuration.
	CheckpointPeriod     time.Duration
	CheckpointDuration   time.Duration
	CheckpointLogBytes   int64
	CheckpointDirtyBytes int64

	// CleanPercent is the share of live bytes of a data file below which it is rewritten; 0 = storage's default, negative = never.
	CleanPercent int

	// BigCommit is the number of changes above which a commit is merged beside the others; 0 = 4096.
	BigCommit int

	// Now is the wall clock that commits' times are taken from; nothing is decided by it. nil: time.Now.
	Now func() time.Time

	archivePatience time.Duration // see txlog.ArchiveOptions.Patience; 0 = 10 s
	segmentBytes    int64         // size of data files; 0 = storage's default
	replayBytes     int           // how much log is gathered before it is applied; 0 = 64 MiB, less when memory is short
	replayReport    time.Duration // how often the progress of a replay is told; 0 = replayReport

	// Fatal is called when the log has failed or a file could not be made durable: the process must end. Default: log it
	// and exit with status 1.
	Fatal  func(error)
	Logger *slog.Logger
}

// logDir and metadataDir return where a database's log and manifest are.
func (o *Options) logDir(oid uint32) string {
	if o.LogDir != "" {
		return filepath.Join(o.LogDir, strconv.FormatUint(uint64(oid), 10))
	}
	return filepath.Join(dbDir(o.Dir, oid), logFolder)
}

func (o *Options) metadataDir(oid uint32) string {
	if o.MetadataDir != "" {
		return filepath.Join(o.MetadataDir, strconv.FormatUint(uint64(oid), 10))
	}
	return dbDir(o.Dir, oid)
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Memory == nil {
		o.Memory = mem.NewRoot(o.MemLimit / 10 * 6)
	}
	if o.CheckpointPeriod == 0 {
		o.CheckpointPeriod = 15 * time.Minute
	}
	if o.CheckpointLogBytes == 0 {
		o.CheckpointLogBytes = 256 << 20
	}
	if o.CheckpointDirtyBytes == 0 {
		o.CheckpointDirtyBytes = 1 << 30
		if l := o.Memory.Limit(); l > 0 {
			o.CheckpointDirtyBytes = l / 4
		}
	}
	if o.replayBytes == 0 {
		o.replayBytes = 64 << 20
		if l := o.Memory.Limit(); l > 0 { // twice: small changes take three times their bytes while they are merged
			o.replayBytes = int(min(max(l/24, 1<<20), 64<<20))
		}
	}
	if o.archivePatience == 0 {
		o.archivePatience = 10 * time.Second
	}
	if o.replayReport == 0 {
		o.replayReport = replayReport
	}
	if o.BigCommit == 0 {
		o.BigCommit = 4096
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fatal == nil {
		l := o.Logger
		o.Fatal = func(err error) {
			l.Error("stopping: a file could not be written or made durable", "error", err)
			os.Exit(1)
		}
	}
	return o
}
