package ddl

import (
	"bytes"
	"slices"

	"herd/engine/lock"
	"herd/internal/mem"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/exec"
	"herd/sql/row"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// Indexes that are built beside writers, in several transactions that the session puts together: the definition is
// committed as write-only, older writers are waited for, the entries of the rows there are made in parts, transactions
// that could read a state without them are waited for, and the index becomes valid. What fails on the way leaves an
// invalid index, as in PostgreSQL: it is neither maintained nor read, REINDEX builds it anew and DROP INDEX removes it.

// BuildLock is what a build holds on its table from the first to the last of its transactions.
const BuildLock = lock.ShareUpdateExclusive

// BuildStep is the size of a part in rows: their locks and the tip are kept from others for a millisecond at most.
const BuildStep = 512

// Rows are read in runs of up to runRows, whose entries are made in the order of the index: neighbours change the same
// leaves.
const (
	runRows  = 1 << 17
	runBytes = 8 << 20
	// pendingMax is how many rows that others have locked are put off before they are waited for.
	pendingMax = 4096
)

// IndexBuild is an index on its way.
type IndexBuild struct {
	Table, Index types.OID
	Name         string // of the index
	Rows         int64  // rows whose entries are made

	acct    *mem.Account
	granted int64
	next    []byte     // key behind the last row read
	scanned bool       // all rows were read
	run     []runEntry // rows read, by entry; what is done is cut off
	pending [][]byte   // keys of rows that were put off
}

// runEntry is a row's key with the entry it had when it was read.
type runEntry struct{ entry, key []byte }

// Done tells whether every row has its entry.
func (b *IndexBuild) Done() bool { return b.scanned && len(b.run) == 0 && len(b.pending) == 0 }

// Close gives the build's memory back.
func (b *IndexBuild) Close() {
	b.run = nil
	if b.acct != nil {
		b.acct.Shrink(b.granted)
		b.acct.Note(mem.UseIndex, -b.granted)
	}
	b.granted = 0
}

// grow asks for the memory of n more bytes of a run.
func (b *IndexBuild) grow(n int64) bool {
	if b.acct == nil {
		return true
	}
	if b.acct.Grow(n) != nil {
		return false
	}
	b.acct.Note(mem.UseIndex, n)
	b.granted += n
	return true
}

// Temporary tells whether CREATE INDEX is for a temporary table of the session, or for no table at all: nobody else
// writes it, and CONCURRENTLY needs no care.
func Temporary(env *Env, s *ast.CreateIndex) (bool, error) {
	x := &executor{Env: env}
	rel, err := x.find(s.Table.Name)
	return err == nil && (rel == nil || rel.Persistence == 't'), err
}

// StartBuild is the first transaction of CREATE INDEX CONCURRENTLY; nil when IF NOT EXISTS finds the index.
func StartBuild(env *Env, s *ast.CreateIndex) (*IndexBuild, error) {
	bind := *env.Bind
	bind.Fold = true
	own := *env
	own.Bind = &bind
	x := &executor{Env: &own, text: bind.Text}
	rel, ix, err := x.defineIndex(s, BuildLock, catalog.IndexWriteOnly)
	if ix == nil || err != nil {
		return nil, err
	}
	return &IndexBuild{Table: rel.OID, Index: ix.OID, Name: ix.Name, acct: x.Exec.Acct}, x.Writer.SetBuilding(ix.OID, true)
}

// RestartBuild is the first transaction of REINDEX CONCURRENTLY for an invalid index.
func RestartBuild(env *Env, index types.OID) (*IndexBuild, error) {
	x := &executor{Env: env}
	rel, _, err := x.reader().IndexByOID(index)
	if rel == nil || err != nil {
		return nil, err
	}
	if _, err := x.lockOID(rel.OID, BuildLock); err != nil {
		return nil, err
	}
	rel, ix, err := x.Writer.SetIndexState(index, catalog.IndexWriteOnly, true)
	if ix == nil || err != nil {
		return nil, err
	}
	return &IndexBuild{Table: rel.OID, Index: ix.OID, Name: ix.Name, acct: x.Exec.Acct}, x.Writer.SetBuilding(ix.OID, true)
}

// Rebuild makes an invalid index anew in one transaction that keeps writers away: REINDEX.
func Rebuild(env *Env, index types.OID) error {
	x := &executor{Env: env}
	rel, _, err := x.reader().IndexByOID(index)
	if rel == nil || err != nil {
		return err
	}
	if _, err := x.lockOID(rel.OID, lock.TableShare); err != nil {
		return err
	}
	rel, ix, err := x.Writer.SetIndexState(index, catalog.IndexValid, true)
	if ix == nil || err != nil {
		return err
	}
	return x.backfill(rel, ix)
}

// FinishBuild makes the index valid, or invalid when the build failed.
func FinishBuild(env *Env, b *IndexBuild, valid bool) error {
	state := catalog.IndexInvalid
	if valid {
		state = catalog.IndexValid
	}
	if _, _, err := env.Writer.SetIndexState(b.Index, state, false); err != nil {
		return err
	}
	return env.Writer.SetBuilding(b.Index, false)
}

// VoidBuilds makes the indexes invalid whose build a crash ended, and empties their trees.
func VoidBuilds(w *catalog.Writer, indexes []types.OID) error {
	for _, id := range indexes {
		if _, _, err := w.SetIndexState(id, catalog.IndexInvalid, true); err != nil {
			return err
		}
		if err := w.SetBuilding(id, false); err != nil {
			return err
		}
	}
	return nil
}

// part is one transaction's share of a build.
type part struct {
	x       *executor
	b       *IndexBuild
	rel     *catalog.Relation
	entries *indexBuild
	vals    []types.Datum
	view    storage.View // of the rows read
	large   row.LargeReader
	newest  row.LargeReader
}

func (b *IndexBuild) part(env *Env) (*part, error) {
	x := &executor{Env: env}
	rel, ix, err := x.reader().IndexByOID(b.Index)
	if err != nil {
		return nil, err
	}
	if ix == nil || ix.State != catalog.IndexWriteOnly {
		return nil, sqlerr.Internal("index \"%s\" is not being built any more", b.Name)
	}
	entries, err := x.indexBuild(rel, ix)
	if err != nil {
		return nil, err
	}
	p := &part{x: x, b: b, rel: rel, entries: entries, vals: make([]types.Datum, len(rel.Columns)), view: x.Tx.Newest()}
	p.large = exec.NewLargeReader(p.view, rel)
	p.newest = newestLarge{x.Tx, rel}
	return p, nil
}

// Step reads a run of rows, or makes the entries of its next ones, in the current transaction, which the caller then
// commits. It never waits for a row: those that others have locked are put off. wait returns what to wait for, without
// any lock held, before the next Step.
func (b *IndexBuild) Step(env *Env) (wait *RowWait, err error) {
	p, err := b.part(env)
	if err != nil {
		return nil, err
	}
	defer p.x.hold(p.view)()
	switch {
	case len(b.pending) >= pendingMax || b.scanned && len(b.run) == 0:
		return p.retry()
	case len(b.run) == 0:
		return nil, p.read()
	}
	n := min(len(b.run), BuildStep)
	for _, e := range b.run[:n] {
		busy, err := p.row(e.key)
		if err != nil {
			return nil, err
		}
		if busy != nil {
			b.pending = append(b.pending, bytes.Clone(e.key))
		}
	}
	b.run = b.run[n:]
	b.Rows += int64(n)
	return nil, nil
}

// read fills the run with the next rows. Rows that have no entry now are left out: whoever gives them one knows the index.
func (p *part) read() error {
	b := p.b
	b.Close() // of the last run
	var c storage.Cursor
	c.Init(p.view, p.rel.TreeID, b.next, nil, false)
	defer c.Close()
	room, buf := 0, []byte(nil)
	for n := 0; n < runRows; n++ {
		if n%BuildStep == 0 && p.x.Exec.Interrupt != nil {
			if err := p.x.Exec.Interrupt(); err != nil {
				return err
			}
		}
		if !c.Next() {
			b.scanned = c.Err() == nil
			break
		}
		if err := p.rel.Layout().DecodeAll(p.vals, c.Value(), p.large); err != nil {
			return err
		}
		entry, _, ok, err := p.entries.entry(c.Key(), p.vals)
		if err != nil {
			return err
		}
		b.next = append(append(b.next[:0], c.Key()...), 0)
		if !ok {
			b.Rows++
			continue
		}
		if need := len(entry) + len(c.Key()); need > cap(buf)-len(buf) {
			size := max(need, 64<<10)
			if room += size; room > runBytes || !b.grow(int64(size)*2) && n > 0 {
				// The row goes into the next run.
				b.next = b.next[:len(b.next)-1]
				break
			}
			buf = make([]byte, 0, size)
		}
		at := len(buf)
		buf = append(append(buf, entry...), c.Key()...)
		mid := at + len(entry)
		b.run = append(b.run, runEntry{buf[at:mid:mid], buf[mid:len(buf):len(buf)]})
	}
	slices.SortFunc(b.run, func(x, y runEntry) int { return bytes.Compare(x.entry, y.entry) })
	return c.Err()
}

// newestLarge reads large values of rows that may be newer than any view taken before.
type newestLarge struct {
	tx  Tx
	rel *catalog.Relation
}

// ReadLarge implements row.LargeReader.
func (l newestLarge) ReadLarge(id uint64, size uint64) ([]byte, error) {
	return exec.NewLargeReader(l.tx.Newest(), l.rel).ReadLarge(id, size)
}

// RowWait is a lock that somebody else has.
type RowWait struct {
	tree storage.TreeID
	key  []byte
	mode lock.Mode
}

// Wait waits until the lock can be had. The transaction that it is called in is to be rolled back.
func (w *RowWait) Wait(tx Tx) error {
	_, _, err := tx.LockRow(w.tree, w.key, w.mode, lock.Wait)
	return err
}

// retry goes through the rows that were put off, as far as one that is still locked.
func (p *part) retry() (*RowWait, error) {
	for n := 0; n < BuildStep && len(p.b.pending) > 0; n++ {
		busy, err := p.row(p.b.pending[0])
		if busy != nil && n > 0 {
			return nil, err // what is done is committed first
		}
		if busy != nil || err != nil {
			return busy, err
		}
		p.b.pending = p.b.pending[1:]
	}
	return nil, nil
}

// row makes the entry of the row with a key, as it is in the newest state: under the row's lock nobody is changing it,
// and whoever changes it later knows of the index. busy says that
// another transaction has the row, or the entry's key.
func (p *part) row(key []byte) (busy *RowWait, err error) {
	tx := p.x.Tx
	granted, _, err := tx.LockRow(p.rel.TreeID, key, lock.Share, lock.SkipLocked)
	if err != nil {
		return nil, err
	}
	if !granted {
		return &RowWait{p.rel.TreeID, key, lock.Share}, nil
	}
	now, found, err := tx.NewestGet(p.rel.TreeID, key)
	if err != nil || !found {
		return nil, err
	}
	if err := p.rel.Layout().DecodeAll(p.vals, now, p.newest); err != nil {
		return nil, err
	}
	entry, enforced, ok, err := p.entries.entry(key, p.vals)
	if err != nil || !ok {
		return nil, err
	}
	tree := p.entries.ix.Tree
	if enforced {
		granted, _, err := tx.LockRow(tree, entry, lock.Update, lock.SkipLocked)
		if err != nil {
			return nil, err
		}
		if !granted {
			return &RowWait{tree, append([]byte(nil), entry...), lock.Update}, nil
		}
		other, dup, err := tx.NewestGet(tree, entry)
		if err != nil {
			return nil, err
		}
		if dup && !bytes.Equal(other, key) {
			return nil, p.x.duplicated(p.rel, p.entries.ix, p.entries.vals)
		}
	}
	return nil, tx.Put(tree, entry, key)
}

// DropPlan is what DROP INDEX CONCURRENTLY drops.
type DropPlan struct {
	Table, Index types.OID
}

// StartDrop is the first transaction of DROP INDEX CONCURRENTLY: the checks of DROP INDEX; then readers no longer use the
// index. nil when IF EXISTS does not find it.
func StartDrop(env *Env, s *ast.Drop, savepoint func(func() error) error) (*DropPlan, error) {
	x := &executor{Env: env, text: env.Bind.Text}
	if len(s.Objects) != 1 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
	}
	if s.Cascade {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support CASCADE")
	}
	o, ok, err := x.dropRelationIn(s, &s.Objects[0], catalog.KindIndex, BuildLock)
	if !ok || err != nil {
		return nil, err
	}
	// Whether it may go is found out by dropping it, for a moment.
	if err := savepoint(func() error { return x.dropObjects([]catalog.Object{o}, false) }); err != nil {
		return nil, err
	}
	rel, ix, err := x.reader().IndexByOID(o.OID)
	if ix == nil || err != nil {
		return nil, err
	}
	if ix.State == catalog.IndexValid {
		if _, _, err := x.Writer.SetIndexState(o.OID, catalog.IndexWriteOnly, false); err != nil {
			return nil, err
		}
	}
	return &DropPlan{rel.OID, o.OID}, x.Writer.SetBuilding(o.OID, true)
}

