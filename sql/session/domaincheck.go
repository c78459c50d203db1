package session

import (
	"slices"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/types"
	"herd/storage"
)

// domainCheck is a domain's constraints, compiled, with what they were made from.
type domainCheck struct {
	eval    *exec.Evaluator // nil: the domain has none
	chain   []*catalog.Type // the domain, the domain below it ...
	version storage.Seq     // of the catalog
	path    []types.OID     // the search path, which decides how messages name the domain
	row     [1]types.Datum
}

// CheckDomain implements types.DomainChecker.
func (r *resolver) CheckDomain(domain types.OID, value types.Datum) error {
	s := (*Session)(r)
	k, err := s.domainCheck(domain)
	if err != nil || k.eval == nil {
		return err
	}
	delete(s.domains, domain) // a constraint may read a value of the same domain
	var env exec.Env
	s.fillEnv(&env, storage.View{}, nil)
	k.row[0] = value
	_, err = k.eval.Row(&env, k.row[:])
	k.row[0] = types.Datum{}
	s.domains[domain] = k
	return err
}

// domainCheck returns what checks a domain, from the session's last use of it unless a definition has changed since.
func (s *Session) domainCheck(domain types.OID) (*domainCheck, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	version := s.db.CatalogVersion()
	k := s.domains[domain]
	path, err := s.searchOIDs()
	if err != nil {
		return nil, err
	}
	if k != nil && (k.version != version || !slices.Equal(k.path, path)) {
		k = nil
	}
	var chain []*catalog.Type
	for id := domain; ; {
		t, err := cat.TypeByOID(id)
		if err != nil {
			return nil, err
		}
		if t == nil || t.Type != 'd' {
			break
		}
		if n := len(chain); k != nil && (n >= len(k.chain) || k.chain[n] != t) {
			k = nil
		}
		chain, id = append(chain, t), t.BaseType
	}
	if k != nil && len(k.chain) == len(chain) {
		return k, nil
	}
	k = &domainCheck{chain: chain, version: version, path: slices.Clone(path)}
	if constrained(chain) {
		env, err := s.bindEnv("")
		if err != nil {
			return nil, err
		}
		e, err := planner.DomainValue(cat, env, domain)
		if err != nil {
			return nil, err
		}
		if k.eval, err = exec.NewEvaluator([]plan.Expr{e}); err != nil {
			return nil, err
		}
	}
	if s.domains == nil || len(s.domains) >= maxDomainChecks {
		s.domains = map[types.OID]*domainCheck{}
	}
	s.domains[domain] = k
	return k, nil
}

// maxDomainChecks bounds what a session keeps.
const maxDomainChecks = 256

func constrained(chain []*catalog.Type) bool {
	for _, t := range chain {
		if t.NotNull || len(t.Checks) > 0 {
			return true
		}
	}
	return false
}
