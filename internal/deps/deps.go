//go:build deps

// Package deps pins the modules that packages still under construction need.
package deps

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/cockroachdb/apd/v3"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgproto3/v2"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/magiconair/properties"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/collectors"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "github.com/sqlc-dev/oliphant"
	_ "go.etcd.io/bbolt"
	_ "golang.org/x/crypto/pbkdf2"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "golang.org/x/tools/go/packages"
)
