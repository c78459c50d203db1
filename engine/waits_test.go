package engine

import (
	"testing"
	"time"

	"herd/internal/vfs"
	"herd/txlog"
)

// gatedLog lets no entry in before the gate opens.
type gatedLog struct {
	txlog.Log
	asked, gate chan struct{}
}

func (l *gatedLog) AppendAll(rooms []txlog.Reservation, entries []txlog.Entry) error {
	close(l.asked)
	<-l.gate
	return l.Log.AppendAll(rooms, entries)
}

// Who has read a state that the log has no entry of yet waits for the entry.
func TestWaitDurableBeforeAppend(t *testing.T) {
	e := openMem(t, vfs.NewMem())
	db := e.System()
	s, other := db.NewSession(SessionOptions{PID: 1}), db.NewSession(SessionOptions{PID: 2})
	defer s.Close()
	defer other.Close()
	real := db.log
	gated := &gatedLog{Log: real, asked: make(chan struct{}), gate: make(chan struct{})}
	db.log = gated
	defer func() { db.log = real }()

	committed := make(chan error, 1)
	go func() {
		tx := other.Begin(TxOptions{})
		if _, err := tx.NewTree(); err != nil {
			committed <- err
			return
		}
		committed <- tx.Commit()
	}()
	<-gated.asked
	tx := s.Begin(TxOptions{})
	tx.Newest()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- s.WaitDurable() }()
	select {
	case err := <-waited:
		t.Errorf("it did not wait: %v", err)
		waited <- err
	case <-time.After(50 * time.Millisecond):
	}
	close(gated.gate)
	if err := <-committed; err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}
