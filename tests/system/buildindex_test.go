package system

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// writers change rows of table w at random until stop is closed: all kinds of changes, committed and rolled back. They
// return how many transactions ended.
func writers(t *testing.T, url string, n int, keys int, stop chan struct{}, group *sync.WaitGroup) *atomic.Int64 {
	t.Helper()
	var ended atomic.Int64
	for i := range n {
		c := Connect(t, url)
		r := rand.New(rand.NewSource(int64(i)))
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := randomTransaction(c, r, keys); err != nil {
					t.Error(err)
					return
				}
				ended.Add(1)
			}
		})
	}
	return &ended
}

// randomTransaction is one of writers'. Errors that concurrency brings about are part of the game.
func randomTransaction(c *pgconn.PgConn, r *rand.Rand, keys int) error {
	ctx := context.Background()
	sql := []string{"BEGIN"}
	for range 1 + r.Intn(3) {
		id, v, u := r.Intn(keys), r.Intn(keys), r.Intn(20*keys)
		sql = append(sql, []string{
			fmt.Sprintf("INSERT INTO w VALUES (%d, %d, %d, 'n') ON CONFLICT (id) DO NOTHING", id, v, u),
			fmt.Sprintf("UPDATE w SET v = %d WHERE id = %d", v, id),
			fmt.Sprintf("UPDATE w SET v = %d, u = %d WHERE id = %d", v, u, id),
			fmt.Sprintf("UPDATE w SET t = 'x%d' WHERE id = %d", v, id),
			fmt.Sprintf("UPDATE w SET id = %d WHERE id = %d AND NOT EXISTS (SELECT FROM w WHERE id = %d)", id+keys, id, id+keys),
			fmt.Sprintf("UPDATE w SET id = %d WHERE id = %d AND NOT EXISTS (SELECT FROM w WHERE id = %d)", id, id+keys, id),
			fmt.Sprintf("DELETE FROM w WHERE id = %d", id),
			fmt.Sprintf("DELETE FROM w WHERE v = %d", v),
		}[r.Intn(8)])
	}
	end := "COMMIT"
	if r.Intn(4) == 0 {
		end = "ROLLBACK"
	}
	for _, s := range append(sql, end) {
		_, err := c.Exec(ctx, s).ReadAll()
		switch stateOf(err) {
		case "":
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			continue
		case "23505", "40P01", "40001":
		default:
			return fmt.Errorf("%s: %w", s, err)
		}
		_, err = c.Exec(ctx, "ROLLBACK").ReadAll()
		return err
	}
	return nil
}

