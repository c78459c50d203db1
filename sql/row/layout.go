package row

import (
	"encoding/binary"

	"herd/sql/types"
)

const (
	formatVersion = 1
	wideOffsets   = 0x80
	headerSize    = 11
	largeFlag     = 1 << 31

	// LargeMin is the size in bytes above which a variable value is stored out of line.
	LargeMin = 256 << 10
	// MaxRow is the most bytes of a row that storage takes. In a longer one the longest values are stored out of line too.
	MaxRow = 256 << 10
	// MaxColumns is the most columns a table has, as in PostgreSQL.
	MaxColumns = 1600

	numericNaN = -1 << 63
)

// Column describes a column of a table to its rows.
type Column struct {
	Type   types.OID // the base type of a domain
	Typmod types.Typmod
	// Missing is the value of rows written before the column existed; nil is NULL.
	Missing *types.Datum
	// Dropped columns keep their place; new rows have NULL there.
	Dropped bool
}

// place is how one column is stored.
type place struct {
	typ     types.OID
	kind    types.Kind
	width   int // bytes of a fixed column, 0 variable
	numeric bool
	scale   int // of a numeric stored as an integer
	at      int // fixed: offset from the end of the bitmap; variable: index among the variable columns
	missing *types.Datum
	dropped bool
}

// Layout fixes where the columns of a table's rows lie. Immutable.
type Layout struct {
	cols     []place
	fixedEnd []int // fixedEnd[n]: bytes of the fixed columns among the first n
	vars     []int // vars[n]: variable columns among the first n
}

// NewLayout computes the layout of the columns in their order; the catalog makes one a table version.
func NewLayout(cols []Column) *Layout {
	l := &Layout{cols: make([]place, len(cols)), fixedEnd: make([]int, len(cols)+1), vars: make([]int, len(cols)+1)}
	fixed, vars := 0, 0
	for i, c := range cols {
		p := place{typ: c.Type, kind: types.KindOf(c.Type), width: types.FixedWidth(c.Type), missing: c.Missing, dropped: c.Dropped}
		if c.Type == types.NumericOID && c.Typmod >= 0 {
			if prec, s := types.NumericParts(c.Typmod); prec <= 18 && s >= 0 {
				p.numeric, p.scale, p.width = true, s, 8
			}
		}
		if p.width > 0 {
			p.at = fixed
			fixed += p.width
		} else {
			p.at = vars
			vars++
		}
		l.cols[i] = p
		l.fixedEnd[i+1], l.vars[i+1] = fixed, vars
	}
	return l
}

// NumColumns returns the number of columns, dropped ones included.
func (l *Layout) NumColumns() int { return len(l.cols) }

// Type returns the type of a column.
func (l *Layout) Type(col int) types.OID { return l.cols[col].typ }

// Stamp returns the number of the transaction that last wrote the row.
func Stamp(row []byte) uint64 {
	if len(row) < headerSize {
		return 0
	}
	return binary.LittleEndian.Uint64(row[3:])
}

// SetStamp overwrites the stamp of a row that nobody else sees yet.
func SetStamp(row []byte, stamp uint64) { binary.LittleEndian.PutUint64(row[3:], stamp) }

// Columns returns how many columns the row has.
func Columns(row []byte) int {
	if len(row) < headerSize {
		return 0
	}
	return int(binary.LittleEndian.Uint16(row[1:]))
}

// Check says whether row is well formed under the layout; herd check calls it.
func (l *Layout) Check(row []byte) bool {
	if len(row) < headerSize || row[0]&0x0f != formatVersion {
		return false
	}
	n := Columns(row)
	if n > len(l.cols) {
		return false
	}
	h := header(row, n)
	v := l.vars[n]
	if h.fixed+l.fixedEnd[n]+v*h.offWidth > len(row) {
		return false
	}
	prev := 0
	for i := range v {
		end := l.end(row, h, n, i) &^ largeFlag
		if end < prev {
			return false
		}
		prev = end
	}
	return h.fixed+l.fixedEnd[n]+v*h.offWidth+prev == len(row)
}

// head is the computed part of a row's header.
type head struct {
	fixed    int // offset of the first fixed column
	offWidth int
}

func header(row []byte, n int) head {
	h := head{fixed: headerSize + (n+7)>>3, offWidth: 2}
	if row[0]&wideOffsets != 0 {
		h.offWidth = 4
	}
	return h
}

// end returns the end offset word of variable column i.
func (l *Layout) end(row []byte, h head, n, i int) int {
	at := h.fixed + l.fixedEnd[n] + i*h.offWidth
	if h.offWidth == 2 {
		return int(binary.LittleEndian.Uint16(row[at:]))
	}
	return int(binary.LittleEndian.Uint32(row[at:]))
}

// varRange returns the bytes of variable column i in the row and whether they are a reference.
func (l *Layout) varRange(row []byte, n, i int) (from, to int, large bool) {
	h := header(row, n)
	ends := h.fixed + l.fixedEnd[n]
	base := ends + l.vars[n]*h.offWidth
	if h.offWidth == 2 {
		if i > 0 {
			from = int(binary.LittleEndian.Uint16(row[ends+2*i-2:]))
		}
		return base + from, base + int(binary.LittleEndian.Uint16(row[ends+2*i:])), false
	}
	if i > 0 {
		from = int(binary.LittleEndian.Uint32(row[ends+4*i-4:]) &^ largeFlag)
	}
	w := binary.LittleEndian.Uint32(row[ends+4*i:])
	return base + from, base + int(w&^largeFlag), w&largeFlag != 0
}

// isNull says whether column col, which is below the row's count, is NULL.
func isNull(row []byte, col int) bool { return row[headerSize+col>>3]&(1<<(col&7)) != 0 }
