package system

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"herd/tests/peer"
)

// Data folders that earlier formats have left, in testdata/folder-<format>.tar.gz, with what is in them in folder-<format>.txt. They
// are kept for good. A new format gets one by
//
//	HERD_MAKE_FIXTURE=<format> go test ./tests/system -run TestFolderFixtures
//
// which runs fixtureSQL on a new folder, kills the server, so that there is a log to replay, and packs the folder.

// fixtureSettings keep a folder small.
var fixtureSettings = []string{"server.log.segment.size=1MB"}

// fixtureSQL makes something of all that has a durable form: rows of all widths, large values, indexes, sequences, views, roles,
// functions, statistics, a second database; some of it in blocks and some in the log.
const fixtureSQL = `
	CREATE ROLE reader; CREATE SCHEMA shop;
	CREATE TYPE shop.state AS ENUM ('new', 'paid', 'sent');
	CREATE DOMAIN shop.amount AS numeric(12,2) CHECK (VALUE >= 0);
	CREATE TABLE shop.customer (id serial PRIMARY KEY, name text NOT NULL UNIQUE, born date, tags text[], data jsonb);
	CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int NOT NULL REFERENCES shop.customer ON DELETE CASCADE,
		state shop.state DEFAULT 'new', amount shop.amount, at timestamptz DEFAULT '2026-01-01 00:00+00', note varchar(40) COLLATE "C");
	INSERT INTO shop.customer (name, born, tags, data) SELECT 'customer ' || i, date '1970-01-01' + i, ARRAY['t' || i % 3], jsonb_build_object('n', i)
		FROM generate_series(1, 300) i;
	INSERT INTO shop.orders (customer, state, amount, note) SELECT 1 + i % 300, (ARRAY['new', 'paid', 'sent'])[1 + i % 3]::shop.state, i * 1.25, 'order ' || i
		FROM generate_series(1, 600) i;
	CREATE INDEX ON shop.orders (customer, at DESC) WHERE state <> 'sent';
	CREATE UNIQUE INDEX ON shop.customer (lower(name));
	CREATE TABLE plain (a int, b float8, c bool, d uuid, e bytea, f interval, g inet);
	INSERT INTO plain VALUES (1, 1.5, true, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\x00ff', '1 mon 2 days 03:04:05', NULL), (NULL, 'NaN', NULL, NULL, NULL, NULL, NULL);
	CREATE TABLE large (id int PRIMARY KEY, small text, body text); ALTER TABLE large ALTER body SET STORAGE EXTERNAL;
	INSERT INTO large SELECT i, repeat('s', 5000 * i), repeat('large ', 60000 * i) FROM generate_series(1, 2) i;
	CREATE VIEW shop.open AS SELECT c.name, count(*) AS orders, sum(o.amount) AS amount FROM shop.orders o JOIN shop.customer c ON c.id = o.customer WHERE o.state = 'new' GROUP BY c.name;
	CREATE FUNCTION shop.twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
	CREATE SEQUENCE counter START 7 INCREMENT 3; SELECT nextval('counter'); SELECT nextval('counter');
	GRANT USAGE ON SCHEMA shop TO reader; GRANT SELECT ON shop.customer TO reader;
	COMMENT ON TABLE plain IS 'without a key';
	ANALYZE; CHECKPOINT;
	UPDATE shop.orders SET state = 'sent', note = note || '!' WHERE id % 7 = 0; DELETE FROM shop.customer WHERE id BETWEEN 10 AND 19;
	ALTER TABLE plain ADD COLUMN h int DEFAULT 42; ALTER TABLE plain DROP COLUMN c;
	BEGIN; UPDATE large SET small = 'short' WHERE id = 1; SAVEPOINT s; DELETE FROM large; ROLLBACK TO s; COMMIT`

