// Command go runs the Go clients of the suite: pgx, lib/pq, GORM and goose, one by its name. It is a module of its own so that herd's
// does not have theirs.
package main

import (
	"fmt"
	"os"
)

func main() {
	clients := map[string]func(url string) error{"pgx": pgxClient, "pq": pqClient, "gorm": gormClient, "goose": gooseClient}
	run := clients[os.Args[1]]
	if run == nil {
		fmt.Fprintln(os.Stderr, "no such client:", os.Args[1])
		os.Exit(2)
	}
	if err := run(os.Getenv("DATABASE_URL") + "?sslmode=disable"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
