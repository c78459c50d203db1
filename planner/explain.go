package planner

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"herd/planner/plan"
	"herd/sql/catalog"
)

// NodeCounts are what one node did in an execution, all loops together.
type NodeCounts struct {
	Rows, Loops, Removed int64
	Startup, Total       time.Duration
}

// ExplainOptions are EXPLAIN's options and, with Analyze, what was measured.
type ExplainOptions struct {
	Analyze, Verbose, Costs, JSON, Timing, Summary bool
	Planning, Execution                            time.Duration
	Nodes                                          []NodeCounts // by NodeBase.ID
}

// xnode is a node as EXPLAIN shows it.
type xnode struct {
	label    string // "Seq Scan on t"
	kind     string // "Seq Scan"
	relation string
	alias    string
	index    string
	join     string
	base     *plan.NodeBase
	props    []xprop
	children []xchild
}

type xprop struct {
	key string
	val []string
}

type xchild struct {
	rel string // "", "InitPlan 1 (returns $0)", "SubPlan 1", "CTE x"
	n   *xnode
}

// explainer walks a plan.
type explainer struct {
	b        *binder
	p        *plan.Plan
	o        ExplainOptions
	params   map[int]string
	subs     int
	many     bool // several relations: columns are qualified
	numbered map[*plan.SubPlan]int
	depth    int
}

