package session

import (
	"slices"

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
	roles := s.srv.engine.System().CatalogVersion() // before anything is checked
	cat, err := s.catalog()
	if err != nil {
		return nil
	}
	path, err := s.searchOIDs()
	if err != nil {
		return nil
	}
	seq, _ := cat.Version()
	c := s.srv.plans.Get(s.cacheKey(text, given), planner.Stamp{Catalog: seq, Shared: roles, Path: path}, cat, s.user.OID)
	if c == nil {
		return nil
	}
	x := c.Attached.(*sharedStatement)
	return &prepared{text: text, stmt: x.stmt, class: classQuery, given: given, params: c.Params, query: c.Query, cols: x.cols, desc: x.desc,
		plan: c.Plan, choice: c.Choice, version: seq, key: s.environment(), parsed: true, used: true, described: true}
}

// adopt has a statement that was parsed, and has no plan that is right, use what another session has left in the cache, and let its
// own tree go: the connections of a pool parse the same texts at the same time, and find them stale at the same time.
func (s *Session) adopt(p *prepared) bool {
	if !p.parsed || p.class != classQuery {
		return false
	}
	c := s.cachedStatement(p.text, p.given)
	if c == nil || !slices.Equal(c.params, p.params) || !sameColumns(c.cols, p.cols) {
		return false
	}
	if c.plan != p.plan {
		p.forget()
	} else if c.version == p.version && c.key == p.key { // tables have outgrown it
		return false
	}
	p.own = false
	p.stmt, p.query, p.cols, p.desc = c.stmt, c.query, c.cols, c.desc
	p.plan, p.choice, p.version, p.key, p.used = c.plan, c.choice, c.version, c.key, true
	return true
}

// share puts a fresh plan of a Parse'd statement into the plan cache.
func (s *Session) share(p *prepared) {
	if !p.parsed || p.own || p.class != classQuery || !s.cacheable() {
		return
	}
	path, err := s.searchOIDs()
	if err != nil { // the next one who needs it says so
		return
	}
	s.srv.plans.Put(s.cacheKey(p.text, p.given), &planner.Cached{Query: p.query, Params: p.params, Plan: p.plan, Choice: p.choice,
		Stamp:    planner.Stamp{Catalog: p.version, Shared: p.boundRoles, Path: path},
		Attached: &sharedStatement{stmt: p.stmt, cols: p.cols, desc: p.desc}})
	s.srv.accountPlans()
}
