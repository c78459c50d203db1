package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// tpchTables are TPC-H's tables as its specification has them; keys and foreign keys get their indexes after the load.
var tpchTables = []struct{ name, columns string }{
	{"region", "r_regionkey int NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152)"},
	{"nation", "n_nationkey int NOT NULL, n_name char(25) NOT NULL, n_regionkey int NOT NULL, n_comment varchar(152)"},
	{"supplier", "s_suppkey int NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, s_nationkey int NOT NULL, s_phone char(15) NOT NULL, s_acctbal decimal(15,2) NOT NULL, s_comment varchar(101) NOT NULL"},
	{"part", "p_partkey int NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size int NOT NULL, p_container char(10) NOT NULL, p_retailprice decimal(15,2) NOT NULL, p_comment varchar(23) NOT NULL"},
	{"partsupp", "ps_partkey int NOT NULL, ps_suppkey int NOT NULL, ps_availqty int NOT NULL, ps_supplycost decimal(15,2) NOT NULL, ps_comment varchar(199) NOT NULL"},
	{"customer", "c_custkey int NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, c_nationkey int NOT NULL, c_phone char(15) NOT NULL, c_acctbal decimal(15,2) NOT NULL, c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL"},
	{"orders", "o_orderkey int NOT NULL, o_custkey int NOT NULL, o_orderstatus char(1) NOT NULL, o_totalprice decimal(15,2) NOT NULL, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, o_clerk char(15) NOT NULL, o_shippriority int NOT NULL, o_comment varchar(79) NOT NULL"},
	{"lineitem", "l_orderkey int NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL, l_linenumber int NOT NULL, l_quantity decimal(15,2) NOT NULL, l_extendedprice decimal(15,2) NOT NULL, l_discount decimal(15,2) NOT NULL, l_tax decimal(15,2) NOT NULL, l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL"},
}

var tpchKeys = []string{
	"ALTER TABLE region ADD PRIMARY KEY (r_regionkey)",
	"ALTER TABLE nation ADD PRIMARY KEY (n_nationkey)",
	"ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey)",
	"ALTER TABLE part ADD PRIMARY KEY (p_partkey)",
	"ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey)",
	"ALTER TABLE customer ADD PRIMARY KEY (c_custkey)",
	"ALTER TABLE orders ADD PRIMARY KEY (o_orderkey)",
	"ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)",
	"CREATE INDEX ON nation (n_regionkey)",
	"CREATE INDEX ON supplier (s_nationkey)",
	"CREATE INDEX ON partsupp (ps_suppkey)",
	"CREATE INDEX ON customer (c_nationkey)",
	"CREATE INDEX ON orders (o_custkey)",
	"CREATE INDEX ON lineitem (l_partkey, l_suppkey)",
	"CREATE INDEX ON lineitem (l_suppkey)",
}

const tpchQueries = 22

// tpchRow measures all of TPC-H's queries and their total. The rows, queries and answers are those of the folder that bench/tpch wrote.
func tpchRow(b *bench, _ string) ([]result, error) {
	if b.s.tpch == "" {
		return nil, errors.New("-tpch is missing: the folder that bench/tpch has written")
	}
	var out []result
	total := result{name: "tpch-total", work: "TPC-H, the 22 queries one after the other", unit: "ms", goal: 1.0 / 3, smaller: true}
	sums := map[string]float64{}
	for n := 1; n <= tpchQueries; n++ {
		out = append(out, result{name: fmt.Sprintf("tpch-%02d", n), work: fmt.Sprintf("TPC-H query %d", n), unit: "ms", goal: 1, smaller: true})
	}
	for _, server := range []string{"herd", "postgres"} {
		var failed error
		for n := 1; n <= tpchQueries; n++ {
			value, err := b.tpchTime(server, n)
			out[n-1].figures = append(out[n-1].figures, figure{server, value, err})
			sums[server] += value
			failed = errors.Join(failed, err)
		}
		total.figures = append(total.figures, figure{server, sums[server], failed})
	}
	return append(out, total), nil
}

// tpchTime checks the answer of query n and returns its time in milliseconds.
func (b *bench) tpchTime(server string, n int) (float64, error) {
	c, _, err := b.connect(server)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.ctx)
	if err := b.once(server+" tpch", func() error { return b.loadTPCH(c) }); err != nil {
		return 0, err
	}
	base := filepath.Join(b.s.tpch, fmt.Sprintf("%02d", n))
	sql, err := os.ReadFile(base + ".sql")
	if err != nil {
		return 0, err
	}
	want, err := os.ReadFile(base + ".csv")
	if err != nil {
		return 0, err
	}
	results, err := c.Exec(b.ctx, string(sql)).ReadAll()
	if err != nil {
		return 0, err
	}
	if err := checkAnswer(results[0], want); err != nil {
		return 0, err
	}
	return medianTime(func() error { return drain(b.ctx, c, strings.TrimRight(string(sql), "; \n"), false) })
}

func (b *bench) loadTPCH(c *pgconn.PgConn) error {
	for _, t := range tpchTables {
		if err := execAll(b.ctx, c, []string{"CREATE TABLE " + t.name + " (" + t.columns + ")"}); err != nil {
			return err
		}
		f, err := os.Open(filepath.Join(b.s.tpch, t.name+".csv"))
		if err != nil {
			return err
		}
		_, err = c.CopyFrom(b.ctx, f, "COPY "+t.name+" FROM STDIN (FORMAT csv, HEADER)")
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("load %s: %w", t.name, err)
		}
	}
	return execAll(b.ctx, c, append(slices.Clone(tpchKeys), "ANALYZE", "CHECKPOINT"))
}

// checkAnswer compares a result with a file of a header and rows. Numbers may differ by their rounding, and rows that the query's
// order does not tell apart may be in any.
func checkAnswer(r *pgconn.Result, file []byte) error {
	want, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	want = want[1:]
	if len(r.Rows) != len(want) {
		return fmt.Errorf("%d rows, the answer has %d", len(r.Rows), len(want))
	}
	got := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		for _, v := range row {
			got[i] = append(got[i], strings.TrimRight(string(v), " "))
		}
	}
	inOrder := func(a, b [][]string) error {
		for i := range a {
			if !slices.EqualFunc(a[i], b[i], sameValue) {
				return fmt.Errorf("row %d is %q, the answer has %q", i+1, a[i], b[i])
			}
		}
		return nil
	}
	if inOrder(got, want) == nil {
		return nil
	}
	sorted := func(rows [][]string) [][]string {
		rows = slices.Clone(rows)
		slices.SortFunc(rows, func(a, b []string) int { return slices.CompareFunc(a, b, compareValue) })
		return rows
	}
	return inOrder(sorted(got), sorted(want))
}

func sameValue(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return a == strings.TrimRight(b, " ")
	}
	return math.Abs(x-y) <= 0.01+1e-9*math.Abs(y)
}

// compareValue orders values so that numbers written in two ways have one place.
func compareValue(a, b string) int {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return strings.Compare(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
	}
	switch d := math.Round(x*10) - math.Round(y*10); {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}
