package pgdata

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"strings"
	"sync"
)

//go:embed data/*.tsv.gz
var files embed.FS

// open returns the text of a data file below its header, with herd's own rows behind PostgreSQL's, and the header's column
// names; ok is false when the catalog has no file, that is, no rows.
func open(name string) (columns []string, text string, ok bool) {
	packed, err := files.ReadFile("data/" + name + ".tsv.gz")
	if err != nil {
		return nil, "", false
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("pgdata: embedded file " + name + ": " + err.Error())
	}
	var b strings.Builder
	b.Grow(6 * len(packed))
	if _, err := io.Copy(&b, z); err != nil {
		panic("pgdata: embedded file " + name + ": " + err.Error())
	}
	head, rest, _ := strings.Cut(b.String(), "\n")
	columns = strings.Split(head, "\t")
	if more := ownRows(name, columns); more != "" {
		if !strings.HasSuffix(rest, "\n") {
			rest += "\n"
		}
		rest += more
	}
	return columns, rest, true
}

// lines calls f with the raw fields of every row of a data file. The slice is reused, its
// strings may be kept.
func lines(name string, f func(fields []string)) {
	columns, text, ok := open(name)
	if !ok {
		return
	}
	fields := make([]string, len(columns))
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		split(line, fields)
		f(fields)
		text = rest
	}
}

// split cuts one line into its fields.
func split(line string, fields []string) {
	for i := range fields {
		fields[i], line, _ = strings.Cut(line, "\t")
	}
}

// Rows is the content that initdb gives one system catalog, in the catalog's column order.
type Rows struct {
	Columns []string // names
	fields  []string // raw, len(Columns) for each row
}

// Len returns the number of rows.
func (r *Rows) Len() int {
	if len(r.Columns) == 0 {
		return 0
	}
	return len(r.fields) / len(r.Columns)
}

// Field returns PostgreSQL's text form of a column (0-based) of a row; ok is false for NULL.
// References to functions (type regproc) are numbers.
func (r *Rows) Field(row, col int) (text string, ok bool) {
	return unescape(r.fields[row*len(r.Columns)+col])
}

var rowsCache sync.Map // catalog name -> *Rows

// CatalogRows returns the rows of a system catalog by its name, such as "pg_ts_config"; a
// catalog without rows gives an empty result.
func CatalogRows(name string) *Rows {
	if r, ok := rowsCache.Load(name); ok {
		return r.(*Rows)
	}
	r := &Rows{}
	if columns, text, ok := open(name); ok {
		r.Columns = columns
		r.fields = make([]string, 0, len(columns)*(strings.Count(text, "\n")+1))
		for text != "" {
			line, rest, _ := strings.Cut(text, "\n")
			at := len(r.fields)
			r.fields = r.fields[:at+len(columns)]
			split(line, r.fields[at:])
			text = rest
		}
	}
	kept, _ := rowsCache.LoadOrStore(name, r)
	return kept.(*Rows)
}