// fixtureQueries show what is in a folder.
var fixtureQueries = []string{
	"SELECT * FROM shop.customer ORDER BY id",
	"SELECT id, customer, state, amount, at AT TIME ZONE 'UTC', note FROM shop.orders ORDER BY id",
	"SELECT customer, count(*) FROM shop.orders WHERE state <> 'sent' AND customer < 40 GROUP BY 1 ORDER BY 1",
	"SELECT * FROM shop.open ORDER BY 1",
	"SELECT * FROM plain ORDER BY a",
	"SELECT id, length(small), md5(small), length(body), md5(body) FROM large ORDER BY id",
	"SELECT nextval('counter'), shop.twice(21), obj_description('plain'::regclass)",
	"SELECT relname, relkind, relacl FROM pg_class WHERE oid >= 16384 ORDER BY relname, relkind",
	"SELECT pg_get_viewdef('shop.open'::regclass), pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'shop.orders'::regclass ORDER BY 2",
	"SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE oid >= 16384 ORDER BY 1",
	"SELECT 'rows', (SELECT rows FROM herd_checksum('shop.orders')), (SELECT rows FROM herd_checksum('large'))",
}

func TestFolderFixtures(t *testing.T) {
	if format := os.Getenv("HERD_MAKE_FIXTURE"); format != "" {
		makeFixture(t, "testdata/folder-"+format)
	}
	packed, err := filepath.Glob("testdata/folder-*.tar.gz")
	if err != nil || len(packed) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range packed {
		name := strings.TrimSuffix(file, ".tar.gz")
		t.Run(filepath.Base(name), func(t *testing.T) {
			h := peer.HerdFor(t, fixtureSettings...)
			unpack(t, file, h.Dir)
			want, err := os.ReadFile(name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			herd(t, h, "check")
			herd(t, h, "upgrade")
			if out := herd(t, h, "upgrade"); !strings.Contains(out, "nothing to do") {
				t.Errorf("a second upgrade says %s", out)
			}
			s := start(t, h)
			if got := fixtureContent(t, s.URL); got != string(want) {
				t.Errorf("content differs:\n%s", firstDifference(got, string(want)))
			}
			c := Connect(t, s.URL)
			Exec(t, c, "INSERT INTO shop.orders (customer, amount) VALUES (1, 5); REINDEX TABLE shop.orders; CHECKPOINT")
			Exec(t, c, "CREATE DATABASE third")
			if err := s.Shutdown(); err != nil {
				t.Fatal(err)
			}
			herd(t, h, "check")
		})
	}
}

// herd runs a command of the program on the folder.
func herd(t *testing.T, h *peer.Herd, command string) string {
	t.Helper()
	out, err := exec.Command(h.Binary, command, h.Dir).CombinedOutput()
	if err != nil {
		t.Fatalf("herd %s: %v: %s", command, err, out)
	}
	return string(out)
}

// start starts a server that ends with the test.
func start(t *testing.T, h *peer.Herd) *peer.Server {
	t.Helper()
	s, err := h.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown() })
	return s
}

func fixtureContent(t *testing.T, url string) string {
	t.Helper()
	c := Connect(t, url)
	var b strings.Builder
	for _, q := range fixtureQueries {
		b.WriteString("-- " + q + "\n")
		for _, row := range Exec(t, c, q) {
			for i, v := range row {
				if i > 0 {
					b.WriteByte('|')
				}
				if v == nil {
					b.WriteString("NULL")
				}
				b.Write(v)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}

func makeFixture(t *testing.T, name string) {
	h := peer.HerdFor(t, fixtureSettings...)
	s := start(t, h)
	c := Connect(t, s.URL)
	for _, sql := range strings.Split(fixtureSQL, "CHECKPOINT;") {
		Exec(t, c, sql)
		Exec(t, c, "CHECKPOINT")
	}
	Exec(t, c, "CREATE DATABASE second")
	Exec(t, c, "INSERT INTO shop.customer (name) VALUES ('in the log'); UPDATE plain SET b = 2 WHERE a = 1")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	pack(t, h.Dir, name+".tar.gz")
	if err := os.WriteFile(name+".txt", []byte(fixtureContent(t, start(t, h).URL)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pack writes a folder into an archive, smallest files.
func pack(t *testing.T, dir, file string) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return w.WriteHeader(&tar.Header{Name: name + "/", Mode: 0o700, Typeflag: tar.TypeDir})
		}
		p, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(p)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(p)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 300<<10 {
		t.Fatalf("the packed folder has %d bytes", b.Len())
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var p []byte
			if p, err = io.ReadAll(r); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, p, 0o600))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
