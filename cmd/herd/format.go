package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// resultWriter prints the rows of one result as they come.
type resultWriter interface {
	begin(columns []pgconn.FieldDescription) error
	// row gets values as text, nil for NULL; they are valid during the call only.
	row(values [][]byte) error
	end() error
}

// newResultWriter returns the writer of a format: table, csv or json.
func newResultWriter(format string, w io.Writer) (resultWriter, error) {
	switch format {
	case "table":
		return &tableWriter{out: bufio.NewWriter(w)}, nil
	case "csv":
		return &csvWriter{out: csv.NewWriter(w)}, nil
	case "json":
		return &jsonWriter{out: bufio.NewWriter(w)}, nil
	}
	return nil, fmt.Errorf("format %q: expected table, csv or json", format)
}

// tableWriter aligns columns. It measures the first rows and prints later ones to the same widths, so that a long
// result needs no more memory than a short one.
type tableWriter struct {
	out     *bufio.Writer
	names   []string
	right   []bool // numbers stand at the right
	widths  []int
	held    [][]string // rows not yet printed, while measuring
	flushed bool
	count   int64
}

const tableMeasuredRows = 1000

func (t *tableWriter) begin(columns []pgconn.FieldDescription) error {
	*t = tableWriter{out: t.out}
	for _, c := range columns {
		t.names = append(t.names, c.Name)
		t.right = append(t.right, isNumber(c.DataTypeOID))
		t.widths = append(t.widths, utf8.RuneCountInString(c.Name))
	}
	return nil
}

func (t *tableWriter) row(values [][]byte) error {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strings.ReplaceAll(string(v), "\n", "\\n")
		if !t.flushed {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(texts[i]))
		}
	}
	t.count++
	if t.flushed {
		t.line(texts, t.right)
		return nil
	}
	if t.held = append(t.held, texts); len(t.held) == tableMeasuredRows {
		t.flush()
	}
	return nil
}

func (t *tableWriter) flush() {
	t.line(t.names, make([]bool, len(t.names)))
	for i, w := range t.widths {
		if i > 0 {
			t.out.WriteByte('+')
		}
		t.out.WriteString(strings.Repeat("-", w+2))
	}
	t.out.WriteByte('\n')
	for _, texts := range t.held {
		t.line(texts, t.right)
	}
	t.held, t.flushed = nil, true
}

func (t *tableWriter) line(texts []string, right []bool) {
	for i, text := range texts {
		if i > 0 {
			t.out.WriteString("|")
		}
		pad := strings.Repeat(" ", max(t.widths[i]-utf8.RuneCountInString(text), 0))
		switch {
		case right[i]:
			t.out.WriteString(" " + pad + text + " ")
		case i == len(texts)-1:
			t.out.WriteString(" " + text)
		default:
			t.out.WriteString(" " + text + pad + " ")
		}
	}
	t.out.WriteByte('\n')
}

func (t *tableWriter) end() error {
	if !t.flushed {
		t.flush()
	}
	rows := "rows"
	if t.count == 1 {
		rows = "row"
	}
	fmt.Fprintf(t.out, "(%d %s)\n\n", t.count, rows)
	return t.out.Flush()
}

// csvWriter prints a header and quoted values; NULL is an empty field.
type csvWriter struct{ out *csv.Writer }

func (c *csvWriter) begin(columns []pgconn.FieldDescription) error {
	var names []string
	for _, f := range columns {
		names = append(names, f.Name)
	}
	return c.out.Write(names)
}

func (c *csvWriter) row(values [][]byte) error {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return c.out.Write(texts)
}

func (c *csvWriter) end() error {
	c.out.Flush()
	return c.out.Error()
}

// jsonWriter prints an array of objects; numbers, booleans and json values stay what they are.
type jsonWriter struct {
	out     *bufio.Writer
	columns []pgconn.FieldDescription
	rows    int
}

func (j *jsonWriter) begin(columns []pgconn.FieldDescription) error {
	j.columns, j.rows = append([]pgconn.FieldDescription(nil), columns...), 0
	_, err := j.out.WriteString("[")
	return err
}

func (j *jsonWriter) row(values [][]byte) error {
	if j.rows > 0 {
		j.out.WriteByte(',')
	}
	j.rows++
	j.out.WriteString("\n {")
	for i, v := range values {
		if i > 0 {
			j.out.WriteString(", ")
		}
		name, err := json.Marshal(j.columns[i].Name)
		if err != nil {
			return err
		}
		text, err := jsonValue(j.columns[i].DataTypeOID, v)
		if err != nil {
			return err
		}
		j.out.Write(name)
		j.out.WriteString(": ")
		j.out.Write(text)
	}
	j.out.WriteByte('}')
	return nil
}

func (j *jsonWriter) end() error {
	j.out.WriteString("\n]\n")
	return j.out.Flush()
}

func isNumber(oid uint32) bool {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID, pgtype.OIDOID:
		return true
	}
	return false
}

func jsonValue(oid uint32, v []byte) ([]byte, error) {
	switch {
	case v == nil:
		return []byte("null"), nil
	case oid == pgtype.BoolOID && string(v) == "t":
		return []byte("true"), nil
	case oid == pgtype.BoolOID:
		return []byte("false"), nil
	case (isNumber(oid) || oid == pgtype.JSONOID || oid == pgtype.JSONBOID) && json.Valid(v): // NaN is a number and no JSON
		return v, nil
	}
	return json.Marshal(string(v))
}
