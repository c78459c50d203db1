package main

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// pqClient: database/sql over lib/pq.
func pqClient(url string) error {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE v (id serial PRIMARY KEY, t text NOT NULL, n numeric(8,2), at timestamptz, b bytea, ia int[], bo bool, f float8)`); err != nil {
		return err
	}
	at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	var id int
	err = db.QueryRow("INSERT INTO v (t, n, at, b, ia, bo, f) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id", "a\\'b", 1.5, at, []byte("x\x00"), pq.Array([]int64{1, 2}), true, 2.5).Scan(&id)
	fmt.Println(id, err)
	var (
		t, n string
		when time.Time
		b    []byte
		ia   pq.Int64Array
		bo   bool
		f    float64
	)
	err = db.QueryRow("SELECT t, n, at, b, ia, bo, f FROM v WHERE id = $1", id).Scan(&t, &n, &when, &b, &ia, &bo, &f)
	fmt.Println(t, n, when.UTC(), b, ia, bo, f, err)
	rows, err := db.Query("SELECT * FROM v")
	if err != nil {
		return err
	}
	types, _ := rows.ColumnTypes()
	for _, c := range types {
		length, hasLength := c.Length()
		p, s, decimal := c.DecimalSize()
		fmt.Println(c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, p, s, decimal)
	}
	rows.Close()
	st, err := db.Prepare("INSERT INTO v (t) VALUES ($1)")
	if err != nil {
		return err
	}
	for i := range 10 {
		if _, err := st.Exec(fmt.Sprint("row ", i)); err != nil {
			return err
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	copying, err := tx.Prepare(pq.CopyIn("v", "t", "n"))
	if err != nil {
		return err
	}
	for i := range 100 {
		if _, err := copying.Exec(fmt.Sprint("copied\t", i), i); err != nil {
			return err
		}
	}
	if _, err := copying.Exec(); err != nil {
		return err
	}
	fmt.Println(copying.Close(), tx.Commit())
	var count, sum int
	fmt.Println(db.QueryRow("SELECT count(*), sum(n)::int FROM v WHERE t LIKE 'copied%'").Scan(&count, &sum), count, sum)
	for _, q := range []string{"INSERT INTO v (id, t) VALUES (1, 'x')", "INSERT INTO v (n) VALUES (1)", "SELECT nope", "SELEC"} {
		_, err := db.Exec(q)
		var e *pq.Error
		fmt.Println(errors.As(err, &e), e.Code, e.Code.Name(), e.Message, e.Detail, e.Position, e.Table, e.Column, e.Constraint)
	}
	many, err := db.Query("SELECT 1; SELECT 2, 3")
	if err != nil {
		return err
	}
	for {
		columns, _ := many.Columns()
		fmt.Println(columns)
		for many.Next() {
		}
		if !many.NextResultSet() {
			break
		}
	}
	return many.Close()
}
