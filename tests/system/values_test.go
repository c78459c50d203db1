package system

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Values of many sizes come back as they were written, before and after an update of another column.
func TestValueSizes(t *testing.T) {
	for _, size := range []struct{ bytes, rows int }{{100, 2000}, {20 << 10, 200}, {500 << 10, 20}, {5 << 20, 3}, {100 << 20, 1}} {
		t.Run(strconv.Itoa(size.bytes), func(t *testing.T) {
			if size.bytes > 1<<20 && testing.Short() {
				t.Skip("large value in -short")
			}
			ForEach(t, func(t *testing.T, url string) { storeAndRead(t, Connect(t, url), size.bytes, size.rows) })
		})
	}
}

func storeAndRead(t *testing.T, c *pgconn.PgConn, bytes, rows int) {
	t.Helper()
	ctx := context.Background()
	Exec(t, c, "CREATE TABLE v (id int PRIMARY KEY, body bytea NOT NULL, note int DEFAULT 0)")
	if _, err := c.Prepare(ctx, "put", "INSERT INTO v (id, body) VALUES ($1, $2)", nil); err != nil {
		t.Fatal(err)
	}
	sums := map[string][sha256.Size]byte{}
	value := make([]byte, bytes)
	random := rand.New(rand.NewPCG(uint64(bytes), 1))
	for i := range rows {
		for j := 0; j+8 <= len(value); j += 8 {
			w := random.Uint64()
			for k := range 8 {
				value[j+k] = byte(w >> (8 * k))
			}
		}
		id := strconv.Itoa(i)
		if r := c.ExecPrepared(ctx, "put", [][]byte{[]byte(id), value}, []int16{0, 1}, nil).Read(); r.Err != nil {
			t.Fatalf("store %d bytes: %v", bytes, r.Err)
		}
		sums[id] = sha256.Sum256(value)
	}
	for _, change := range []string{"", "UPDATE v SET note = note + 1", "CHECKPOINT"} {
		if change != "" {
			Exec(t, c, change)
		}
		reader := c.ExecParams(ctx, "SELECT id::text, body FROM v", nil, nil, nil, []int16{0, 1})
		seen := 0
		for reader.NextRow() {
			seen++
			if v := reader.Values(); sha256.Sum256(v[1]) != sums[string(v[0])] || len(v[1]) != bytes {
				t.Fatalf("row %s after %q is not what was stored (%d bytes)", v[0], change, len(v[1]))
			}
		}
		if _, err := reader.Close(); err != nil || seen != rows {
			t.Fatalf("after %q: %d of %d rows, %v", change, seen, rows, err)
		}
	}
	if got := Value(t, c, "SELECT sum(length(body)) FROM v"); got != fmt.Sprint(bytes*rows) {
		t.Errorf("%s bytes in all, want %d", got, bytes*rows)
	}
}
