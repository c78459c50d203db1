package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const members = 3

// etcdCluster is three members of etcd. Clients share connections to the leader, as etcd's own benchmark has them.
type etcdCluster struct {
	processes []*process
	leader    string
	shared    []*clientv3.Client
	opened    int
}

const (
	etcdConnections = 16
	etcdDial        = 5 * time.Second
)

func startEtcd(ctx context.Context, s *settings) (_ system, err error) {
	free, err := freeAddresses(2 * members)
	if err != nil {
		return nil, err
	}
	x := &etcdCluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.stop())
		}
	}()
	clients, peers := free[:members], free[members:]
	var initial []string
	for i, p := range peers {
		initial = append(initial, fmt.Sprintf("m%d=http://%s", i, p))
	}
	for i := range members {
		p, err := spawn(ctx, nil, s.etcd, "--name", fmt.Sprint("m", i), "--data-dir", filepath.Join(s.dir, fmt.Sprint("etcd", i)),
			"--listen-client-urls", "http://"+clients[i], "--advertise-client-urls", "http://"+clients[i],
			"--listen-peer-urls", "http://"+peers[i], "--initial-advertise-peer-urls", "http://"+peers[i],
			"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-state", "new", "--quota-backend-bytes", "8589934592")
		if err != nil {
			return nil, err
		}
		x.processes = append(x.processes, p)
	}
	if err := await(ctx, x.processes, func() error { return x.findLeader(ctx, clients) }); err != nil {
		return nil, err
	}
	for range etcdConnections {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{x.leader}, DialTimeout: etcdDial})
		if err != nil {
			return nil, fmt.Errorf("connect to etcd at %s: %w", x.leader, err)
		}
		x.shared = append(x.shared, c)
	}
	return x, nil
}

// findLeader asks the members who leads.
func (x *etcdCluster) findLeader(ctx context.Context, addresses []string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: addresses, DialTimeout: etcdDial})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, etcdDial)
	defer cancel()
	for _, a := range addresses {
		st, err := c.Status(ctx, a)
		if err != nil {
			return fmt.Errorf("status of etcd at %s: %w", a, err)
		}
		if st.Leader != 0 && st.Leader == st.Header.MemberId {
			x.leader = a
			return nil
		}
	}
	return errors.New("etcd has no leader yet")
}

func (x *etcdCluster) client(context.Context) (client, error) {
	x.opened++
	return etcdClient{x.shared[x.opened%len(x.shared)]}, nil
}

func (x *etcdCluster) cpu() (time.Duration, error) { return cpuOf(x.processes) }

func (x *etcdCluster) stop() error {
	var errs []error
	for _, c := range x.shared {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, stopAll(x.processes))...)
}

// etcdClient is one caller on a shared connection.
type etcdClient struct{ c *clientv3.Client }

func etcdKey(key int64) string { return fmt.Sprintf("key%012d", key) }

func (e etcdClient) put(ctx context.Context, key int64, value []byte) error {
	_, err := e.c.Put(ctx, etcdKey(key), string(value))
	return err
}

// get is linearizable, as etcd's reads are unless told otherwise.
func (e etcdClient) get(ctx context.Context, key int64) error {
	r, err := e.c.Get(ctx, etcdKey(key))
	if err == nil && len(r.Kvs) != 1 {
		err = fmt.Errorf("key %d: %d values", key, len(r.Kvs))
	}
	return err
}

func (etcdClient) close() error { return nil }
