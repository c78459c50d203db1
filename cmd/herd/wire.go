package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"herd/cluster"
	"herd/conf"
	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/pgwire"
	"herd/sql/session"
	"herd/txlog"
)

// instance is the server's parts, wired.
type instance struct {
	config   *conf.Config
	logger   *slog.Logger
	memory   *mem.Account
	node     *cluster.Node // nil: standalone
	engine   *engine.Engine
	sessions *session.Server
	listener *pgwire.Listener
	password string // made up for this new data folder, to be printed once
	stopping atomic.Bool
}

// openInstance opens the data folder and binds the SQL port. The end of ctx ends the wait for other nodes. What it opened before an error it closes.
func openInstance(ctx context.Context, c *conf.Config, logger *slog.Logger) (_ *instance, err error) {
	in := &instance{config: c, logger: logger}
	defer func() {
		if err != nil && in.engine != nil {
			_ = in.engine.Close() // the first error is the one to tell
		}
		if err != nil && in.node != nil {
			_ = in.node.Close() // as above
		}
	}()
	limit, err := memoryLimit(c.MemoryMaxBytes)
	if err != nil {
		return nil, err
	}
	fsys := fileSystem(c.Device)
	verifier, err := in.firstPassword(fsys)
	if err != nil {
		return nil, err
	}
	in.memory = mem.NewRoot(accountedLimit(limit))
	o := engineOptions(c, fsys, limit, in.memory, logger)
	if c.Mode == modeCluster && c.LogArchiveDir != "" {
		return nil, errors.New("server.log.archive.dir: the log of a cluster is not archived; leave the setting empty in mode cluster")
	}
	if c.Mode == modeCluster {
		if in.node, err = openNode(ctx, c, fsys, &o, logger); err != nil {
			return nil, err
		}
		o.OpenLog = in.node.OpenLog
	}
	if in.engine, err = engine.Open(o); err != nil {
		return nil, err
	}
	if in.sessions, err = session.New(in.sessionOptions(fsys, verifier)); err != nil {
		return nil, err
	}
	if in.node == nil { // a node makes roles when it leads
		if err := in.loadUsers(); err != nil {
			return nil, err
		}
	}
	if in.listener, err = in.listen(); err != nil {
		return nil, err
	}
	if a, ok := in.listener.Addr().(*net.TCPAddr); ok && c.Port == 0 {
		in.sessions.SetPort(a.Port)
	}
	if in.node == nil {
		return in, nil
	}
	if err := in.startNode(); err != nil {
		return nil, errors.Join(err, in.listener.Close(context.Background()))
	}
	return in, nil
}

func engineOptions(c *conf.Config, fsys vfs.FS, limit int64, memory *mem.Account, logger *slog.Logger) engine.Options {
	o := engine.Options{
		FS: fsys, Dir: c.DataDir(), LogDir: c.LogDir(), MetadataDir: c.MetadataDir(),
		Memory: memory, MemLimit: limit, MappedBytes: mappedBytes, TuneCollector: true, PageSize: int(c.PageBytes),
		LogSyncInterval: c.LogSync.Period, LogSegmentBytesMax: c.LogSegmentBytes,
		CheckpointPeriod: c.CheckpointPeriod, CheckpointDuration: c.CheckpointDuration, CheckpointLogBytes: c.CheckpointLogBytesMax,
		CheckpointDirtyBytes: int64(c.CheckpointDirtyThreshold * float64(limit)), Logger: logger,
	}
	o.ArchiveDir, o.ArchivePeriod, o.ArchiveKeepMax = c.Under(c.LogArchiveDir), c.LogArchivePeriod, c.LogArchiveKeepMax
	const never = -1
	if o.CleanPercent = int(100 * c.CheckpointFillThreshold); o.CleanPercent == 0 {
		o.CleanPercent = never
	}
	if o.CheckpointPeriod == 0 {
		o.CheckpointPeriod = never // by itself
	}
	switch c.LogSync.Mode {
	case conf.SyncAlways:
		o.LogSync = txlog.SyncAlways
	case conf.SyncPeriod:
		o.LogSync = txlog.SyncEvery
	case conf.SyncNever:
		o.LogSync = txlog.SyncNever
	}
	return o
}

func (in *instance) sessionOptions(fsys vfs.FS, verifier string) session.Options {
	c := in.config
	settings := []session.Setting{
		{Name: "max_connections", Value: strconv.FormatInt(c.MaxConnections, 10)},
		{Name: "listen_addresses", Value: c.Host},
		{Name: "data_directory", Value: c.DataDir()},
	}
	if c.Port != 0 { // a port that the system chooses is known when it is bound
		settings = append(settings, session.Setting{Name: "port", Value: strconv.FormatInt(c.Port, 10)})
	}
	o := session.Options{
		Engine: in.engine, Memory: in.memory, SpillFS: fsys, SpillDir: c.TmpDir(), Password: verifier, PlanCacheBytes: c.PlanCacheBytes,
		Settings: settings, Logger: in.logger,
	}
	if in.node != nil {
		o.Cluster = clusterView{in.node}
	}
	return o
}

func (in *instance) listen() (*pgwire.Listener, error) {
	c := in.config
	o := pgwire.Options{Address: c.Address(), MaxConnections: int(c.MaxConnections), Logger: in.logger}
	if c.Auth == "scram" {
		o.Auth = pgwire.AuthSCRAM
	}
	if in.node != nil {
		o.Router = in.node
	}
	if c.SSL {
		config, err := tlsConfig(c)
		if err != nil {
			return nil, err
		}
		o.TLS = config
	}
	return pgwire.Listen(o, in.sessions)
}

// tlsConfig loads the certificate that is named, or the self-signed one of the base folder, which is made when it is missing.
func tlsConfig(c *conf.Config) (*tls.Config, error) {
	files := pgwire.CertificateFiles{Cert: c.Under("server.crt"), Key: c.Under("server.key")}
	if c.SSLCertFile != "" {
		files = pgwire.CertificateFiles{Cert: c.Under(c.SSLCertFile), Key: c.Under(c.SSLKeyFile)}
		for _, f := range []string{files.Cert, files.Key} {
			if _, err := os.Stat(f); err != nil { // a self-signed one in its place would be a surprise
				return nil, fmt.Errorf("server.ssl.cert.file and server.ssl.key.file: %w", err)
			}
		}
	}
	return pgwire.LoadOrMakeTLS(files, c.Host)
}

// firstPassword returns the verifier of the superuser's password for a folder that is not there yet: from HERD_PASSWORD,
// or made up when clients will have to give one, and empty otherwise.
func (in *instance) firstPassword(fsys vfs.FS) (string, error) {
	if in.config.Mode == modeCluster && in.config.ClusterJoin != "" {
		return "", nil // the cluster has its roles
	}
	if _, err := fsys.Stat("herd.start", filepath.Join(in.config.DataDir(), "FORMAT")); err == nil {
		return "", nil
	}
	password := os.Getenv("HERD_PASSWORD")
	if password == "" {
		if in.config.Auth == "trust" && isLoopback(in.config.Host) {
			return "", nil
		}
		const bytes = 15
		raw := make([]byte, bytes)
		rand.Read(raw) // never fails
		in.password = base64.RawURLEncoding.EncodeToString(raw)
		password = in.password
	}
	v, err := session.MakeVerifier(password)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// fileSystem returns the files that the server works on: the operating system's, or a simulated slow disk over them.
func fileSystem(device string) vfs.FS {
	if device == "hdd" {
		return vfs.NewDelay(vfs.OS, vfs.HDD)
	}
	return vfs.OS
}
