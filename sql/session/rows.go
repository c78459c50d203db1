package session

import (
	"strconv"

	"herd/internal/mem"
	"herd/pgwire/wire"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// rowSink takes result rows, a batch at a time; the batch is not kept.
type rowSink interface {
	writeBatch(b *vec.Batch) error
	writeRow(row []types.Datum) error
}

// wireSink sends DataRow messages.
type wireSink struct {
	out     *wire.Writer
	io      *types.IOContext
	cols    []plan.Column
	formats []int16
	vectors []*vec.Vector

	view storage.View // of stored rows, for their large values
	rel  *catalog.Relation
}

// ReadLarge implements row.LargeReader for rows that are sent as they are stored.
func (w *wireSink) ReadLarge(id, size uint64) ([]byte, error) {
	return exec.NewLargeReader(w.view, w.rel).ReadLarge(id, size)
}

// wireSink returns the session's sink with a portal's columns and formats; nil formats are text.
func (s *Session) wireSink(po *portal) *wireSink {
	w := &s.sink // one statement at a time talks to the client
	*w = wireSink{out: s.out, io: &s.io, vectors: w.vectors[:0]}
	if po != nil {
		w.cols, w.formats = po.cols, po.formats
	}
	return w
}

func (w *wireSink) writeBatch(b *vec.Batch) error {
	w.vectors = w.vectors[:0]
	for i := range w.cols {
		v, err := b.Col(i)
		if err != nil {
			return err
		}
		w.vectors = append(w.vectors, v)
	}
	rows := b.Rows()
	for k := 0; k < rows; k++ {
		r := k
		if b.Sel != nil {
			r = int(b.Sel[k])
		}
		w.out.Begin('D')
		w.out.Int16(int16(len(w.cols)))
		for i, v := range w.vectors {
			if err := w.field(i, v, r); err != nil {
				w.out.Abandon()
				return err
			}
		}
		w.out.End()
		if w.out.Err() != nil {
			return errClientGone()
		}
	}
	return nil
}

func errClientGone() error {
	return sqlerr.Fatal(sqlerr.ConnectionFailure, "connection to client lost")
}

// field appends one value; the commonest types avoid the general codecs.
func (w *wireSink) field(i int, v *vec.Vector, r int) error {
	if v.IsNull(r) {
		w.out.NullField()
		return nil
	}
	mark := w.out.BeginField()
	text := wire.FormatOf(w.formats, i) == 0
	typ := w.cols[i].Type
	buf := w.out.Buf()
	switch {
	case text && (typ == types.Int4OID || typ == types.Int8OID || typ == types.Int2OID):
		if v.Const {
			r = 0
		}
		buf = strconv.AppendInt(buf, v.Int[r], 10)
	case typ == types.TextOID || typ == types.VarcharOID:
		buf = append(buf, v.Bytes(r)...)
	case text:
		buf = types.Output(w.io, buf, typ, v.Datum(r))
	default:
		buf = types.Send(w.io, buf, typ, v.Datum(r))
	}
	w.out.SetBuf(buf)
	w.out.EndField(mark)
	return nil
}

func (w *wireSink) writeRow(row []types.Datum) error {
	w.out.Begin('D')
	w.out.Int16(int16(len(row)))
	for i, d := range row {
		if d.Null {
			w.out.NullField()
			continue
		}
		mark := w.out.BeginField()
		if wire.FormatOf(w.formats, i) == 0 {
			w.out.SetBuf(types.Output(w.io, w.out.Buf(), w.cols[i].Type, d))
		} else {
			w.out.SetBuf(types.Send(w.io, w.out.Buf(), w.cols[i].Type, d))
		}
		w.out.EndField(mark)
	}
	w.out.End()
	if w.out.Err() != nil {
		return errClientGone()
	}
	return nil
}

// discard drops rows: MOVE, EXPLAIN ANALYZE.
type discard struct{}

func (discard) writeBatch(*vec.Batch) error  { return nil }
func (discard) writeRow([]types.Datum) error { return nil }

// rowStore keeps result rows that cannot leave yet, or may be wanted again.
type rowStore struct {
	acct *mem.Account
	rows *exec.Store
}

// newRowStore returns an empty store for rows with the given columns.
func (s *Session) newRowStore(cols []plan.Column) *rowStore {
	acct := s.acct.ChildFor("result rows", mem.UsePortal)
	o := exec.StoreOptions{Acct: acct, SpillFS: s.srv.opts.SpillFS, SpillDir: s.srv.opts.SpillDir}
	for _, c := range cols {
		o.Types = append(o.Types, c.Type)
	}
	return &rowStore{acct: acct, rows: exec.NewStore(o)}
}

func (st *rowStore) len() int64 { return st.rows.Len() }

func (st *rowStore) close() {
	st.rows.Close()
	st.acct.Close()
}

func (st *rowStore) writeBatch(b *vec.Batch) error { return st.rows.AddBatch(b) }

func (st *rowStore) writeRow(row []types.Datum) error { return st.rows.Add(row) }

// send hands rows [from, to) to a sink.
func (st *rowStore) send(from, to int64, sink rowSink) error {
	for from < to {
		b, err := st.rows.Batch(from, to)
		if err != nil || b == nil {
			return err
		}
		if err := sink.writeBatch(b); err != nil {
			return err
		}
		from += int64(b.Rows())
	}
	return nil
}

// describeColumns sends RowDescription.
func (s *Session) describeColumns(cols []plan.Column, formats []int16) {
	s.out.RowDescription(s.wireColumns(cols, nil), func(i int) int16 { return wire.FormatOf(formats, i) })
}

// wireColumns turns plan columns into the protocol's description; origins may be nil.
func (s *Session) wireColumns(cols []plan.Column, origins []plan.Origin) []wire.Column {
	out := make([]wire.Column, len(cols))
	for i, c := range cols {
		out[i] = wire.Column{Name: c.Name, Type: uint32(c.Type), Len: s.typeLen(c.Type), Typmod: int32(c.Typmod)}
		if i < len(origins) {
			out[i].Rel, out[i].Attno = uint32(origins[i].Rel), origins[i].Col
		}
	}
	return out
}

// rowFunc hands each row to a function.
type rowFunc struct {
	row []types.Datum
	f   func([]types.Datum) error
}

func (r *rowFunc) writeBatch(b *vec.Batch) error { return eachRow(b, r.row, r.f) }

func (r *rowFunc) writeRow(row []types.Datum) error { return r.f(row) }

// eachRow hands the live rows of a batch to f, one after the other in row, which has an element a column.
func eachRow(b *vec.Batch, row []types.Datum, f func([]types.Datum) error) error {
	rows := b.Rows()
	for k := 0; k < rows; k++ {
		r := k
		if b.Sel != nil {
			r = int(b.Sel[k])
		}
		for i := range row {
			v, err := b.Col(i)
			if err != nil {
				return err
			}
			row[i] = v.Datum(r)
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return nil
}