// sameByIndex fails when reading table w through an index gives other rows than reading all of it.
func sameByIndex(t *testing.T, c *pgconn.PgConn, index, column string) {
	t.Helper()
	query := fmt.Sprintf("SELECT count(*) || ' ' || coalesce(md5(string_agg(id || ',' || %[1]s || ',' || t, ';' ORDER BY %[1]s, id)), '') FROM w WHERE %[1]s >= 0", column)
	Exec(t, c, "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off")
	want := Value(t, c, query)
	Exec(t, c, "SET LOCAL enable_indexscan = on; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
	got := Value(t, c, query)
	var p strings.Builder
	for _, r := range Exec(t, c, "EXPLAIN "+query) {
		p.Write(r[0])
		p.WriteByte('\n')
	}
	Exec(t, c, "COMMIT")
	if !strings.Contains(p.String(), index) {
		t.Fatalf("the plan does not use %s:\n%s", index, p.String())
	}
	if got != want {
		t.Fatalf("through %s: %s, without: %s", index, got, want)
	}
}

// While an index is built and dropped CONCURRENTLY others write without waiting, and the index has exactly the rows.
func TestBuildIndexBesideWriters(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		const keys = 3000
		c := Connect(t, url)
		Exec(t, c, fmt.Sprintf("CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g %% 977, g * 10, 'x' FROM generate_series(0, %d, 2) g", keys))
		stop := make(chan struct{})
		var group sync.WaitGroup
		ended := writers(t, url, 4, keys, stop, &group)
		built, failed := 0, 0
		for round := range 12 {
			before := ended.Load()
			Exec(t, c, "CREATE INDEX CONCURRENTLY wv ON w (v)")
			sameByIndex(t, c, "wv", "v")
			if round%3 == 0 && ended.Load() == before {
				t.Error("nobody wrote during the build")
			}
			// Values of u may repeat: then the build fails, else they do not as long as the index is there.
			_, err := c.Exec(context.Background(), "CREATE UNIQUE INDEX CONCURRENTLY wu ON w (u)").ReadAll()
			switch stateOf(err) {
			case "23505":
				failed++
				Exec(t, c, "DELETE FROM w a USING w b WHERE a.u = b.u AND a.id > b.id")
				if _, err := c.Exec(context.Background(), "REINDEX INDEX CONCURRENTLY wu").ReadAll(); stateOf(err) != "" {
					break
				}
				fallthrough
			case "":
				if err != nil && stateOf(err) == "" {
					t.Fatal(err)
				}
				if Value(t, c, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'wu'::regclass") == "t" {
					built++
					sameByIndex(t, c, "wu", "u")
					if n := Value(t, c, "SELECT count(*) - count(DISTINCT u) FROM w"); n != "0" {
						t.Errorf("%s values repeat under a unique index", n)
					}
				}
			default:
				t.Fatal(err)
			}
			Exec(t, c, "DROP INDEX CONCURRENTLY wv")
			Exec(t, c, "DROP INDEX CONCURRENTLY wu")
			Exec(t, c, "DROP INDEX IF EXISTS wu_ccnew")
		}
		close(stop)
		group.Wait()
		if built == 0 {
			t.Error("the unique index could never be built")
		}
		t.Logf("%d transactions, unique index built %d times, refused %d times", ended.Load(), built, failed)
	})
}

// background runs a statement in a session of its own and returns where its error will be.
func background(c *pgconn.PgConn, sql string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(context.Background(), sql).ReadAll()
		done <- err
	}()
	return done
}

