package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

const (
	logBlock = 4 << 10
	logSize  = 64 << 20 // written in a circle
)

// groupLog lets commits wait for a write that they share.
type groupLog struct {
	mu      sync.Mutex
	written *sync.Cond // waits on mu
	asked   int64      // commits that began; under mu
	done    int64      // commits whose write has ended; under mu
	work    chan struct{}
}

func openGroupLog(file string) (*groupLog, error) {
	// The space is allocated first: a write then changes no metadata, as in a server that recycles its segments.
	if err := os.WriteFile(file, make([]byte, logSize), 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_DSYNC, 0)
	if err != nil {
		return nil, err
	}
	l := &groupLog{work: make(chan struct{}, 1)}
	l.written = sync.NewCond(&l.mu)
	go l.write(f)
	return l, nil
}

// commit returns when a write that began after the call is on disk.
func (l *groupLog) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	mine := l.asked
	select {
	case l.work <- struct{}{}:
	default: // the writer has been told
	}
	for l.done < mine {
		l.written.Wait()
	}
}

// write is the goroutine that writes; it ends with the process.
func (l *groupLog) write(f *os.File) {
	block := make([]byte, logBlock)
	var at int64
	for range l.work {
		l.mu.Lock()
		asked := l.asked
		l.mu.Unlock()
		if _, err := f.WriteAt(block, at%logSize); err != nil {
			fmt.Fprintln(os.Stderr, "null: write log:", err)
			os.Exit(1)
		}
		at += logBlock
		l.mu.Lock()
		l.done = asked
		l.mu.Unlock()
		l.written.Broadcast()
	}
}
