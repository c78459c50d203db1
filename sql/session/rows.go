package session

import (
	"encoding/binary"
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
		buf = types.Send(buf, typ, v.Datum(r))
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
			w.out.SetBuf(types.Send(w.out.Buf(), w.cols[i].Type, d))
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

// rowStore keeps result rows that cannot leave yet, or may be wanted again, as encoded datums.
type rowStore struct {
	acct  *mem.Account
	cols  []plan.Column
	data  []byte
	ends  []int // end offset of each row in data
	taken int64
	row   []types.Datum
}

func newRowStore(parent *mem.Account, cols []plan.Column) *rowStore {
	return &rowStore{acct: parent.Child("result rows"), cols: cols, row: make([]types.Datum, len(cols))}
}

func (st *rowStore) len() int64 { return int64(len(st.ends)) }

func (st *rowStore) close() { st.acct.Close() }

func (st *rowStore) writeBatch(b *vec.Batch) error { return eachRow(b, st.row, st.writeRow) }

// writeRow appends one row: per column a length word (-1 NULL) and 8 bytes of number, or the bytes.
func (st *rowStore) writeRow(row []types.Datum) error {
	for i, d := range row {
		switch {
		case d.Null:
			st.data = binary.LittleEndian.AppendUint32(st.data, 0xffffffff)
		case types.KindOf(st.cols[i].Type) == types.KindBytes:
			st.data = binary.LittleEndian.AppendUint32(st.data, uint32(len(d.B)))
			st.data = append(st.data, d.B...)
		default:
			st.data = binary.LittleEndian.AppendUint32(st.data, 8)
			st.data = binary.LittleEndian.AppendUint64(st.data, uint64(d.I))
		}
	}
	st.ends = append(st.ends, len(st.data))
	if used := int64(cap(st.data) + 8*cap(st.ends)); used > st.taken {
		if err := st.acct.Grow(used - st.taken); err != nil {
			return errOutOfMemory("keep result rows")
		}
		st.taken = used
	}
	return nil
}

// at decodes row n; its bytes alias the store.
func (st *rowStore) at(n int64) []types.Datum {
	off := 0
	if n > 0 {
		off = st.ends[n-1]
	}
	for i := range st.row {
		size := binary.LittleEndian.Uint32(st.data[off:])
		off += 4
		switch {
		case size == 0xffffffff:
			st.row[i] = types.NullDatum
			continue
		case types.KindOf(st.cols[i].Type) == types.KindBytes:
			st.row[i] = types.Bytes(st.data[off : off+int(size) : off+int(size)])
		default:
			st.row[i] = types.Int(int64(binary.LittleEndian.Uint64(st.data[off:])))
		}
		off += int(size)
	}
	return st.row
}

func (st *rowStore) send(from, to int64, sink rowSink) error {
	for n := from; n < to; n++ {
		if err := sink.writeRow(st.at(n)); err != nil {
			return err
		}
	}
	return nil
}

func errOutOfMemory(what string) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("Failed to %s within the memory limit.", what)
}

// describeColumns sends RowDescription.
func (s *Session) describeColumns(cols []plan.Column, formats []int16) {
	s.out.RowDescription(s.wireColumns(cols, nil), func(i int) int16 { return wire.FormatOf(formats, i) })
}

// wireColumns turns plan columns into the protocol's description; origins may be nil.
func (s *Session) wireColumns(cols []plan.Column, origins []plan.Origin) []wire.Column {
	out := make([]wire.Column, len(cols))
	for i, c := range cols {
		out[i] = wire.Column{Name: c.Name, Type: uint32(c.Type), Len: typeLen(c.Type), Typmod: int32(c.Typmod)}
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
