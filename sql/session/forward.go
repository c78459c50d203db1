package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"herd/engine"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Roles and the list of databases are rows of the system database, which one node of a cluster leads. Another node makes a change against
// its own replica and has the leader commit it, see ARCHITECTURE.md. Rights are checked where the session is.

const (
	// forwardPatience is how long a change waits for the system database to have a leader, forwardPause how long between two tries.
	forwardPatience = 10 * time.Second
	forwardPause    = 20 * time.Millisecond
	// forwardObjects is how many new object numbers a change gets.
	forwardObjects = 16
)

// systemLock is the advisory lock that makes changes of the system database one at a time.
var systemLock = engine.AdvisoryKey{ClassID: 0x68657264, ObjID: 1, Kind: 2}

// systemMessage is what the system database's leader is asked: first for a number, then to commit.
type systemMessage struct {
	Commit   bool   `json:",omitempty"`
	Epoch    uint64 `json:",omitempty"` // in which the number was given
	Number   uint64 `json:",omitempty"`
	Contents uint64 `json:",omitempty"` // of the state that the change was made from
	Changes  []byte `json:",omitempty"`
}

// systemReply is its answer.
type systemReply struct {
	Again   bool        `json:",omitempty"` // nothing was done: the contents were other ones, or the node leads no more
	Code    sqlerr.Code `json:",omitempty"` // of an error
	Message string      `json:",omitempty"`
	Epoch   uint64      `json:",omitempty"`
	Number  uint64      `json:",omitempty"`
	Object  types.OID   `json:",omitempty"` // the first of forwardObjects
}

// errAgain: another node leads the system database, or its contents have changed meanwhile.
var errAgain = errors.New("the change has to be made again")

// systemTx runs one change of the system database (roles, databases) in a transaction of its own, wherever that is led. f may be called more
// than once, each time with what there is then.
func (srv *Server) systemTx(f func(w *catalog.Writer) error) error {
	c := srv.opts.Cluster
	if c == nil {
		return srv.inTx(srv.engine.System(), f)
	}
	for end := time.Now().Add(forwardPatience); ; {
		err := srv.systemTry(c, f)
		switch {
		case err == nil:
			c.Spread(systemCatalogs)
			return nil
		case !errors.Is(err, errAgain):
			return err
		case time.Now().After(end):
			return sqlerr.New(sqlerr.CannotConnectNow, "the cluster cannot change roles and databases at the moment").WithDetail("%v", err)
		}
		time.Sleep(forwardPause)
	}
}

// systemTry is one try.
func (srv *Server) systemTry(c Cluster, f func(w *catalog.Writer) error) error {
	if !c.Leads(systemCatalogs) {
		return srv.forward(c, f)
	}
	err := srv.inTx(srv.engine.System(), f)
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) && e.Code == sqlerr.AdminShutdown {
		return fmt.Errorf("%w: %w", errAgain, err) // it has lost the leadership, and nothing was ordered
	}
	return err
}

// forward makes a change against this node's replica and has the leader commit it.
func (srv *Server) forward(c Cluster, f func(w *catalog.Writer) error) error {
	given, _, err := srv.askSystem(c, &systemMessage{})
	if err != nil {
		return err
	}
	if err := c.Fresh(systemCatalogs, 0); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	m := systemMessage{Commit: true, Epoch: given.Epoch, Number: given.Number, Contents: srv.engine.System().Contents()}
	if m.Changes, err = srv.record(given, f); err != nil {
		return err
	}
	if len(m.Changes) == 0 {
		return nil
	}
	_, sent, err := srv.askSystem(c, &m)
	if errors.Is(err, errAgain) && sent {
		return sqlerr.New(sqlerr.TransactionResolutionUnknown, "the outcome of a change of roles or databases is unknown").
			WithDetail("%v", err).WithHint("Look whether it is there before you repeat it.")
	}
	return err
}

// record makes a change in a transaction that is never committed here, and returns what it has changed.
func (srv *Server) record(given *systemReply, f func(w *catalog.Writer) error) ([]byte, error) {
	db := srv.engine.System()
	es := db.NewSession(engine.SessionOptions{Acct: srv.opts.Memory, Replica: true})
	defer es.Close()
	tx := es.Begin(engine.TxOptions{Isolation: engine.ReadCommitted})
	tx.SetNumber(given.Number)
	t := &forwardedTx{catalogTx: (*catalogTx)(&Session{srv: srv, tx: tx, db: db}), next: given.Object, left: forwardObjects}
	err := f(catalog.NewWriter(t, catalog.ReaderOptions{Cache: srv.catalogs.of(db.OID())}))
	if err != nil {
		return nil, err
	}
	return tx.Encoded(), nil
}

