package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// compiler returns a compiler for expressions of this state.
func (s *State) compiler() *compiler { return &compiler{st: s} }

// build makes the operator of a node, with a counter around it when asked for.
func (s *State) build(n plan.Node) (Operator, error) {
	op, err := s.buildNode(n)
	if err != nil || !s.counted {
		return op, err
	}
	id := n.Base().ID
	for len(s.stats) <= id {
		s.stats = append(s.stats, NodeStats{})
	}
	return &countedOp{op: op, st: s, id: id}, nil
}

func (s *State) buildNode(n plan.Node) (Operator, error) {
	switch n := n.(type) {
	case *plan.Result:
		return s.buildResult(n)
	case *plan.Values:
		return s.buildValues(n)
	case *plan.Scan:
		return s.buildScan(n)
	case *plan.IndexScan:
		return s.buildIndexScan(n)
	case *plan.VirtualScan:
		return s.buildVirtual(n)
	case *plan.FunctionScan:
		return s.buildFunctionScan(n)
	case *plan.CTEScan:
		return s.buildCTEScan(n)
	case *plan.WorkTableScan:
		return s.buildWorkTable(n)
	case *plan.RecursiveUnion:
		return s.buildRecursive(n)
	case *plan.Filter:
		return s.buildFilter(n)
	case *plan.Project:
		return s.buildProject(n)
	case *plan.ProjectSet:
		return s.buildProjectSet(n)
	case *plan.Materialize:
		return s.buildMaterialize(n)
	case *plan.Append:
		return s.buildAppend(n)
	}
	return s.buildMore(n)
}

func (s *State) buildMore(n plan.Node) (Operator, error) {
	switch n := n.(type) {
	case *plan.NestLoop:
		return s.buildNestLoop(n)
	case *plan.HashJoin:
		return s.buildHashJoin(n)
	case *plan.MergeJoin:
		return s.buildMergeJoin(n)
	case *plan.Sort:
		return s.buildSort(n)
	case *plan.Limit:
		return s.buildLimit(n)
	case *plan.Distinct:
		return s.buildDistinct(n)
	case *plan.Agg:
		return s.buildAgg(n)
	case *plan.WindowAgg:
		return s.buildWindow(n)
	case *plan.SetOperation:
		return s.buildSetOperation(n)
	case *plan.LockRows:
		return s.buildLockRows(n)
	case *plan.RecheckScan:
		return s.buildRecheckScan(n)
	case *plan.CurrentRow:
		return s.buildCurrentRow(n)
	case *plan.ModifyTable:
		return s.buildModify(n)
	}
	return nil, sqlerr.Internal("plan node %T reached the executor", n)
}

// kindsOf returns the physical classes of a node's output columns.
func kindsOf(n plan.Node) []types.Kind {
	cols := n.Base().Cols
	ks := make([]types.Kind, len(cols))
	for i := range cols {
		ks[i] = types.KindOf(cols[i].Type)
	}
	return ks
}