// Retire ends the maintenance of an index that nobody reads.
func (d *DropPlan) Retire(env *Env) error {
	_, _, err := env.Writer.SetIndexState(d.Index, catalog.IndexInvalid, false)
	return err
}

// Abandon leaves the index invalid after a failure.
func (d *DropPlan) Abandon(env *Env) error {
	return FinishBuild(env, &IndexBuild{Index: d.Index}, false)
}

// Drop removes an index that nobody reads or maintains.
func (d *DropPlan) Drop(env *Env) error {
	x := &executor{Env: env}
	if err := x.Writer.SetBuilding(d.Index, false); err != nil {
		return err
	}
	return x.dropObjects([]catalog.Object{{Class: catalog.ClassRelation, OID: d.Index}}, false)
}

// InvalidIndexes lists the invalid indexes of a relation, which may be an index itself.
func InvalidIndexes(env *Env, rel *catalog.Relation) ([]types.OID, error) {
	x := &executor{Env: env}
	if rel.OID < pgdata.FirstUserOID {
		return nil, nil
	}
	var list []*catalog.Index
	table := rel
	if rel.Kind == catalog.KindIndex {
		t, ix, err := x.reader().IndexByOID(rel.OID)
		if ix == nil || err != nil {
			return nil, err
		}
		table, list = t, []*catalog.Index{ix}
	} else {
		list = rel.AllIndexes()
	}
	if err := x.ownerOf(table.Owner, relWord(rel), rel.Name); err != nil {
		return nil, err
	}
	var out []types.OID
	for _, ix := range list {
		if ix.State == catalog.IndexInvalid {
			out = append(out, ix.OID)
		}
	}
	return out, nil
}
