package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// answer is what a server said to one execution.
type answer struct {
	columns []string // name and type of each
	types   []uint32
	rows    [][][]byte
	binary  bool
	tag     string
	status  byte

	code, message string
	fields        string // detail, position and names of an error
	constraint    string
}

// changes says that an execution may have changed the database.
func (a *answer) changes() bool {
	for _, verb := range []string{"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"} {
		if strings.HasPrefix(a.tag, verb) {
			return true
		}
	}
	return false
}

func (a *answer) String() string {
	if a.code != "" {
		return fmt.Sprintf("%s %s %s", a.code, a.message, a.fields)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %c", a.tag, a.columns, a.status)
	for i, row := range a.rows {
		if i == 12 {
			b.WriteString("\n    ...")
			break
		}
		b.WriteString("\n    ")
		for _, v := range row {
			switch {
			case v == nil:
				b.WriteString("NULL | ")
			case a.binary:
				fmt.Fprintf(&b, "%x %q | ", v, v)
			default:
				fmt.Fprintf(&b, "%s | ", v)
			}
		}
	}
	return b.String()
}

// parted shows two answers from shortly before where they part, when they are long.
func parted(want, got string) (string, string) {
	const long, before, after = 900, 120, 400
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	if len(want) < long && len(got) < long || at < before {
		return want, got
	}
	cut := func(s string) string {
		return "..." + strings.ToValidUTF8(s[at-before:min(len(s), at+after)], "?")
	}
	return cut(want), cut(got)
}

// send executes a statement; the answers are as many as its executions.
func send(ctx context.Context, c *pgconn.PgConn, st *statement) []answer {
	var out []answer
	switch st.mode {
	case simple:
		results, err := c.Exec(ctx, st.sql).ReadAll()
		var last *pgconn.Result
		if len(results) > 0 {
			last = results[len(results)-1]
		}
		out = append(out, read(c, last, err))
	case prepared:
		_, err := c.Prepare(ctx, "p", st.sql, nil)
		if err != nil {
			out = append(out, read(c, nil, err))
			break
		}
		for _, run := range append([][]param{st.params}, st.runs...) {
			r := c.ExecPrepared(ctx, "p", texts(run), nil, nil).Read()
			out = append(out, read(c, r, r.Err))
		}
		_, _ = c.Exec(ctx, "deallocate p").ReadAll() // in a failed block it stays
	default:
		var formats []int16
		if st.mode == binaryResults {
			formats = []int16{1}
		}
		r := c.ExecParams(ctx, st.sql, texts(st.params), nil, nil, formats).Read()
		out = append(out, read(c, r, r.Err))
		out[0].binary = st.mode == binaryResults
	}
	for len(out) < 1+len(st.runs) {
		out = append(out, out[len(out)-1])
	}
	return out
}

func texts(params []param) [][]byte {
	out := make([][]byte, len(params))
	for i, p := range params {
		out[i] = []byte(p.value)
	}
	return out
}

// read takes down a result or an error.
func read(c *pgconn.PgConn, r *pgconn.Result, err error) answer {
	a := answer{status: c.TxStatus()}
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		a.code, a.message, a.constraint = e.Code, e.Message, e.ConstraintName
		a.fields = fmt.Sprintf("[%s|%s|%d|%s|%s|%s|%s|%s]", e.Detail, e.Hint, e.Position, e.SchemaName, e.TableName, e.ColumnName, e.DataTypeName, e.ConstraintName)
		return a
	case err != nil:
		a.code, a.message = "lost", err.Error()
		return a
	}
	if r == nil {
		return a
	}
	a.tag, a.rows = r.CommandTag.String(), r.Rows
	for _, f := range r.FieldDescriptions {
		typ := fmt.Sprint(f.DataTypeOID, "/", f.TypeModifier, "/", f.DataTypeSize)
		if f.DataTypeOID >= firstUserOID {
			typ = "user"
		}
		a.columns = append(a.columns, f.Name+" "+typ)
		a.types = append(a.types, f.DataTypeOID)
	}
	return a
}

const firstUserOID = 16384

// compare says in what two answers differ, "" when in nothing.
func compare(st *statement, want, got *answer) string {
	switch {
	case want.code != got.code:
		return "SQLSTATE"
	case want.code != "" && st.bag && strings.HasPrefix(want.code, "23"):
		if want.constraint != got.constraint {
			return "constraint"
		}
	case want.message != got.message:
		return "message"
	case want.fields != got.fields:
		return "fields of the error"
	case want.tag != got.tag:
		return "tag"
	case !slices.Equal(want.columns, got.columns):
		return "columns"
	}
	if want.status != got.status {
		return "status of the transaction"
	}
	a, b := want.text(st), got.text(st)
	if !st.ordered {
		slices.Sort(a)
		slices.Sort(b)
	}
	if !slices.Equal(a, b) {
		return "rows"
	}
	return ""
}

// text makes rows that can be compared.
func (a *answer) text(st *statement) []string {
	out := make([]string, len(a.rows))
	for i, row := range a.rows {
		cells := make([]string, len(row))
		for j, v := range row {
			if v == nil {
				cells[j] = "\x00null"
				continue
			}
			cells[j] = cell(a.types[j], v, a.binary, st.loose)
		}
		out[i] = strings.Join(cells, "\x00|")
	}
	return out
}

const (
	float4OID, float8OID = 700, 701
	numericOID           = 1700
	intervalOID          = 1186
	bpcharOID            = 1042
)

// cell is a value as it is compared: floats to ten digits, and of equal values one when any may be shown.
func cell(typ uint32, v []byte, inBinary, loose bool) string {
	s := string(v)
	switch {
	case typ == float4OID && inBinary && len(v) == 4:
		return digits(float64(math.Float32frombits(binary.BigEndian.Uint32(v))), 6)
	case typ == float8OID && inBinary && len(v) == 8:
		return digits(math.Float64frombits(binary.BigEndian.Uint64(v)), 10)
	case inBinary:
		return s
	case typ == float4OID || typ == float8OID:
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return digits(f, map[uint32]int{float4OID: 6, float8OID: 10}[typ])
		}
	case loose && typ == numericOID && strings.Contains(s, "."):
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	case loose && typ == intervalOID:
		return "interval"
	case loose && typ == bpcharOID:
		return strings.TrimRight(s, " ")
	}
	return s
}

func digits(f float64, n int) string { return strconv.FormatFloat(f, 'g', n, 64) }
