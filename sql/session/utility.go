package session

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// describeUtility finds the parameters and result columns of a utility statement.
func (s *Session) describeUtility(p *prepared) error {
	p.params = p.given
	switch st := p.stmt.(type) {
	case *ast.Show:
		p.cols = showColumns(st)
	case *ast.Explain:
		return s.describeExplain(p, st)
	case *ast.Execute:
		target, err := s.sqlPrepared(st.Name)
		if err != nil {
			return err
		}
		p.cols = target.cols
	case *ast.Fetch:
		if !st.Move {
			po, err := s.cursorByName(st.Cursor)
			if err != nil {
				return err
			}
			p.cols = po.cols
		}
	}
	if p.cols != nil {
		p.desc = s.wireColumns(p.cols, nil)
	}
	return nil
}

// utility runs a statement that is neither a query nor transaction control. Rows go to the sink; when the sink is the
// wire, their description is sent first.
func (s *Session) utility(p *prepared, params []types.Datum, sink rowSink) (commandTag, error) {
	switch st := p.stmt.(type) {
	case *ast.SetVar:
		return s.setVar(st)
	case *ast.Show:
		return s.show(st, sink)
	case *ast.Discard:
		return s.discardState(st)
	case *ast.Prepare:
		return s.prepareSQL(st, p.text)
	case *ast.Execute:
		return s.executeSQL(st, p.text, params, sink)
	case *ast.Deallocate:
		return s.deallocate(st)
	case *ast.DeclareCursor:
		return s.declareCursor(st, p.text, params)
	case *ast.Fetch:
		return s.fetch(st, sink)
	case *ast.CloseCursor:
		return s.closeCursor(st)
	case *ast.Copy:
		return s.copy(st, p.text)
	case *ast.Explain:
		return s.explain(st, p.text, params, sink)
	case *ast.Vacuum:
		return s.vacuum(st)
	case *ast.Checkpoint:
		return s.checkpoint()
	case *ast.LockTable:
		return s.lockTable(st)
	case *ast.CreateDatabase, *ast.DropDatabase, *ast.AlterDatabase:
		return s.databaseCommand(st)
	case *ast.Reindex:
		return s.reindex(st)
	case *ast.Cluster:
		return s.cluster(st)
	case *ast.SetConstraints:
		return s.setConstraints(st)
	case *ast.Listen, *ast.Unlisten, *ast.Notify:
		return s.notifyCommand(st)
	case *ast.Do:
		language := "plpgsql"
		if l := st.Language; l != "" {
			language = l
		}
		return commandTag{}, sqlerr.Unsupported("DO in language \"%s\"", language)
	case *ast.Call:
		return commandTag{}, sqlerr.Unsupported("CALL")
	case *ast.AlterSystem:
		return commandTag{}, sqlerr.Unsupported("ALTER SYSTEM")
	case *ast.Load:
		return commandTag{}, sqlerr.Unsupported("LOAD")
	}
	return s.definition(p)
}

// startRows sends the description of a utility's rows when they go straight to the client.
func (s *Session) startRows(cols []plan.Column, sink rowSink) {
	if w, ok := sink.(*wireSink); ok && w.cols == nil {
		w.cols = cols
		s.describeColumns(cols, w.formats)
	}
}

func textColumn(name string) plan.Column {
	return plan.Column{Name: name, Typed: plan.Typed{Type: types.TextOID, Typmod: -1, Collation: types.DefaultCollationOID}}
}

// noBlock refuses a command inside a transaction block.
func (s *Session) noBlock(command string) error {
	if s.block || s.implicitBlock {
		return sqlerr.New(sqlerr.ActiveSqlTransaction, "%s cannot run inside a transaction block", command)
	}
	return nil
}
