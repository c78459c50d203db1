package engine

import (
	"errors"
	"testing"
	"time"

	"herd/sql/sqlerr"
	"herd/txlog"
)

// A transaction that reads what another one has ordered waits for it and asks then whether this node leads: another leader may have agreed on
// that entry and gone on. One that waits for its own entry need not ask.
func TestReaderAsksAfterWait(t *testing.T) {
	g := &group{}
	a := g.join(t)
	a.lead(t, 1)
	db := a.e.System()
	asked, answer := 0, error(nil)
	db.verify = func() error { asked++; return answer }
	w, r := db.NewSession(SessionOptions{PID: 1}), db.NewSession(SessionOptions{PID: 2})
	defer w.Close()
	defer r.Close()
	tree := newTree(t, w)
	for _, c := range []struct {
		name   string
		answer error
		want   sqlerr.Code
	}{{"it leads", nil, ""}, {"it leads no more", txlog.ErrLost, sqlerr.AdminShutdown}} {
		a.hold, asked, answer = true, 0, c.answer
		tx := w.Begin(TxOptions{})
		must(t, tx.Put(tree, []byte(c.name), []byte("x")))
		must(t, tx.Commit())
		tx = r.Begin(TxOptions{})
		if _, ok, err := tx.NewestGet(tree, []byte(c.name)); err != nil || !ok {
			t.Fatalf("what is ordered: %v, %v", ok, err)
		}
		must(t, tx.Commit())
		waits := make(chan error, 1)
		go func() { waits <- r.WaitDurable() }()
		time.Sleep(50 * time.Millisecond) // it waits, so that it is no other way that has it ask
		a.agree(-1)
		var e *sqlerr.Error
		err := <-waits
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Code != c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if asked != 1 {
			t.Errorf("%s: the reader has asked %d times", c.name, asked)
		}
		must(t, w.WaitDurable())
		if asked != 1 {
			t.Errorf("%s: the writer has asked", c.name)
		}
	}
}
