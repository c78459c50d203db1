package conf

import (
	"net"
	"path/filepath"
	"strconv"
	"time"
)

// SyncMode says when the log is forced to the disk.
type SyncMode uint8

// The three modes of server.log.sync.
const (
	SyncAlways SyncMode = iota // before a commit is acknowledged
	SyncPeriod                 // at least once a period
	SyncNever                  // when the operating system likes
)

// LogSync is the value of server.log.sync.
type LogSync struct {
	Mode   SyncMode
	Period time.Duration // for SyncPeriod, 1 ms to 1 min
}

// Config holds the value of every key. Load makes it; nobody writes to it afterwards.
type Config struct {
	// Mode is "standalone" or "cluster".
	Mode string
	// NodeID, ClusterAddress, ClusterJoin, ClusterSecret, ElectionTimeout and ReplicaTimeout are of a node of a cluster.
	NodeID, ClusterAddress, ClusterJoin, ClusterSecret string
	ElectionTimeout, ReplicaTimeout                    time.Duration
	// ClusterAdvertise is where the other nodes reach this one; empty: ClusterAddress.
	ClusterAdvertise string
	// ClusterCert, ClusterKey and ClusterCA are PEM files, in place of the secret.
	ClusterCert, ClusterKey, ClusterCA string
	// ClusterLogKeep is log, in bytes, that stays for replicas that are behind.
	ClusterLogKeep int64
	// ClusterFetchRate is how many bytes a second of databases' states are sent to nodes that fetch them at most; 0: any number.
	ClusterFetchRate int64
	// Host and Port say where PostgreSQL clients connect. An empty host is every address of the machine; port 0 is any free one.
	Host string
	Port int64
	// BaseDir is the folder that the other four are relative to.
	BaseDir, DataDirName, LogDirName, TmpDirName, MetadataDirName string
	// Auth is how a client on loopback proves who it is: "trust" or "scram". Clients from elsewhere always use scram.
	Auth string
	// UsersFile lists roles to make or update at start; empty for none.
	UsersFile string
	// SSL offers TLS. The two files are PEM; empty means self-signed.
	SSL                     bool
	SSLCertFile, SSLKeyFile string
	MaxConnections          int64
	MemoryMaxBytes          int64
	HugePages               string // try or off
	PageBytes               int64
	PlanCacheBytes          int64
	LogSync                 LogSync
	LogSegmentBytes         int64
	// LogArchiveDir, LogArchivePeriod and LogArchiveKeepMax say where and how the log is archived; "" = not at all.
	LogArchiveDir            string
	LogArchivePeriod         time.Duration
	LogArchiveKeepMax        int64
	CheckpointPeriod         time.Duration
	CheckpointDuration       time.Duration
	CheckpointLogBytesMax    int64
	CheckpointDirtyThreshold float64
	CheckpointFillThreshold  float64
	// Processors is GOMAXPROCS; 0 means the number of cores, and two more while the disk is waited for.
	Processors int64
	// Device is "disk" for the machine's own or the name of a simulated one.
	Device string
	// LogLevel and LogFormat shape the server's own messages.
	LogLevel, LogFormat string
	// HTTPEnabled, HTTPHost and HTTPPort are the metrics and health endpoint. An empty host means Host.
	HTTPEnabled bool
	HTTPHost    string
	HTTPPort    int64

	sources map[string]string // key name -> where its value came from, for keys that are not at their default
	texts   map[string]string // key name -> its value as written
}

// Address returns host:port for the SQL listener.
func (c *Config) Address() string { return net.JoinHostPort(c.Host, strconv.FormatInt(c.Port, 10)) }

// HTTPAddress returns host:port for the metrics listener.
func (c *Config) HTTPAddress() string {
	host := c.HTTPHost
	if host == "" {
		host = c.Host
	}
	return net.JoinHostPort(host, strconv.FormatInt(c.HTTPPort, 10))
}

// DataDir, LogDir, TmpDir and MetadataDir return the folders, absolute or below the base folder.
func (c *Config) DataDir() string { return c.under(c.DataDirName) }

// LogDir is the folder of the transaction log.
func (c *Config) LogDir() string { return c.under(c.LogDirName) }

// TmpDir is the folder that sorts and hash tables spill to.
func (c *Config) TmpDir() string { return c.under(c.TmpDirName) }

// MetadataDir is the folder of the manifest.
func (c *Config) MetadataDir() string { return c.under(c.MetadataDirName) }

// Under resolves a path that the configuration names: absolute, or below the base folder; empty stays empty.
func (c *Config) Under(path string) string {
	if path == "" {
		return ""
	}
	return c.under(path)
}

func (c *Config) under(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.BaseDir, path)
}

// Source says where a key's value came from: "default", "file PATH", "environment HERD_X" or "--set". Used by `herd conf`.
func (c *Config) Source(key string) string {
	if s, ok := c.sources[key]; ok {
		return s
	}
	return "default"
}
