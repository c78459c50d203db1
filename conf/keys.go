package conf

import "time"

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
	day = 24 * time.Hour
)

// table is every key of the server, in the order `herd conf` prints them.
var table = []Key{
	choiceKey("server.mode", "standalone", []string{"standalone", "cluster"}, func(c *Config) *string { return &c.Mode },
		"How the server runs: standalone keeps its log in local files, cluster shares it with other nodes."),
	stringKey("server.node.id", "", "a name", func(c *Config) *string { return &c.NodeID },
		"Name of this node of a cluster; it stays the same when the address changes."),
	stringKey("server.cluster.address", "127.0.0.1:7260", "host:port", func(c *Config) *string { return &c.ClusterAddress },
		"Address that a node of a cluster listens on for the others, and where they connect to it."),
	stringKey("server.cluster.advertise.address", "", "host:port", func(c *Config) *string { return &c.ClusterAdvertise },
		"Address that the other nodes connect to, when it is another than the one that is listened on; empty: server.cluster.address."),
	stringKey("server.cluster.join", "", "host:port", func(c *Config) *string { return &c.ClusterJoin },
		"Cluster address of any node of the cluster that a node with an empty base folder joins; empty: it begins a cluster. A node that was a member comes back without it."),
	secretKey("server.cluster.secret", "", "at least 16 characters", func(c *Config) *string { return &c.ClusterSecret },
		"Secret that all nodes of a cluster share; who does not know it is not talked to. Better in the environment (HERD_SERVER_CLUSTER_SECRET) than on a command line."),
	stringKey("server.cluster.tls.cert", "", "a PEM file", func(c *Config) *string { return &c.ClusterCert },
		"Certificate of this node towards the other nodes, below the base folder; with it the nodes know each other by certificates and not by a secret."),
	stringKey("server.cluster.tls.key", "", "a PEM file", func(c *Config) *string { return &c.ClusterKey },
		"Private key of server.cluster.tls.cert, below the base folder."),
	stringKey("server.cluster.tls.ca", "", "a PEM file", func(c *Config) *string { return &c.ClusterCA },
		"Authorities whose certificates the nodes have, below the base folder; who has one is a member, so they should sign for nobody else."),
	millisKey("server.cluster.election.timeout", "600", 100*time.Millisecond, time.Minute, func(c *Config) *time.Duration { return &c.ElectionTimeout },
		"Time without a word from a database's leader after which its other replicas elect one."),
	millisKey("server.cluster.replica.timeout", "600000", 0, 30*24*time.Hour, func(c *Config) *time.Duration { return &c.ReplicaTimeout },
		"How long a node may be silent before replicas of databases with a fixed number of replicas are made on other nodes; 0: for ever."),
	bytesKey("server.cluster.log.keep", "64M", mib, 1024*gib, func(c *Config) *int64 { return &c.ClusterLogKeep },
		"Log that stays behind a checkpoint for replicas that are behind; who needs more gets what of the state it lacks."),
	bytesKey("server.cluster.fetch.rate", "128M", 0, 1024*gib, func(c *Config) *int64 { return &c.ClusterFetchRate },
		"Bytes a second of databases' states that a node sends to those that lack them; 0: as fast as it can."),
	stringKey("server.host", "127.0.0.1", "an address or host name", func(c *Config) *string { return &c.Host },
		"Address that PostgreSQL clients connect to; empty: every address of the machine."),
	intKey("server.port", "5432", 0, 65535, func(c *Config) *int64 { return &c.Port },
		"Port that PostgreSQL clients connect to; 0: any free one, printed at start."),
	stringKey("server.base.dir", "herd-data", "a folder", func(c *Config) *string { return &c.BaseDir },
		"Folder that everything is kept in; made when missing."),
	stringKey("server.data.dir", "data", "a folder", func(c *Config) *string { return &c.DataDirName },
		"Folder of the checkpointed blocks, below the base folder unless absolute."),
	stringKey("server.log.dir", "txlog", "a folder", func(c *Config) *string { return &c.LogDirName },
		"Folder of the transaction log, below the base folder unless absolute."),
	stringKey("server.tmp.dir", "tmp", "a folder", func(c *Config) *string { return &c.TmpDirName },
		"Folder that large sorts and joins spill to, below the base folder unless absolute; emptied at start."),
	stringKey("server.metadata.dir", "metadata", "a folder", func(c *Config) *string { return &c.MetadataDirName },
		"Folder of the manifest, below the base folder unless absolute."),
	choiceKey("server.auth", "trust", []string{"trust", "scram"}, func(c *Config) *string { return &c.Auth },
		"How a client on loopback proves who it is; clients from other machines always need a password (SCRAM-SHA-256)."),
	stringKey("server.users.file", "", "a file", func(c *Config) *string { return &c.UsersFile },
		"File of name:password lines, below the base folder unless absolute; these roles are made or updated at start. Empty: none."),
	boolKey("server.ssl", "false", func(c *Config) *bool { return &c.SSL },
		"Offer TLS to clients that ask for it."),
	stringKey("server.ssl.cert.file", "", "a PEM file", func(c *Config) *string { return &c.SSLCertFile },
		"Certificate, below the base folder unless absolute; empty: a self-signed one made at first start and kept in the base folder."),
	stringKey("server.ssl.key.file", "", "a PEM file", func(c *Config) *string { return &c.SSLKeyFile },
		"Private key of the certificate, below the base folder unless absolute."),
	intKey("server.max.connections", "2000", 1, 100000, func(c *Config) *int64 { return &c.MaxConnections },
		"Sessions open at once; the next one is refused with 53300."),
	bytesKey("server.memory.max.limit", "0", 0, 1024*1024*gib, func(c *Config) *int64 { return &c.MemoryMaxBytes },
		"Memory the process may use; 0: three quarters of the machine's or container's."),
	choiceKey("server.memory.huge.pages", "try", []string{"try", "off"}, func(c *Config) *string { return &c.HugePages },
		"Whether to ask the system for huge pages, which make first use of memory and look-ups cheaper; not under a small memory limit."),
	bytesKey("server.memory.page.size", "8K", 4*kib, 32*kib, func(c *Config) *int64 { return &c.PageBytes },
		"Target size of a leaf of a table or index."),
	bytesKey("server.memory.planscache.limit", "50M", mib, 64*gib, func(c *Config) *int64 { return &c.PlanCacheBytes },
		"Memory for cached plans."),
	syncKey("server.log.sync", "always", func(c *Config) *LogSync { return &c.LogSync },
		"When the log is forced to disk: always before a commit is answered, once a period, or never."),
	bytesKey("server.log.segment.size", "64M", mib, gib, func(c *Config) *int64 { return &c.LogSegmentBytes },
		"Size of a file of the transaction log."),
	stringKey("server.log.archive.dir", "", "a folder", func(c *Config) *string { return &c.LogArchiveDir },
		"Folder that the transaction log is copied to before it is freed, for herd restore --archive; below the base folder unless absolute. Empty: none. Standalone mode only."),
	millisKey("server.log.archive.period", "60000", time.Second, day, func(c *Config) *time.Duration { return &c.LogArchivePeriod },
		"Longest time until a commit is in the archive."),
	bytesKey("server.log.archive.keep.max", "16G", 0, 1024*1024*gib, func(c *Config) *int64 { return &c.LogArchiveKeepMax },
		"Log that is kept while the archive cannot be written; beyond it the oldest goes, which leaves a gap in the archive and is said in the server's messages and metrics. 0: it never goes."),
	millisKey("server.checkpoint.period", "900000", 0, 7*day, func(c *Config) *time.Duration { return &c.CheckpointPeriod },
		"Time from the begin of a checkpoint to that of the next; 0: only by log size and changed memory."),
	millisKey("server.checkpoint.duration", "30000", 0, day, func(c *Config) *time.Duration { return &c.CheckpointDuration },
		"Time that a background checkpoint spreads its writes over, at most nine tenths of the period; 0: as fast as the disk allows."),
	bytesKey("server.checkpoint.log.max", "1G", 4*mib, 1024*gib, func(c *Config) *int64 { return &c.CheckpointLogBytesMax },
		"Bytes of log since the last checkpoint that start the next one."),
	fractionKey("server.checkpoint.page.dirty.max.threshold", "0.25", func(c *Config) *float64 { return &c.CheckpointDirtyThreshold },
		"Share of the memory limit that may be changed and not yet checkpointed before a checkpoint starts."),
	fractionKey("server.checkpoint.page.fill.min.threshold", "0.35", func(c *Config) *float64 { return &c.CheckpointFillThreshold },
		"Share of a data file that is still in use below which its live blocks are moved and the file is removed."),
	intKey("server.processors", "0", 0, 1024, func(c *Config) *int64 { return &c.Processors },
		"Threads that run at once; 0: the number of cores, and two more while the disk is waited for."),
	choiceKey("server.device", "disk", []string{"disk", "hdd"}, func(c *Config) *string { return &c.Device },
		"Storage to run on: the machine's disk as it is, or slowed down to a simulated hard disk (for measurements): 12.2 ms for each flush and each read that does not continue the last one, 150 MB/s."),
	choiceKey("server.logging.level", "info", []string{"debug", "info", "warn", "error"}, func(c *Config) *string { return &c.LogLevel },
		"Least important message that the server writes to standard error."),
	choiceKey("server.logging.format", "text", []string{"text", "json"}, func(c *Config) *string { return &c.LogFormat },
		"Form of the server's messages."),
	boolKey("http.enabled", "true", func(c *Config) *bool { return &c.HTTPEnabled },
		"Serve /metrics, /healthz and /debug/pprof."),
	stringKey("http.host", "", "an address or host name", func(c *Config) *string { return &c.HTTPHost },
		"Address of the metrics endpoint; empty: the value of server.host."),
	intKey("http.port", "9845", 0, 65535, func(c *Config) *int64 { return &c.HTTPPort },
		"Port of the metrics endpoint; 0: any free one, printed at start."),
}

// Keys returns the table of every key, in print order. `herd conf` and the server's documentation use it.
func Keys() []Key { return append([]Key(nil), table...) }

// find returns the key of a name, or nil.
func find(name string) *Key {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}