// until runs a query until it returns what is wanted.
func until(t *testing.T, c *pgconn.PgConn, query, want string) {
	t.Helper()
	got := ""
	for range 500 {
		if rows := Exec(t, c, query); len(rows) > 0 {
			if got = string(rows[0][0]); got == want {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s stays %q, expected %q", query, got, want)
}

// A build waits for older writers and for older snapshots, and nobody waits for it.
func TestBuildIndexWaits(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		old, other, builder, c := Connect(t, url), Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, c, "CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g, g, 'x' FROM generate_series(1, 100) g")
		Exec(t, old, "BEGIN; UPDATE w SET v = -1 WHERE id = 1")
		Exec(t, other, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM w")
		done := background(builder, "CREATE INDEX CONCURRENTLY wv ON w (v)")
		const phase = "SELECT phase FROM pg_stat_progress_create_index WHERE relid = 'w'::regclass"
		until(t, c, phase, "waiting for writers before build")
		if got := Value(t, c, "SELECT current_locker_pid || ' ' || command FROM pg_stat_progress_create_index"); got != fmt.Sprint(old.PID(), " CREATE INDEX CONCURRENTLY") {
			t.Error("waits for", got)
		}
		Exec(t, c, "INSERT INTO w VALUES (101, 101, 101, 'n'); UPDATE w SET v = 7000 WHERE id = 7; DELETE FROM w WHERE id = 8")
		if got := Value(t, c, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'wv'::regclass"); got != "f" {
			t.Error("valid before it is built:", got)
		}
		Exec(t, old, "COMMIT")
		until(t, c, phase, "waiting for old snapshots")
		Exec(t, c, "INSERT INTO w VALUES (102, 102, 102, 'n')")
		expectState(t, c, "SET lock_timeout = '50ms'; DROP TABLE w", "55P03")
		Exec(t, other, "SET enable_seqscan = off")
		if got := Value(t, other, "SELECT count(*) FROM w WHERE v >= 0"); got != "100" {
			t.Error("the old snapshot sees", got)
		}
		Exec(t, other, "COMMIT")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		sameByIndex(t, c, "wv", "v")
		if got := Value(t, c, "SELECT count(*) FROM pg_stat_progress_create_index"); got != "0" {
			t.Error("progress of", got, "builds is left")
		}
	})
}

// A build is held in its middle, all entries made but those of two rows that another transaction has locked: what others change meanwhile, and what
// that one changes before and after, is in the index once.
func TestBuildIndexInTheMiddle(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		old, holder, builder, c := Connect(t, url), Connect(t, url), Connect(t, url), Connect(t, url)
		for _, unique := range []string{"", "UNIQUE "} {
			Exec(t, c, "DROP TABLE IF EXISTS w; CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g, g, 'x' FROM generate_series(1, 2000) g")
			Exec(t, old, "BEGIN; UPDATE w SET t = 'y' WHERE id = 1")
			done := background(builder, "CREATE "+unique+"INDEX CONCURRENTLY wv ON w (v)")
			const progress = " FROM pg_stat_progress_create_index WHERE relid = 'w'::regclass"
			until(t, c, "SELECT phase"+progress, "waiting for writers before build")
			Exec(t, holder, "BEGIN; UPDATE w SET v = 9001 WHERE id = 900; DELETE FROM w WHERE id = 901")
			Exec(t, old, "COMMIT")
			until(t, c, "SELECT phase = 'waiting for writers before validation' OR phase LIKE 'building index%' AND tuples_done = 2000"+progress, "t")
			Exec(t, c, "INSERT INTO w VALUES (3000, 3000, 0, 'n'); UPDATE w SET v = v + 5000 WHERE id BETWEEN 10 AND 20; DELETE FROM w WHERE id BETWEEN 30 AND 40")
			Exec(t, c, "UPDATE w SET id = id + 10000 WHERE id BETWEEN 50 AND 60; DELETE FROM w WHERE id = 70; INSERT INTO w VALUES (70, 70, 1, 'again'), (30, 31, 1, 'again')")
			Exec(t, c, "UPDATE w SET v = -v WHERE id = 80; UPDATE w SET v = -v WHERE id = 80; BEGIN; UPDATE w SET v = 1 - v WHERE id > 1950; ROLLBACK")
			if unique != "" {
				expectState(t, c, "INSERT INTO w VALUES (3001, 100, 0, 'twice')", "23505")
			}
			Exec(t, holder, "UPDATE w SET v = 9002 WHERE id = 900; INSERT INTO w VALUES (901, 9001, 0, 'back'); COMMIT")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			sameByIndex(t, c, "wv", "v")
			for query, want := range map[string]string{
				"SELECT id FROM w WHERE v = 9002": "900", "SELECT id FROM w WHERE v = 9001": "901", "SELECT id FROM w WHERE v = 31": "30",
				"SELECT id FROM w WHERE v = 55": "10055", "SELECT count(*) FROM w WHERE v IN (900, 15, 33)": "0", "SELECT id FROM w WHERE v = 80": "80",
			} {
				if got := Value(t, c, "SET enable_seqscan = off; "+query); got != want {
					t.Errorf("%s: %s, want %s", query, got, want)
				}
			}
			if unique != "" {
				expectState(t, c, "INSERT INTO w VALUES (3001, 9001, 0, 'twice')", "23505")
			}
		}
	})
}