// Explain renders a plan as EXPLAIN shows it: text, or JSON with o.JSON.
func Explain(cat catalog.Reader, p *plan.Plan, o ExplainOptions) string {
	x := &explainer{b: &binder{cat: cat, env: &BindEnv{IO: explainIO()}, stored: true}, p: p, o: o, params: map[int]string{}}
	n := 0
	countRelations(p.Root, &n, 0)
	for _, c := range p.CTEs {
		countRelations(c.Plan, &n, 0)
	}
	x.many = n > 1
	var inits []xchild
	for i := range p.InitPlans {
		ip := &p.InitPlans[i]
		names := make([]string, len(ip.Params))
		for k, id := range ip.Params {
			names[k] = "$" + strconv.Itoa(id)
			x.params[id] = names[k]
		}
		c, _ := x.node(ip.Plan, nil)
		inits = append(inits, xchild{fmt.Sprintf("InitPlan %d (returns %s)", i+1, strings.Join(names, ",")), c})
	}
	x.subs = len(p.InitPlans)
	for _, c := range p.CTEs {
		n, _ := x.node(c.Plan, nil)
		inits = append(inits, xchild{"CTE " + c.Name, n})
	}
	root, _ := x.node(p.Root, nil)
	root.children = append(inits, root.children...)
	if o.JSON {
		return x.json(root)
	}
	var s strings.Builder
	x.text(&s, root, 0, true)
	if o.Summary {
		fmt.Fprintf(&s, "Planning Time: %.3f ms\n", ms(o.Planning))
		if o.Analyze {
			fmt.Fprintf(&s, "Execution Time: %.3f ms\n", ms(o.Execution))
		}
	}
	return s.String()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func countRelations(n plan.Node, c *int, depth int) {
	if n == nil || depth > maxWalkDepth {
		return
	}
	switch x := n.(type) {
	case *plan.Scan, *plan.IndexScan, *plan.VirtualScan, *plan.FunctionScan, *plan.CTEScan, *plan.Values, *plan.WorkTableScan:
		*c++
	case *plan.ModifyTable:
		countRelations(x.Input, c, depth+1)
		return
	}
	for _, k := range n.Children() {
		countRelations(k, c, depth+1)
	}
	nodeExprs(n, func(e plan.Expr) {
		find(e, func(y plan.Expr) bool {
			if s, ok := y.(*plan.SubPlan); ok {
				countRelations(s.Plan, c, depth+1)
			}
			return false
		})
	})
}

// numbers is the bracket with costs and counters.
func (x *explainer) numbers(b *plan.NodeBase) string {
	var s string
	if x.o.Costs {
		s = fmt.Sprintf("  (cost=%.2f..%.2f rows=%.0f width=%d)", b.Startup, b.Total, b.Rows, b.Width)
	}
	if !x.o.Analyze {
		return s
	}
	if b.ID >= len(x.o.Nodes) || x.o.Nodes[b.ID].Loops == 0 {
		return s + " (never executed)"
	}
	c := &x.o.Nodes[b.ID]
	rows := float64(c.Rows) / float64(c.Loops)
	if !x.o.Timing {
		return s + fmt.Sprintf(" (actual rows=%.0f loops=%d)", rows, c.Loops)
	}
	per := float64(c.Loops)
	return s + fmt.Sprintf(" (actual time=%.3f..%.3f rows=%.0f loops=%d)", ms(c.Startup)/per, ms(c.Total)/per, rows, c.Loops)
}

func (x *explainer) text(s *strings.Builder, n *xnode, indent int, first bool) {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxWalkDepth {
		return
	}
	pad := strings.Repeat(" ", indent)
	s.WriteString(pad)
	inner := indent + 2
	if !first {
		s.WriteString("->  ")
		inner = indent + 6
	}
	s.WriteString(n.label)
	s.WriteString(x.numbers(n.base))
	s.WriteByte('\n')
	ip := strings.Repeat(" ", inner)
	for _, p := range n.props {
		s.WriteString(ip + p.key + ": " + strings.Join(p.val, ", ") + "\n")
	}
	for _, c := range n.children {
		if c.rel != "" {
			s.WriteString(ip + c.rel + "\n")
			x.text(s, c.n, inner+2, false)
			continue
		}
		x.text(s, c.n, inner, false)
	}
}

// json renders the plan as EXPLAIN (FORMAT JSON).
func (x *explainer) json(n *xnode) string {
	var s strings.Builder
	s.WriteString("[\n  {\n    \"Plan\": ")
	x.jsonNode(&s, n, "", 4)
	if x.o.Summary {
		fmt.Fprintf(&s, ",\n    \"Planning Time\": %.3f", ms(x.o.Planning))
		if x.o.Analyze {
			fmt.Fprintf(&s, ",\n    \"Execution Time\": %.3f", ms(x.o.Execution))
		}
	}
	s.WriteString("\n  }\n]")
	return s.String()
}

func (x *explainer) jsonNode(s *strings.Builder, n *xnode, rel string, indent int) {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxWalkDepth {
		return
	}
	pad := strings.Repeat(" ", indent+2)
	s.WriteString("{\n")
	sep := ""
	put := func(key, val string) {
		s.WriteString(sep + pad + strconv.Quote(key) + ": " + val)
		sep = ",\n"
	}
	put("Node Type", strconv.Quote(n.kind))
	if rel != "" {
		put("Parent Relationship", strconv.Quote(rel))
	}
	put("Parallel Aware", "false")
	put("Async Capable", "false")
	for _, kv := range [][2]string{{"Join Type", n.join}, {"Index Name", n.index}, {"Relation Name", n.relation}, {"Alias", n.alias}} {
		if kv[1] != "" {
			put(kv[0], strconv.Quote(kv[1]))
		}
	}
	if x.o.Costs {
		put("Startup Cost", fmt.Sprintf("%.2f", n.base.Startup))
		put("Total Cost", fmt.Sprintf("%.2f", n.base.Total))
		put("Plan Rows", fmt.Sprintf("%.0f", n.base.Rows))
		put("Plan Width", strconv.Itoa(n.base.Width))
	}
	if x.o.Analyze && n.base.ID < len(x.o.Nodes) {
		c := &x.o.Nodes[n.base.ID]
		per := max(float64(c.Loops), 1)
		if x.o.Timing {
			put("Actual Startup Time", fmt.Sprintf("%.3f", ms(c.Startup)/per))
			put("Actual Total Time", fmt.Sprintf("%.3f", ms(c.Total)/per))
		}
		put("Actual Rows", fmt.Sprintf("%.0f", float64(c.Rows)/per))
		put("Actual Loops", strconv.FormatInt(c.Loops, 10))
	}
	for _, p := range n.props {
		switch {
		case p.key == "Rows Removed by Filter":
			put(p.key, p.val[0])
		case strings.HasSuffix(p.key, "Key") || p.key == "Output":
			q := make([]string, len(p.val))
			for i, v := range p.val {
				q[i] = strconv.Quote(v)
			}
			put(p.key, "["+strings.Join(q, ", ")+"]")
		default:
			put(p.key, strconv.Quote(strings.Join(p.val, ", ")))
		}
	}
	if len(n.children) > 0 {
		s.WriteString(sep + pad + "\"Plans\": [\n" + pad + "  ")
		for i, c := range n.children {
			if i > 0 {
				s.WriteString(",\n" + pad + "  ")
			}
			x.jsonNode(s, c.n, childRelation(c.rel, i, n), indent+4)
		}
		s.WriteString("\n" + pad + "]")
	}
	s.WriteString("\n" + strings.Repeat(" ", indent) + "}")
}

func childRelation(rel string, i int, n *xnode) string {
	switch {
	case strings.HasPrefix(rel, "InitPlan"), strings.HasPrefix(rel, "CTE"):
		return "InitPlan"
	case rel != "":
		return "SubPlan"
	case n.kind == "Append":
		return "Member"
	case n.join != "" && i > 0:
		return "Inner"
	}
	return "Outer"
}
