package session

import (
	"strings"
	"time"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// describeExplain gives EXPLAIN its one column and binds the statement inside for its parameters.
func (s *Session) describeExplain(p *prepared, st *ast.Explain) error {
	col := textColumn("QUERY PLAN")
	if st.Format == ast.ExplainJSON {
		col.Type, col.Collation = types.JSONOID, 0
	}
	p.cols = []plan.Column{col}
	if classify(st.Query) != classQuery {
		return nil
	}
	inner := &prepared{text: p.text, stmt: st.Query, class: classQuery}
	if err := s.prepare(inner, p.given); err != nil {
		return err
	}
	p.params = inner.params
	return nil
}

// explain is EXPLAIN.
func (s *Session) explain(st *ast.Explain, text string, params []types.Datum, sink rowSink) (commandTag, error) {
	tag := commandTag{text: "EXPLAIN"}
	if st.Format == ast.ExplainXML || st.Format == ast.ExplainYAML {
		return tag, sqlerr.Unsupported("EXPLAIN in this format")
	}
	began := time.Now()
	po, err := s.explainPortal(st, text, params)
	if err != nil {
		return tag, err
	}
	defer s.closePortal(po)
	planning := time.Since(began)
	opts := planner.ExplainOptions{Analyze: st.Analyze, Verbose: st.Verbose, Costs: st.Costs, JSON: st.Format == ast.ExplainJSON,
		Timing: st.Timing == nil || *st.Timing, Summary: st.Analyze && (st.Summary == nil || *st.Summary) || st.Summary != nil && *st.Summary,
		Planning: planning}
	if st.Analyze {
		if err := s.explainRun(po, &opts); err != nil {
			return tag, err
		}
	}
	cat, err := s.catalog()
	if err != nil {
		return tag, err
	}
	out := planner.Explain(cat, po.plan, opts)
	col := textColumn("QUERY PLAN")
	if opts.JSON {
		col.Type, col.Collation = types.JSONOID, 0
	}
	s.startRows([]plan.Column{col}, sink)
	if opts.JSON {
		return tag, sink.writeRow([]types.Datum{types.Text(out)})
	}
	for _, line := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		if err := sink.writeRow([]types.Datum{types.Text(line)}); err != nil {
			return tag, err
		}
	}
	return tag, nil
}

// explainPortal plans the statement to be explained.
func (s *Session) explainPortal(st *ast.Explain, text string, params []types.Datum) (*portal, error) {
	switch q := st.Query.(type) {
	case *ast.Execute:
		return s.executePortal(q, text, params)
	case *ast.DeclareCursor:
		return s.planPortal(q.Query, text, params)
	case *ast.CreateTableAs, *ast.RefreshMatView:
		return nil, sqlerr.Unsupported("EXPLAIN of CREATE TABLE AS")
	}
	return s.planPortal(st.Query, text, params)
}

func (s *Session) planPortal(stmt ast.Stmt, text string, params []types.Datum) (*portal, error) {
	p := &prepared{text: text, stmt: stmt, class: classQuery, noParams: len(params) == 0}
	if err := s.prepare(p, nil); err != nil {
		return nil, err
	}
	return s.openPortal("", p, params, nil)
}

// explainRun executes the plan with counters.
func (s *Session) explainRun(po *portal, opts *planner.ExplainOptions) error {
	if err := po.ready(s); err != nil {
		return err
	}
	state, err := exec.BuildCounted(po.plan)
	if err != nil {
		return err
	}
	po.env.Analyze = true
	began := time.Now()
	defer state.Close()
	if err := state.Open(&po.env); err != nil {
		return err
	}
	for {
		b, err := state.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := decodeAll(b); err != nil {
			return err
		}
	}
	opts.Execution = time.Since(began)
	for _, n := range state.Stats() {
		opts.Nodes = append(opts.Nodes, planner.NodeCounts{Rows: n.Rows, Loops: n.Loops, Startup: n.Startup, Total: n.Total, Removed: n.Removed})
	}
	return nil
}

// decodeAll computes every column, as sending the rows would.
func decodeAll(b *vec.Batch) error {
	for i := range b.Cols {
		if _, err := b.Col(i); err != nil {
			return err
		}
	}
	return nil
}
