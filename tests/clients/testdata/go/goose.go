package main

import (
	"context"
	"database/sql"
	"fmt"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// gooseClient: migrations up and down under a session lock, and a failing one that leaves nothing behind.
func gooseClient(url string) error {
	ctx := context.Background()
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	files := fstest.MapFS{
		"00001_first.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE a (id int PRIMARY KEY);\nINSERT INTO a VALUES (1), (2);\n-- +goose Down\nDROP TABLE a;\n")},
		"00002_second.sql": {Data: []byte("-- +goose Up\nALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT 'x';\nCREATE INDEX ON a (b);\n-- +goose Down\nALTER TABLE a DROP COLUMN b;\n")},
		"00003_beside.sql": {Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY a_beside ON a (b, id);\n-- +goose Down\nDROP INDEX CONCURRENTLY a_beside;\n")},
		"00004_wrong.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE gone (id int);\nSELECT 1/0;\n-- +goose Down\nSELECT 1;\n")},
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	for _, step := range []func() (*goose.MigrationResult, error){
		func() (*goose.MigrationResult, error) { return p.UpByOne(ctx) }, func() (*goose.MigrationResult, error) { return p.UpByOne(ctx) },
		func() (*goose.MigrationResult, error) { return p.UpByOne(ctx) }, func() (*goose.MigrationResult, error) { return p.UpByOne(ctx) },
		func() (*goose.MigrationResult, error) { return p.Down(ctx) }, func() (*goose.MigrationResult, error) { return p.Down(ctx) },
	} {
		r, err := step()
		if r != nil {
			fmt.Println(r.Source.Version, r.Direction)
		}
		version, verr := p.GetDBVersion(ctx)
		fmt.Println(state(err), version, verr)
	}
	var tables string
	err = db.QueryRow("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace").Scan(&tables)
	fmt.Println(tables)
	return err
}
