package lock

// Waiting for transactions. A definition that must not block others (CREATE INDEX CONCURRENTLY) waits until those that
// were under way when it changed the catalog have ended, without asking for a lock that newcomers would queue behind.
//
// A transaction is known by its owner and the owner's count of ended transactions. Whoever waits for one makes its owner
// the holder of a wide lock that stands for it, so that the wait is part of the wait-for graph; the owner gives that
// lock up when its transaction ends. The waiter marks the owner as watched and then looks at the count; the owner raises
// the count and then looks for the mark: one of the two sees the other.

// Transaction names a transaction under way.
type Transaction struct {
	o   *Owner
	gen uint64
}

// PID returns the process number of the transaction's session.
func (t Transaction) PID() int32 { return t.o.pid }

// Transaction returns the owner's present transaction; any goroutine may ask.
func (o *Owner) Transaction() Transaction { return Transaction{o, o.ended.Load()} }

// TransactionEnded tells those that wait for the owner's transaction that it has ended. ReleaseAll does it for a
// transaction with locks.
func (o *Owner) TransactionEnded() {
	if o.xid.Load() != 0 {
		o.xid.Store(0)
	}
	o.ended.Store(o.ended.Load() + 1)
	if !o.watched.Load() {
		return
	}
	m := o.m
	m.heavyMu.Lock()
	defer m.heavyMu.Unlock()
	o.watched.Store(false)
	if w := m.heavy[o.transactionName()]; w != nil {
		w.drop(o)
		w.grant()
		m.forget(w)
	}
}

func (o *Owner) transactionName() name { return name{classTransaction, uint64(o.id)} }

// Number tells the number of the owner's present transaction, for messages and pg_locks.
func (o *Owner) Number(xid uint64) { o.xid.Store(xid) }

// TransactionNumber returns it, 0 while there is none; any goroutine may ask.
func (o *Owner) TransactionNumber() uint64 { return o.xid.Load() }

// Holders returns the transactions of others that hold table rel in a mode that conflicts with m.
func (o *Owner) Holders(rel uint32, m Mode) []Transaction {
	bad, lm := conflicts[m], o.m
	seen := map[*Owner]bool{o: true}
	var out []Transaction
	add := func(x *Owner) {
		if !seen[x] {
			seen[x] = true
			out = append(out, x.Transaction())
		}
	}
	lm.heavyMu.Lock() // slots move to the wide locks under it
	defer lm.heavyMu.Unlock()
	if w := lm.heavy[name{classTable, uint64(rel)}]; w != nil {
		for _, h := range w.holders {
			if h.held&bad != 0 {
				add(h.o)
			}
		}
	}
	lm.ownersMu.RLock()
	defer lm.ownersMu.RUnlock()
	for _, x := range lm.owners {
		if x == nil {
			continue
		}
		for i := range x.fast {
			if v := x.fast[i].Load(); v != 0 && v>>16 == uint64(rel) && mask(v&0xffff)&bad != 0 {
				add(x)
			}
		}
	}
	return out
}

// Await waits until t has ended. Errors as for Row.
func (o *Owner) Await(t Transaction) error {
	m := o.m
	m.heavyMu.Lock()
	if t.o.ended.Load() != t.gen {
		m.heavyMu.Unlock()
		return nil
	}
	w := m.heavyLock(t.o.transactionName())
	w.add(t.o, bit(AdvisoryExclusive))
	t.o.watched.Store(true)
	if t.o.ended.Load() != t.gen { // it may not have seen the mark
		w.drop(t.o)
		w.grant()
		m.forget(w)
		m.heavyMu.Unlock()
		return nil
	}
	_, _, err := o.acquire(w, AdvisoryShare, Wait, "transaction") // unlocks
	m.heavyMu.Lock()
	w.drop(o)
	w.grant()
	m.forget(w)
	m.heavyMu.Unlock()
	return err
}

// KeepTable makes a table lock of the transaction outlive it, until DropKept. There must be no mark to roll back to.
func (o *Owner) KeepTable(rel uint32, m Mode) {
	for i, t := range o.tables {
		if t.rel == rel && t.mode == m {
			o.tables = append(o.tables[:i], o.tables[i+1:]...)
			o.kept = append(o.kept, t)
			return
		}
	}
}

// DropKept releases the table locks that were kept.
func (o *Owner) DropKept() {
	kept := o.kept
	o.kept = nil
	for _, t := range kept {
		o.releaseTable(t)
	}
}

// keeps tells whether the owner has kept a table lock.
func (o *Owner) keeps(rel uint32, m Mode) bool {
	for _, t := range o.kept {
		if t.rel == rel && t.mode == m {
			return true
		}
	}
	return false
}
