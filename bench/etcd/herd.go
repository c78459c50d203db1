package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

const clusterSecret = "HERD_SERVER_CLUSTER_SECRET=the secret of a measurement"

// startHerd starts three nodes and returns the one that leads as a system; they end together.
func startHerd(ctx context.Context, s *settings) (_ system, err error) {
	free, err := freeAddresses(2 * members)
	if err != nil {
		return nil, err
	}
	clients, nodes := free[:members], free[members:]
	var processes []*process
	defer func() {
		if err != nil {
			err = errors.Join(err, stopAll(processes))
		}
	}()
	for i := range members {
		host, port, err := net.SplitHostPort(clients[i])
		if err != nil {
			return nil, err
		}
		args := []string{"server", "--mode", "cluster", "--node-id", fmt.Sprint("n", i), "--cluster-address", nodes[i], "--host", host, "--port", port,
			"--base-dir", filepath.Join(s.dir, fmt.Sprint("herd", i)), "--set", "http.enabled=false"}
		if i > 0 {
			args = append(args, "--join", nodes[0])
		}
		for _, set := range s.sets {
			args = append(args, "--set", set)
		}
		p, err := spawn(ctx, []string{clusterSecret}, s.herd, args...)
		if err != nil {
			return nil, err
		}
		processes = append(processes, p)
	}
	leader := ""
	err = await(ctx, processes, func() (err error) {
		leader, err = herdLeader(ctx, clients[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	x := sqlSystem{sqlURL(leader), func() error { return stopAll(processes) }, func() (time.Duration, error) { return cpuOf(processes) }, s.lean}
	return x, x.prepare(ctx)
}

func sqlURL(address string) string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", address)
}

// herdLeader returns where clients reach the leader, once all nodes are voters.
func herdLeader(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, sqlURL(address))
	if err != nil {
		return "", err
	}
	defer c.Close(ctx)
	var voters int64
	var leader string
	err = c.QueryRow(ctx, "select min(voters) over (), coalesce(leader_address, '') from herd_databases order by database = 'postgres' desc limit 1").Scan(&voters, &leader)
	if err == nil && (voters != members || leader == "") {
		err = fmt.Errorf("%d of %d nodes are voters, the leader is at %q", voters, members, leader)
	}
	return leader, err
}