// forwardedTx is a transaction with numbers of the node that leads.
type forwardedTx struct {
	*catalogTx
	next types.OID
	left int
}

// NewOID implements catalog.Tx.
func (t *forwardedTx) NewOID() (types.OID, error) {
	if t.left == 0 {
		return 0, sqlerr.Internal("a change of roles or databases makes more than %d objects", forwardObjects)
	}
	t.next++
	t.left--
	return t.next - 1, nil
}

// askSystem asks the node that leads the system database. errAgain: what was asked was not done, unless sent says that it may have been.
func (srv *Server) askSystem(c Cluster, m *systemMessage) (reply *systemReply, sent bool, err error) {
	p, err := json.Marshal(m)
	if err != nil {
		return nil, false, err
	}
	p, sent, err = c.AskLeader(systemCatalogs, p)
	if err != nil {
		return nil, sent, fmt.Errorf("%w: %w", errAgain, err)
	}
	reply = new(systemReply)
	if err := json.Unmarshal(p, reply); err != nil {
		return nil, true, fmt.Errorf("%w: %w", errAgain, err)
	}
	switch {
	case reply.Again:
		return nil, false, errAgain
	case reply.Code != "":
		return nil, true, sqlerr.New(reply.Code, "%s", reply.Message)
	}
	return reply, true, nil
}

// ServeSystem answers a systemMessage of another node.
func (srv *Server) ServeSystem(message []byte) ([]byte, error) {
	var m systemMessage
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("read a change of roles or databases: %w", err)
	}
	var reply systemReply
	if c := srv.opts.Cluster; c == nil || !c.Leads(systemCatalogs) {
		reply.Again = true
	} else if m.Commit {
		srv.commitForwarded(&m, &reply)
	} else {
		srv.giveNumbers(&reply)
	}
	return json.Marshal(&reply)
}

// newDatabaseNumber returns a number that no database has.
func (srv *Server) newDatabaseNumber() (uint32, error) {
	c := srv.opts.Cluster
	for end := time.Now().Add(forwardPatience); c != nil && !c.Leads(systemCatalogs); {
		given, _, err := srv.askSystem(c, &systemMessage{})
		if err == nil {
			return uint32(given.Object), nil
		}
		if !errors.Is(err, errAgain) || time.Now().After(end) {
			return 0, err
		}
		time.Sleep(forwardPause)
	}
	for { // a crash may have left a store whose number was not recorded
		id, err := srv.engine.System().NewOID()
		if _, taken := srv.localDatabase(id); err != nil || !taken {
			return id, err
		}
	}
}

// giveNumbers answers with numbers for a change.
func (srv *Server) giveNumbers(reply *systemReply) {
	db := srv.engine.System()
	reply.Epoch, reply.Number = db.Epoch(), db.NewTransactionNumber()
	first, err := db.NewOIDs(forwardObjects)
	if err != nil {
		reply.fail(err)
	}
	reply.Object = types.OID(first)
}

// commitForwarded commits a change that was made on another node.
func (srv *Server) commitForwarded(m *systemMessage, reply *systemReply) {
	db := srv.engine.System()
	err := srv.inSystemTx(db, func(_ *engine.Session, tx *engine.Tx) error {
		if db.Epoch() != m.Epoch || db.Contents() != m.Contents {
			return errAgain
		}
		tx.SetNumber(m.Number)
		return tx.Replay(m.Changes)
	})
	if err != nil {
		reply.fail(err)
		return
	}
	srv.opts.Cluster.Spread(systemCatalogs)
}

func (r *systemReply) fail(err error) {
	e := sqlerr.From(err)
	r.Again = errors.Is(err, errAgain) || e.Code == sqlerr.AdminShutdown
	r.Code, r.Message = e.Code, e.Message
}

// inSystemTx is inEngineTx for the system database, whose transactions never run beside each other.
func (srv *Server) inSystemTx(db *engine.Database, f func(es *engine.Session, tx *engine.Tx) error) error {
	return srv.inEngineTx(db, func(es *engine.Session, tx *engine.Tx) error {
		if _, err := es.AdvisoryLock(systemLock, false, true, false); err != nil {
			return err
		}
		return f(es, tx)
	})
}

// inEngineTx runs a transaction of a database and waits until it is durable.
func (srv *Server) inEngineTx(db *engine.Database, f func(es *engine.Session, tx *engine.Tx) error) error {
	es := db.NewSession(engine.SessionOptions{Acct: srv.opts.Memory})
	defer es.Close()
	tx := es.Begin(engine.TxOptions{Isolation: engine.ReadCommitted})
	if err := f(es, tx); err != nil {
		tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		tx.Rollback()
		return err
	}
	return es.WaitDurable()
}
