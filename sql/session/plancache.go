package session

import (
	"herd/pgwire/wire"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/types"
)

// sharedStatement is what the process's plan cache keeps beside query and plan: read-only, like them.
type sharedStatement struct {
	stmt ast.Stmt
	cols []plan.Column
	desc []wire.Column
}

// cacheable says whether the session may share plans now: not over its own uncommitted definitions or temporary objects.
func (s *Session) cacheable() bool { return s.tempSchema == 0 && !s.aborted && !s.tx.ChangedCatalog() }

func (s *Session) cacheKey(text string, given []types.OID) planner.CacheKey {
	return planner.CacheKey{Text: text, Params: planner.ParamKey(given), Env: s.environment()}
}

// cachedStatement makes a prepared statement from what another session's Parse of the same text left in the plan cache; nil
// when there is nothing that is right under the current catalog.
func (s *Session) cachedStatement(text string, given []types.OID) *prepared {
	if s.aborted {
		return nil
	}
	s.ensureTx()
	if !s.cacheable() {
		return nil
	}
	cat, err := s.catalog()
	if err != nil {
		return nil
	}
	path, err := s.searchOIDs()
	if err != nil {
		return nil
	}
	seq, _ := cat.Version()
	c := s.srv.plans.Get(s.cacheKey(text, given), seq, cat, path)
	if c == nil {
		return nil
	}
	x := c.Attached.(*sharedStatement)
	return &prepared{text: text, stmt: x.stmt, class: classQuery, given: given, params: c.Params, query: c.Query, cols: x.cols, desc: x.desc,
		plan: c.Plan, choice: c.Choice, version: seq, key: s.environment(), used: true, described: true}
}

// share puts a fresh plan of a Parse'd statement into the plan cache.
func (s *Session) share(p *prepared) {
	if !p.parsed || p.own || p.class != classQuery || !s.cacheable() {
		return
	}
	s.srv.plans.Put(s.cacheKey(p.text, p.given), &planner.Cached{Query: p.query, Params: p.params, Plan: p.plan, Choice: p.choice, Version: p.version,
		Attached: &sharedStatement{stmt: p.stmt, cols: p.cols, desc: p.desc}})
	s.srv.accountPlans()
}
