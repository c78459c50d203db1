package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// form is a way to make a value of a type: text with one %s for each argument.
type form struct {
	text string
	args []string
}

// routines are the forms of expressions by the type of their result.
type routines struct {
	tame, wild map[string][]form
	aggregates map[string][]form // of PostgreSQL's list, over rows that do not make them fail
}

// stableNames are functions that are not immutable and yet give the same answer in equal sessions.
var stableNames = list("to_char to_date to_timestamp concat concat_ws format date_trunc date_part age array_to_string timezone to_json to_jsonb make_timestamptz quote_literal quote_nullable date_bin")

// left out: what shows a server's inner life, takes long for large arguments, or is known by text of the locale.
var leftOut = regexp.MustCompile(`^(pg_|has_|txid|current|set_|nextval|setval|lastval|.*_(send|recv|in|out|sel|joinsel|support|sortsupport|transfn|accum|combine|serialize|deserialize|final|finalfn|typmodin|typmodout|larger|smaller)$` +
	`|(int2|int4|int8|float4|float8|numeric|text|bool|date|time|timetz|timestamp|timestamptz|interval|uuid|jsonb|json|bytea|varchar|bpchar|bit|varbit|name|array|enum|char|oid|hash|gin|gist|brin|spg|bt)[a-z0-9_]*_(in|out|cmp|hash|extended|accum|inv|avg|sum|stddev|var).*` +
	`|extract|hash.*|.*cmp|bt.*cmp|bt.*|.*hash(_extended)?|repeat|lpad|rpad|power|pow|numeric_power|numeric_exp|numeric_fac|factorial|.*recv|.*send|.*typmod.*|in_range|gen_random_uuid|random|lo_.*|binary_upgrade.*|xml.*|ts_.*|to_ts.*|int.*_avg_.*|.*_support|timeout.*|convert.*|interval_support|.*_combine|int4inc|int8inc.*|int8dec.*|fmgr.*|.*sel|varbitcmp|bitcmp|getdatabaseencoding|unknown.*|suppress.*|normalize|is_normalized|unistr|.*_to_.*cidr|currtid.*|trigger.*|bool_alltrue|bool_anytrue|boolor_statefunc|booland_statefunc|scale_.*)$`)

// operatorsOut: "^" overflows or takes long, "~" of regular expressions on random patterns is tested elsewhere.
var operatorsOut = list("^ ~ !~ ~* !~* ~~ !~~ ~~* !~~* @@ @@@ @?")

const (
	known          = `SELECT oid, typname FROM pg_type WHERE typname = ANY($1) AND typnamespace = 'pg_catalog'::regnamespace`
	listOperators  = `SELECT o.oprname, o.oprleft::int8, o.oprright::int8, o.oprresult::int8 FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile = 'i' AND oprnamespace = 'pg_catalog'::regnamespace ORDER BY o.oid`
	listFunctions  = `SELECT p.proname, p.proargtypes::oid[]::int8[], p.prorettype::int8, p.prokind::text, p.provariadic <> 0 FROM pg_proc p WHERE p.prokind IN ('f', 'a') AND (p.provolatile = 'i' OR p.proname = ANY($1)) AND NOT p.proretset AND p.pronamespace = 'pg_catalog'::regnamespace ORDER BY p.oid`
	maxRoutineArgs = 5
)

// load reads PostgreSQL's functions and operators over the types of the generator.
func load(ctx context.Context, url string) (*routines, error) {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	names, err := typeNames(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &routines{tame: parseForms(tameForms), wild: parseForms(wildForms), aggregates: map[string][]form{}}
	rows, _ := c.Query(ctx, listOperators) // Query's error is that of CollectRows
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (any, error) {
		var op string
		var left, right, result int64
		if err := row.Scan(&op, &left, &right, &result); err != nil {
			return nil, err
		}
		l, r1, res := names[left], names[right], names[result]
		if r1 == "" || res == "" || (left != 0 && l == "") || slices.Contains(operatorsOut, op) {
			return nil, nil
		}
		f := form{text: "(%s " + strings.ReplaceAll(op, "%", "%%") + " %s)", args: []string{l, r1}}
		if left == 0 {
			f = form{text: "(" + op + " %s)", args: []string{r1}}
		}
		r.wild[res] = append(r.wild[res], f)
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read operators: %w", err)
	}
	rows, _ = c.Query(ctx, listFunctions, stableNames)
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (any, error) { return nil, r.function(row, names) })
	if err != nil {
		return nil, fmt.Errorf("read functions: %w", err)
	}
	return r, nil
}

// function takes up one function or aggregate, if all its types are ours.
func (r *routines) function(row pgx.CollectableRow, names map[int64]string) error {
	var name, kind string
	var args []int64
	var result int64
	var variadic bool
	if err := row.Scan(&name, &args, &result, &kind, &variadic); err != nil {
		return err
	}
	res := names[result]
	if res == "" || leftOut.MatchString(name) || len(args) > maxRoutineArgs || variadic {
		return nil
	}
	f := form{text: name + "("}
	for i, a := range args {
		if names[a] == "" {
			return nil
		}
		f.args = append(f.args, names[a])
		f.text += []string{"%s", ", %s"}[min(i, 1)]
	}
	f.text += ")"
	if kind == "f" && len(args) > 0 {
		r.wild[res] = append(r.wild[res], f)
	}
	if kind == "a" && len(args) == 1 && !slices.Contains(arrayBuilders, name) {
		r.aggregates[res] = append(r.aggregates[res], f)
	}
	return nil
}

// arrayBuilders are the aggregates whose result depends on the order of rows.
var arrayBuilders = list("array_agg string_agg json_agg jsonb_agg json_object_agg jsonb_object_agg xmlagg")

func typeNames(ctx context.Context, c *pgx.Conn) (map[int64]string, error) {
	var all []string
	for name := range values {
		all = append(all, name)
	}
	rows, _ := c.Query(ctx, known, all)
	names := map[int64]string{}
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (any, error) {
		var oid uint32
		var name string
		err := row.Scan(&oid, &name)
		names[int64(oid)] = name
		return nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("read types: %w", err)
	}
	return names, nil
}

// parseForms reads lines "result: text: arg arg".
func parseForms(text string) map[string][]form {
	out := map[string][]form{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.Split(line, " :: ")
		if len(parts) == 2 {
			parts = append(parts, "")
		}
		if len(parts) != 3 || strings.Count(strings.ReplaceAll(parts[1], "%%", ""), "%s") != len(strings.Fields(parts[2])) {
			panic("differential: bad form " + line)
		}
		for _, result := range strings.Fields(parts[0]) {
			out[result] = append(out[result], form{text: parts[1], args: strings.Fields(parts[2])})
		}
	}
	return out
}
