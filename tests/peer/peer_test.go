package peer

import (
	"testing"
)

func TestStartAndStop(t *testing.T) {
	for name, start := range map[string]func(testing.TB) string{"PostgreSQL": Postgres, "MariaDB": MariaDB} {
		t.Run(name, func(t *testing.T) {
			if url := start(t); url == "" {
				t.Fatal("no address")
			}
		})
	}
}
