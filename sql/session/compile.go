package session

import (
	"crypto/sha256"
	"strings"
	"unique"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/postgres"
	"herd/sql/scan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// planEnv is the environment of a plan: sessions with equal ones may share plans. The parameters are there as a digest, so that it
// is small however long their values are.
type planEnv struct {
	database uint32 // OID: a name may come back for another database
	role     types.OID
	super    bool // the role's names were not checked
	settings [sha256.Size]byte
}

// envKey is an interned planEnv, compared as one word. What nothing refers to any more is collected.
type envKey = unique.Handle[planEnv]

// planSettings are the parameters that change how text is read or planned.
var planSettings = [...]string{"DateStyle", "IntervalStyle", "TimeZone", "herd.dialect", "enable_seqscan", "enable_indexscan", "enable_indexonlyscan",
	"enable_sort", "enable_hashagg", "enable_hashjoin", "enable_nestloop", "enable_material", "from_collapse_limit", "join_collapse_limit",
	"work_mem", "herd.fast_paths", "standard_conforming_strings", "bytea_output", "extra_float_digits"}

// environment returns the session's interned plan environment.
func (s *Session) environment() envKey {
	if s.planKey != (envKey{}) {
		return s.planKey
	}
	var b strings.Builder
	for _, n := range planSettings {
		v, _ := s.set.get(n)
		b.WriteString(v)
		b.WriteByte(0)
	}
	path, _ := s.set.get("search_path") // last: it may contain anything
	b.WriteString(path)
	s.planKey = unique.Make(planEnv{database: s.db.OID(), role: s.user.OID, super: s.superuser, settings: sha256.Sum256([]byte(b.String()))})
	return s.planKey
}

// optimizerSettings are the planner's switches as the session has them.
func (s *Session) optimizerSettings() *planner.Settings {
	on := func(name string) bool { v, _ := s.set.get(name); return v != "off" }
	num := func(name string) int { v, _ := s.set.get(name); return atoi(v) }
	return &planner.Settings{SeqScan: on("enable_seqscan"), IndexScan: on("enable_indexscan"), IndexOnlyScan: on("enable_indexonlyscan"),
		Sort: on("enable_sort"), HashAgg: on("enable_hashagg"), HashJoin: on("enable_hashjoin"), NestLoop: on("enable_nestloop"),
		Material: on("enable_material"), FromCollapseLimit: num("from_collapse_limit"), JoinCollapseLimit: num("join_collapse_limit"),
		WorkMem: int64(num("work_mem")) << 10}
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// bindEnv is the environment of parse analysis for a text.
func (s *Session) bindEnv(text string) (*planner.BindEnv, error) {
	path, err := s.searchOIDs()
	if err != nil {
		return nil, err
	}
	return &planner.BindEnv{Text: text, Path: path, Database: s.db.OID(), DatabaseName: s.info.Database, Role: s.user.OID, IO: &s.io, ParseQuery: parseStored, ParseExpr: postgres.ParseExpr,
		EvalConst: s.evalConst, Settings: s.optimizerSettings(), Checked: !s.superuser}, nil
}

// parseStored reads the canonical SQL of a view, or the body of a SQL function.
func parseStored(sql string) (ast.Stmt, error) {
	if err := scan.CheckNesting(sql); err != nil {
		return nil, err
	}
	list, err := postgres.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, sqlerr.Unsupported("a SQL function whose body has %d statements", len(list))
	}
	return list[0].Stmt, nil
}

// evalConst computes a foldable expression at plan time.
func (s *Session) evalConst(e plan.Expr) (types.Datum, error) {
	var env exec.Env
	s.fillEnv(&env, storage.View{}, nil)
	return exec.Evaluate(&env, e)
}

// bindStatement runs parse analysis of p against the current catalog.
func (s *Session) bindStatement(p *prepared) error {
	seq, roles := s.db.CatalogVersion(), s.srv.engine.System().CatalogVersion() // before names are looked up, as in genericPlan
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	env, err := s.bindEnv(p.text)
	if err != nil {
		return err
	}
	env.NoParams = p.noParams
	q, info, err := bindAs(cat, env, p)
	if err != nil {
		return err
	}
	if p.cursor {
		q = planner.CursorQuery(q)
	}
	p.query, p.params = q, info.Types
	p.bound, p.boundRoles, p.boundKey = seq, roles, s.environment()
	p.cols = resultColumns(q)
	p.desc = nil
	if p.cols != nil {
		p.desc = s.wireColumns(p.cols, resultOrigins(q))
	}
	p.forget()
	return nil
}

// bindAs binds a statement of a client or of a function.
func bindAs(cat catalog.Reader, env *planner.BindEnv, p *prepared) (*plan.Query, *planner.ParamInfo, error) {
	if p.body == nil {
		return planner.Bind(cat, env, p.stmt, p.given)
	}
	return planner.BindBody(cat, env, p.stmt, p.body)
}

// resultColumns are the columns a bound query returns, nil when it returns no rows.
func resultColumns(q *plan.Query) []plan.Column { return q.Out }

func resultOrigins(q *plan.Query) []plan.Origin {
	list := q.Targets
	if q.Command != plan.CmdSelect {
		list = q.Returning
	}
	out := make([]plan.Origin, 0, len(list))
	for _, t := range list {
		if !t.Junk {
			out = append(out, plan.Origin{Rel: t.OrigRel, Col: t.OrigCol})
		}
	}
	return out
}

// planFor returns the plan for an execution of p with the given values, under the newest catalog.
func (s *Session) planFor(p *prepared, view storage.View, params []types.Datum) (*plan.Plan, error) {
	generic, err := s.genericPlan(p, view)
	if err != nil {
		return nil, err
	}
	if len(params) == 0 || !p.choice.Custom(s.planMode, generic) {
		p.generic++
		return generic, nil
	}
	custom, err := s.makePlan(p, params)
	if err != nil {
		return nil, err
	}
	p.choice.Made(custom, generic)
	p.custom++
	return custom, nil
}

// genericPlan returns the plan of p for all values: the one it has, or a new one when the catalog moved on or tables
// outgrew it. The version is read before names are looked up, so a change in between shows in the next comparison.
func (s *Session) genericPlan(p *prepared, view storage.View) (*plan.Plan, error) {
	seq, own := s.db.CatalogVersion(), s.tx.ChangedCatalog() || s.tx.Behind()
	if p.plan != nil && p.version == seq && !own && !p.own && p.key == s.environment() && !s.outgrown(p.plan, view) {
		s.srv.metrics.cacheHits.Add(1)
		return p.plan, nil
	}
	return s.replan(p, seq, own)
}

// outgrown says whether tables have become so much larger or smaller that a plan should be made again. The statement's view
// is asked, which costs next to nothing; a view that is old is overruled by the tip, from which the next plan would be made.
func (s *Session) outgrown(p *plan.Plan, view storage.View) bool {
	if p.Fast != nil || len(p.Sizes) == 0 || !grownIn(p, view) {
		return false
	}
	out := false
	err := s.db.ReadTip(func(v storage.View) error {
		out = grownIn(p, v)
		return nil
	})
	return err == nil && out
}

func grownIn(p *plan.Plan, v storage.View) bool {
	return planner.Outgrown(p, func(rel *catalog.Relation) int64 { return v.Count(rel.TreeID) })
}

// replan makes a plan, binding again first when the statement was bound under another catalog.
func (s *Session) replan(p *prepared, seq storage.Seq, own bool) (*plan.Plan, error) {
	if !own && s.adopt(p) {
		s.srv.metrics.cacheHits.Add(1)
		return p.plan, nil
	}
	s.srv.metrics.cacheMiss.Add(1)
	if p.plan != nil || p.used || !s.boundNow(p, seq, own) {
		cols, desc := p.cols, p.desc
		if err := s.bindStatement(p); err != nil {
			return nil, err
		}
		if p.described && !sameColumns(cols, p.cols) {
			p.cols, p.desc, p.query = cols, desc, nil // bound anew, and refused again, at the next execution
			e := sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
			e.Routine = "RevalidateCachedQuery"
			return nil, e
		}
	}
	pl, err := s.makePlan(p, nil)
	if err != nil {
		return nil, err
	}
	p.forget()
	p.plan, p.version, p.own, p.key, p.used = pl, seq, own, s.environment(), true
	p.choice = new(planner.Choice)
	s.share(p)
	return pl, nil
}

// boundNow says whether what parse analysis of p found is still so: definitions may change between Parse and the first Bind,
// the session's own ones without a new version.
func (s *Session) boundNow(p *prepared, seq storage.Seq, own bool) bool {
	return p.query != nil && p.bound == seq && p.boundKey == s.environment() && !(own && p.described)
}

// makePlan plans the bound statement, for the given values or, with nil, for all.
func (s *Session) makePlan(p *prepared, params []types.Datum) (*plan.Plan, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	env, err := s.bindEnv(p.text)
	if err != nil {
		return nil, err
	}
	o := planner.Options{Params: params, NoFast: !s.fastPaths}
	if s.tx.Behind() {
		snap := s.tx.View().Snap
		o.Readable = func(ix *catalog.Index) bool { return snap.TreeExists(ix.Tree) }
	}
	return planner.Plan(cat, env, p.query, &planner.ParamInfo{Types: p.params}, o)
}

func sameColumns(a, b []plan.Column) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i].Type != b[i].Type || a[i].Typmod != b[i].Typmod || a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}