// What a build may not do, and what a failed one leaves.
func TestBuildIndexFails(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		c := Connect(t, url)
		Exec(t, c, "CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g, g / 2, 'x' FROM generate_series(1, 100) g")
		for _, sql := range []string{"BEGIN; CREATE INDEX CONCURRENTLY wv ON w (v)", "BEGIN; DROP INDEX CONCURRENTLY w_pkey",
			"BEGIN; REINDEX TABLE CONCURRENTLY w"} {
			expectState(t, c, sql, "25001")
			Exec(t, c, "ROLLBACK")
		}
		_, err := c.Exec(context.Background(), "CREATE UNIQUE INDEX CONCURRENTLY wu ON w (u)").ReadAll()
		e, ok := err.(*pgconn.PgError)
		if !ok || e.Code != "23505" || e.Message != `could not create unique index "wu"` || !strings.HasPrefix(e.Detail, "Key (u)=(") || e.ConstraintName != "wu" {
			t.Errorf("%+v", err)
		}
		const state = "SELECT indisvalid || ' ' || indisready FROM pg_index WHERE indexrelid = 'wu'::regclass"
		if got := Value(t, c, state); got != "false false" {
			t.Error("left valid and ready", got)
		}
		Exec(t, c, "INSERT INTO w VALUES (1000, 1, 1, 'x')") // it is not enforced
		expectState(t, c, "REINDEX INDEX wu", "23505")
		Exec(t, c, "DELETE FROM w WHERE id % 2 = 1 OR id = 1000; REINDEX INDEX wu")
		if got := Value(t, c, state); got != "true true" {
			t.Error("after REINDEX valid and ready", got)
		}
		sameByIndex(t, c, "wu", "u")
		expectState(t, c, "INSERT INTO w VALUES (1000, 1, 1, 'x')", "23505")
		for sql, want := range map[string]string{"DROP INDEX CONCURRENTLY wu, w_pkey": "0A000", "DROP INDEX CONCURRENTLY wu CASCADE": "0A000",
			"DROP INDEX CONCURRENTLY w_pkey": "2BP01", "DROP INDEX CONCURRENTLY nothing": "42704", "CREATE INDEX CONCURRENTLY wu ON w (v)": "42P07"} {
			expectState(t, c, sql, want)
		}
		Exec(t, c, "CREATE INDEX CONCURRENTLY IF NOT EXISTS wu ON w (v)")
		Exec(t, c, "DROP INDEX CONCURRENTLY IF EXISTS nothing")
	})
}

// A build that waits is cancelled; what it waited for deadlocks with it when it wants the table.
func TestBuildIndexGivesUp(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		old, builder, c := Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, c, "CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g, g, 'x' FROM generate_series(1, 100) g")
		Exec(t, old, "BEGIN; UPDATE w SET v = -1 WHERE id = 1")
		Exec(t, builder, "SET statement_timeout = '100ms'")
		expectState(t, builder, "CREATE INDEX CONCURRENTLY wv ON w (v)", "57014")
		if got := Value(t, c, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'wv'::regclass"); got != "f" {
			t.Error("a cancelled build leaves valid", got)
		}
		Exec(t, builder, "RESET statement_timeout")
		done := background(builder, "REINDEX INDEX CONCURRENTLY wv")
		until(t, c, "SELECT count(*) > 0 FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting for%'", "t")
		_, err := old.Exec(context.Background(), "LOCK TABLE w IN SHARE MODE").ReadAll()
		if other := <-done; stateOf(err) != "40P01" && stateOf(other) != "40P01" {
			t.Errorf("no deadlock: %v, %v", err, other)
		}
		Exec(t, old, "ROLLBACK")
	})
}

// An index whose build a crash ended is invalid, keeps nobody from writing, and can be built anew.
func TestBuildIndexAcrossCrash(t *testing.T) {
	ctx := context.Background()
	h := peer.HerdFor(t)
	s, err := h.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	old, builder, c := Connect(t, s.URL), Connect(t, s.URL), Connect(t, s.URL)
	Exec(t, c, "CREATE TABLE w (id int PRIMARY KEY, v int, u int, t text); INSERT INTO w SELECT g, g, g, 'x' FROM generate_series(1, 20000) g")
	Exec(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM w")
	done := background(builder, "CREATE UNIQUE INDEX CONCURRENTLY wu ON w (u)")
	until(t, c, "SELECT phase FROM pg_stat_progress_create_index", "waiting for old snapshots") // all entries are there
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the build ended")
	}
	s, err = h.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	c = Connect(t, s.URL)
	if got := Value(t, c, "SELECT indisvalid || ' ' || indisready FROM pg_index WHERE indexrelid = 'wu'::regclass"); got != "false false" {
		t.Error("after the crash valid and ready", got)
	}
	if got := Value(t, c, "SELECT pg_relation_size('wu') < pg_relation_size('w') / 10"); got != "t" {
		t.Error("the entries of the unfinished index are still there")
	}
	Exec(t, c, "INSERT INTO w VALUES (-1, 1, 1, 'x'); DELETE FROM w WHERE id = -1")
	Exec(t, c, "REINDEX INDEX CONCURRENTLY wu")
	sameByIndex(t, c, "wu", "u")
}

