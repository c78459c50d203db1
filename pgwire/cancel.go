package pgwire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// cancelTable maps process numbers to the secret keys of BackendKeyData.
type cancelTable struct {
	mu   sync.Mutex
	keys map[int32]cancelEntry // guarded by mu
	next atomic.Int32
}

type cancelEntry struct {
	secret int32
	cancel func()
}

func (t *cancelTable) init() {
	t.keys = make(map[int32]cancelEntry)
	t.next.Store(1000)
}

// register gives a connection its process number and secret.
func (t *cancelTable) register(cancel func()) (pid, secret int32) {
	var b [4]byte
	rand.Read(b[:])
	secret = int32(binary.BigEndian.Uint32(b[:]))
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		pid = t.next.Add(1)
		if pid <= 0 {
			t.next.Store(1000)
			continue
		}
		if _, used := t.keys[pid]; !used {
			t.keys[pid] = cancelEntry{secret: secret, cancel: cancel}
			return pid, secret
		}
	}
}

func (t *cancelTable) unregister(pid int32) {
	t.mu.Lock()
	delete(t.keys, pid)
	t.mu.Unlock()
}

// fire interrupts the statement of the connection that owns pid and secret; a wrong key does nothing and
// gives false.
func (t *cancelTable) fire(pid, secret int32) bool {
	t.mu.Lock()
	e, ok := t.keys[pid]
	t.mu.Unlock()
	if !ok {
		return false
	}
	var a, b [4]byte
	binary.BigEndian.PutUint32(a[:], uint32(e.secret))
	binary.BigEndian.PutUint32(b[:], uint32(secret))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return false
	}
	e.cancel()
	return true
}
