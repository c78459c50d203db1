package cluster

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// links stand between the nodes of a cluster: each is known to the others by an address that leads through here. What is cut arrives late, as
// on a network that loses packets: connections stay, and go on when the link is healed.
type links struct {
	t *testing.T

	mu    sync.Mutex
	cond  *sync.Cond
	cut   map[link]bool
	pids  map[string]int // of the nodes
	conns map[net.Conn]bool
	ended bool
}

// link is one direction.
type link struct{ from, to string }

func newLinks(t *testing.T) *links {
	l := &links{t: t, cut: map[link]bool{}, pids: map[string]int{}, conns: map[net.Conn]bool{}}
	l.cond = sync.NewCond(&l.mu)
	t.Cleanup(l.end)
	return l
}

func (l *links) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for c := range l.conns {
		c.Close()
	}
	l.cond.Broadcast()
}

// listen gives a node an address that leads through here.
func (l *links) listen(x *node) {
	l.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { listener.Close() })
	x.advertise = listener.Addr().String()
	id, address := x.id, x.clusterAddr
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(c, id, address)
		}
	}()
}

// started notes which process a node is.
func (l *links) started(id string, pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pids[id] = pid
}

// set cuts links, or heals them.
func (l *links) set(cut bool, all ...link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range all {
		l.cut[x] = cut
	}
	l.cond.Broadcast()
}

// heal heals all.
func (l *links) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.cut)
	l.cond.Broadcast()
}

// pass waits until a link is whole. false: the test has ended.
func (l *links) pass(x link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.cut[x] && !l.ended {
		l.cond.Wait()
	}
	return !l.ended
}

func (l *links) track(c net.Conn, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if open && !l.ended {
		l.conns[c] = true
		return
	}
	delete(l.conns, c)
	c.Close()
}

// serve connects a node with the one at an address.
func (l *links) serve(c net.Conn, to, address string) {
	l.track(c, true)
	defer l.track(c, false)
	from := l.owner(c.RemoteAddr().(*net.TCPAddr).Port)
	there, back := link{from, to}, link{to, from}
	if from == "" || !l.pass(there) || !l.pass(back) { // a connection needs both
		return
	}
	out, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return
	}
	l.track(out, true)
	defer l.track(out, false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.copy(out, c, there)
	}()
	l.copy(c, out, back)
	<-done
}

// copy moves bytes in one direction, and the end of the stream.
func (l *links) copy(to, from net.Conn, x link) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !l.pass(x) {
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				from.Close()
				return
			}
		}
		if err != nil {
			to.Close()
			return
		}
	}
}

// owner returns the node whose process has the socket with a port of this machine, "" when it has none any more.
func (l *links) owner(port int) string {
	inode := socketInode(port)
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, pid := range l.pids {
		dir := fmt.Sprintf("/proc/%d/fd/", pid)
		files, err := os.ReadDir(dir)
		if err != nil || inode == "" {
			continue
		}
		for _, f := range files {
			if to, err := os.Readlink(dir + f.Name()); err == nil && to == "socket:["+inode+"]" {
				return id
			}
		}
	}
	return ""
}

// socketInode finds the connected socket of a loopback port in /proc/net/tcp.
func socketInode(port int) string {
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return ""
	}
	want := "0100007F:" + strings.ToUpper(hex.EncodeToString([]byte{byte(port >> 8), byte(port)}))
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 9 && f[1] == want && f[3] == "01" {
			if _, err := strconv.ParseUint(f[9], 10, 64); err == nil {
				return f[9]
			}
		}
	}
	return ""
}
