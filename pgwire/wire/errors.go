package wire

import (
	"cmp"
	"strconv"

	"herd/sql/sqlerr"
)

// Error sends an ErrorResponse, or a NoticeResponse for severities below error.
func (w *Writer) Error(e *sqlerr.Error) {
	typ := byte('E')
	switch e.Severity {
	case sqlerr.SeverityWarning, sqlerr.SeverityNotice, sqlerr.SeverityDebug, sqlerr.SeverityInfo, sqlerr.SeverityLog:
		typ = 'N'
	}
	w.Abandon()
	w.Begin(typ)
	w.field('S', e.Severity.String())
	w.field('V', e.Severity.String())
	w.field('C', string(e.Code))
	w.Byte('M')
	w.String(e.Message)
	w.field('D', e.Detail)
	w.field('H', e.Hint)
	w.number('P', e.Position)
	w.number('p', e.InternalPosition)
	w.field('q', e.InternalQuery)
	w.field('W', e.Where)
	w.field('s', e.Schema)
	w.field('t', e.Table)
	w.field('c', e.Column)
	w.field('d', e.DataType)
	w.field('n', e.Constraint)
	// Where in the source it was raised: PostgreSQL always sends these and some clients read the routine. Here the
	// condition's name stands for it, which does not change between versions.
	w.field('F', "herd")
	w.field('L', "1")
	w.field('R', cmp.Or(e.Routine, routine(e.Code)))
	w.Byte(0)
	w.End()
}

func (w *Writer) field(code byte, s string) {
	if s != "" {
		w.Byte(code)
		w.String(s)
	}
}

func (w *Writer) number(code byte, n int) {
	if n > 0 {
		w.field(code, strconv.Itoa(n))
	}
}

func routine(c sqlerr.Code) string {
	if n := c.Name(); n != "" {
		return n
	}
	return string(c)
}
