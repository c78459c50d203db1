package planner

import (
	"reflect"
	"sync"
	"sync/atomic"

	"herd/planner/plan"
)

// CacheMode is plan_cache_mode.
type CacheMode uint8

// Values of plan_cache_mode.
const (
	CacheAuto         CacheMode = iota // by PostgreSQL's policy
	CacheForceGeneric                  // one plan for all values
	CacheForceCustom                   // a plan for each execution's values
)

// customPlans is how many plans for particular values are made before the generic plan is considered.
const customPlans = 5

// costPlanning is what planning costs for each relation and once more, in the units of costTuple.
const costPlanning = 1000 * costOperator

// Choice decides whether the next execution of a statement runs its generic plan or one made for its parameter values:
// PostgreSQL's policy, except that a generic plan which does the same work as every custom plan so far is taken
// whatever the two are estimated at, since planning again would gain nothing. It belongs to one generic plan. Safe for all.
type Choice struct {
	settled atomic.Bool // the generic plan was found to be no worse

	mu     sync.Mutex
	made   int     // guarded by mu
	cost   float64 // guarded by mu; of all custom plans, their planning included
	differ bool    // guarded by mu; some custom plan does other work than the generic one
}

// Custom says whether to make a plan for the values of the next execution. Only called for statements with parameters.
func (c *Choice) Custom(mode CacheMode, generic *plan.Plan) bool {
	switch {
	case mode == CacheForceCustom:
		return true
	case mode == CacheForceGeneric, generic.Fast != nil, c.settled.Load():
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made < customPlans {
		return true
	}
	if !c.differ || generic.Root.Base().Total < c.cost/float64(c.made) {
		c.settled.Store(true)
		return false
	}
	return true
}

// Made records a custom plan.
func (c *Choice) Made(custom, generic *plan.Plan) {
	same := sameWork(custom, generic)
	c.mu.Lock()
	c.made++
	c.cost += custom.Root.Base().Total + costPlanning*float64(len(custom.Tables)+1)
	c.differ = c.differ || !same
	c.mu.Unlock()
}

// sameWork says whether two plans of a query take the same steps, whatever values they compare with.
func sameWork(a, b *plan.Plan) bool {
	if len(a.InitPlans) != len(b.InitPlans) || len(a.CTEs) != len(b.CTEs) || !sameNode(a.Root, b.Root, 0) {
		return false
	}
	for i := range a.InitPlans {
		if !sameNode(a.InitPlans[i].Plan, b.InitPlans[i].Plan, 0) {
			return false
		}
	}
	for i := range a.CTEs {
		if !sameNode(a.CTEs[i].Plan, b.CTEs[i].Plan, 0) {
			return false
		}
	}
	return true
}

func sameNode(a, b plan.Node, depth int) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) || depth > maxWalkDepth {
		return false
	}
	switch x := a.(type) {
	case *plan.Scan:
		y := b.(*plan.Scan)
		if x.Rel != y.Rel || x.Reverse != y.Reverse || !sameRanges(x.Ranges, y.Ranges) {
			return false
		}
	case *plan.IndexScan:
		y := b.(*plan.IndexScan)
		if x.Rel != y.Rel || x.Index != y.Index || x.IndexOnly != y.IndexOnly || x.Reverse != y.Reverse || !sameRanges(x.Ranges, y.Ranges) {
			return false
		}
	case *plan.VirtualScan:
		y := b.(*plan.VirtualScan)
		if x.Rel != y.Rel || x.Path != y.Path {
			return false
		}
	}
	if operations(a) != operations(b) {
		return false
	}
	l, r := a.Children(), b.Children()
	if len(l) != len(r) {
		return false
	}
	for i := range l {
		if !sameNode(l[i], r[i], depth+1) {
			return false
		}
	}
	return true
}

func sameRanges(a, b []plan.KeyRange) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if len(x.Eq) != len(y.Eq) || x.In != y.In || (x.Lo == nil) != (y.Lo == nil) || (x.Hi == nil) != (y.Hi == nil) {
			return false
		}
	}
	return true
}

// operations counts what a node computes: folding the values of parameters may have removed some of it.
func operations(n plan.Node) int {
	ops := 0
	nodeExprs(n, func(e plan.Expr) {
		find(e, func(x plan.Expr) bool {
			switch x.(type) {
			case *plan.Const, *plan.Param, *plan.Slot, *plan.ExecParam:
			default:
				ops++
			}
			return false
		})
	})
	return ops
}