// A snapshot older than an index is read without it.
func TestOldSnapshotAndNewIndex(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b := Connect(t, url), Connect(t, url)
		Exec(t, a, "CREATE TABLE w (id int PRIMARY KEY, v int); INSERT INTO w SELECT g, g FROM generate_series(1, 1000) g; SET enable_seqscan = off")
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			Exec(t, a, "PREPARE q AS SELECT count(*) FROM w WHERE v BETWEEN $1 AND 10")
			Exec(t, a, "BEGIN ISOLATION LEVEL "+level+"; SELECT 1 FROM pg_class LIMIT 1; SELECT count(*) FROM generate_series(1, 2)")
			Exec(t, b, "CREATE INDEX wv ON w (v)")
			for _, query := range []string{"SELECT count(*) FROM w WHERE v BETWEEN 1 AND 10", "EXECUTE q(1)"} {
				if got := Value(t, a, query); got != "10" {
					t.Errorf("%s: %s gives %s", level, query, got)
				}
			}
			Exec(t, a, "COMMIT")
			Exec(t, b, "DROP INDEX wv")
			Exec(t, a, "DEALLOCATE q")
		}
	})
}

// Plain CREATE INDEX shows its progress, keeps writers of its table away and nobody else.
func TestPlainBuildIndex(t *testing.T) {
	ForEach(t, func(t *testing.T, url string) {
		a, b, c := Connect(t, url), Connect(t, url), Connect(t, url)
		Exec(t, c, "CREATE TABLE w (id int PRIMARY KEY, v int); CREATE TABLE other (id int PRIMARY KEY); INSERT INTO w SELECT g, g FROM generate_series(1, 100000) g")
		done := background(a, "CREATE INDEX wv ON w (md5(repeat('x', 400 + v % 2)))")
		seen := false
		for n := 0; len(done) == 0; n++ {
			rows := rowsText(t, c, "SELECT command, phase FROM pg_stat_progress_create_index WHERE relid = 'w'::regclass")
			seen = seen || strings.HasPrefix(rows, "CREATE INDEX|building index")
			Exec(t, b, fmt.Sprintf("INSERT INTO other VALUES (%d)", n))
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !seen {
			t.Error("no progress was shown")
		}
		if got := Value(t, c, "SELECT count(*) FROM pg_stat_progress_create_index"); got != "0" {
			t.Error("progress of", got, "builds is left")
		}
	})
}

// A table whose rows moved to another tree after a snapshot was taken is not read as if it were empty.
func TestOldSnapshotAndNewTable(t *testing.T) {
	s := peer.StartHerdFor(t)
	a, b := Connect(t, s.URL), Connect(t, s.URL)
	Exec(t, a, "CREATE TABLE w (id int PRIMARY KEY, v int); INSERT INTO w SELECT g, g FROM generate_series(1, 10) g")
	for _, sql := range []string{"ALTER TABLE w ALTER COLUMN v TYPE bigint", "ALTER TABLE w DROP CONSTRAINT w_pkey", "TRUNCATE w", "CREATE TABLE made (v int)"} {
		Exec(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
		Exec(t, b, sql)
		query := "SELECT count(*) FROM w"
		if strings.HasPrefix(sql, "CREATE") {
			query = "SELECT count(*) FROM made"
		}
		expectState(t, a, query, "40001")
		Exec(t, a, "ROLLBACK")
		Exec(t, a, query)
	}
}
