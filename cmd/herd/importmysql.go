package main

import (
	"fmt"
	"io"
	"strings"

	"herd/sql/dump"
	"herd/sql/mysql"
)

// mysqlImport loads a dump of mysqldump. Statements run as they are in a session of MySQL's dialect, but for two things: INSERTs of
// literals go through COPY, and secondary indexes and foreign keys of new tables wait until the rows are there.
type mysqlImport struct {
	*importer
	tables  map[string]*mysql.Created
	order   []*mysql.Created
	stream  *copyStream
	buf     []byte
	dialect string
}

// copyStream is a COPY that is under way.
type copyStream struct {
	key  string // of the table and columns
	data *io.PipeWriter
	done chan error
}

const copyPiece = 1 << 16

func (m *mysqlImport) run() error {
	m.tables = map[string]*mysql.Created{}
	err := m.each()
	if e := m.endCopy(); err == nil {
		err = e
	}
	if err == nil {
		err = m.finish()
	}
	return err
}

func (m *mysqlImport) each() error {
	for {
		text, err := m.in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		m.progress.show(m.rows)
		if err := m.one(text); err != nil {
			return err
		}
	}
}

// one runs one statement of the dump.
func (m *mysqlImport) one(text []byte) error {
	if bytesHave(text, "insert") {
		if done, err := m.insert(text); done || err != nil {
			return err
		}
	}
	if err := m.endCopy(); err != nil {
		return err
	}
	if err := m.speak("mysql"); err != nil {
		return err
	}
	sql := string(text)
	if bytesHave(text, "create") {
		t, err := mysql.SplitCreate(sql)
		if err == nil && t != nil { // what the parser refuses, the server says
			m.tables[tableKey(t.Schema, t.Table)] = t
			m.order = append(m.order, t)
			sql = t.Text
		}
	}
	return m.exec(sql)
}

// speak sets the session's dialect: COPY is PostgreSQL's.
func (m *mysqlImport) speak(dialect string) error {
	if m.dialect == dialect {
		return nil
	}
	m.dialect = dialect
	_, err := m.conn.Exec(m.ctx, "SET herd.dialect = '"+dialect+"'").ReadAll()
	return err
}

func tableKey(schema, table string) string { return strings.ToLower(schema + "." + table) }

// insert sends an INSERT's tuples through COPY; false when it is to run as it is.
func (m *mysqlImport) insert(text []byte) (bool, error) {
	x := dump.ParseInsert(text)
	if x == nil {
		return false, nil
	}
	t := m.tables[tableKey(x.Schema, x.Table)]
	if t == nil {
		return false, nil // of unknown columns
	}
	columns := x.Columns
	if columns == nil {
		columns = t.Columns
	}
	fields := make([]dump.Field, len(columns))
	for i, c := range columns {
		known := false
		for k := range t.Columns {
			if strings.EqualFold(t.Columns[k], c) {
				fields[i], known = dump.Field{Bytes: t.Binary[k], Bits: t.Bits[k]}, true
			}
		}
		if !known {
			return false, nil
		}
	}
	rows, _, ok := x.AppendRows(m.buf[:0], fields)
	m.buf = rows[:0]
	if !ok {
		return false, nil
	}
	return true, m.send(x, columns, rows)
}

// send writes rows into the table's COPY, which goes on over statements for the same columns.
func (m *mysqlImport) send(x *dump.Insert, columns []string, rows []byte) error {
	key := tableKey(x.Schema, x.Table) + " " + strings.Join(columns, ",")
	if m.stream == nil || m.stream.key != key {
		if err := m.endCopy(); err != nil {
			return err
		}
		if err := m.speak("postgres"); err != nil {
			return err
		}
		m.stream = m.startCopy(x, columns, key)
	}
	for len(rows) > 0 {
		n := min(len(rows), copyPiece)
		if _, err := m.stream.data.Write(rows[:n]); err != nil {
			return m.endCopy() // the COPY's error is the one to tell
		}
		rows = rows[n:]
	}
	return nil
}

func (m *mysqlImport) startCopy(x *dump.Insert, columns []string, key string) *copyStream {
	var b strings.Builder
	b.WriteString("COPY ")
	if x.Schema != "" {
		b.WriteString(quoteName(strings.ToLower(x.Schema)) + ".")
	}
	b.WriteString(quoteName(strings.ToLower(x.Table)) + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(strings.ToLower(c)))
	}
	b.WriteString(") FROM STDIN")
	r, w := io.Pipe()
	s := &copyStream{key: key, data: w, done: make(chan error, 1)}
	sql := b.String()
	go func() {
		err := m.copy(sql, r)
		_ = r.CloseWithError(io.ErrClosedPipe) // a pipe's reader closes without error
		s.done <- err
	}()
	return s
}

// endCopy ends the COPY that is under way and returns its error.
func (m *mysqlImport) endCopy() error {
	if m.stream == nil {
		return nil
	}
	s := m.stream
	m.stream = nil
	if err := s.data.Close(); err != nil {
		return err
	}
	return <-s.done
}

// finish makes what waited for the rows: indexes, where AUTO_INCREMENT goes on, foreign keys.
func (m *mysqlImport) finish() error {
	for _, t := range m.order {
		if err := m.after(t.Indexes); err != nil {
			return err
		}
		if t.AutoIncrement != "" {
			if err := m.advance(t); err != nil {
				return err
			}
		}
	}
	for _, t := range m.order {
		if err := m.after(t.ForeignKeys); err != nil {
			return err
		}
	}
	return nil
}

func (m *mysqlImport) after(list []string) error {
	if len(list) == 0 {
		return nil
	}
	if err := m.speak("mysql"); err != nil {
		return err
	}
	for _, sql := range list {
		m.progress.show(m.rows)
		if err := m.exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// advance lets AUTO_INCREMENT go on after the highest value, as it does in MySQL after explicit ones.
func (m *mysqlImport) advance(t *mysql.Created) error {
	if err := m.speak("postgres"); err != nil {
		return err
	}
	name := quoteName(t.Table)
	if t.Schema != "" {
		name = quoteName(t.Schema) + "." + name
	}
	seq := fmt.Sprintf("pg_catalog.pg_get_serial_sequence('%s', '%s')", strings.ReplaceAll(name, "'", "''"), strings.ReplaceAll(t.AutoIncrement, "'", "''"))
	return m.exec(fmt.Sprintf("SELECT pg_catalog.setval(%s, GREATEST(pg_catalog.max(%s) + 1, pg_catalog.nextval(%s)), false) FROM %s",
		seq, quoteName(t.AutoIncrement), seq, name))
}
