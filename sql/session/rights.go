package session

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// checkRights makes sure that the current user may do what a plan does.
func (s *Session) checkRights(p *plan.Plan) error {
	if s.superuser {
		return nil
	}
	if len(p.Rights) == 0 && len(p.Calls) == 0 {
		return nil
	}
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	if err := s.checkCalls(cat, p); err != nil {
		return err
	}
	for _, r := range p.Rights {
		role := r.Role
		if role == 0 {
			role = s.user.OID
		}
		rel, err := cat.RelationByOID(r.Rel)
		if err != nil {
			return err
		}
		if rel == nil || rel.Owner == role && rel.ACL == nil {
			continue
		}
		ok, err := hasRights(cat, rel, role, catalog.Privileges(r.Need))
		if err == nil && !ok && r.ByColumn {
			ok, err = columnRights(cat, rel, role, &r)
		}
		if err != nil {
			return err
		}
		if !ok {
			return errDenied(rel)
		}
	}
	return nil
}

// checkCalls makes sure that the current user may execute the functions that a plan calls.
func (s *Session) checkCalls(cat catalog.Reader, p *plan.Plan) error {
	if len(p.Calls) == 0 {
		return nil
	}
	set, err := catalog.MembersOf(cat, s.user.OID)
	if err != nil {
		return err
	}
	for _, id := range p.Calls {
		f, err := cat.FuncByOID(id)
		if err != nil {
			return err
		}
		if f == nil || set[f.Owner] {
			continue
		}
		have, _ := catalog.Granted(catalog.EffectiveACL(catalog.SplitACL(f.ACL), 'f', f.Owner), f.Owner, set)
		if have&catalog.PrivExecute == 0 {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for function %s", f.Name)
		}
	}
	return nil
}

// mayAny makes sure that the user has one of some privileges on a relation.
func (s *Session) mayAny(rel *catalog.Relation, need ...catalog.Privileges) error {
	if s.superuser {
		return nil
	}
	cat, err := s.catalog()
	if err != nil {
		return err
	}
	for _, p := range need {
		if ok, err := hasRights(cat, rel, s.user.OID, p); ok || err != nil {
			return err
		}
	}
	return errDenied(rel)
}

func errDenied(rel *catalog.Relation) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", relationWord(rel), rel.Name)
}

func relationWord(rel *catalog.Relation) string {
	switch rel.Kind {
	case catalog.KindView:
		return "view"
	case catalog.KindMatView:
		return "materialized view"
	case catalog.KindSequence:
		return "sequence"
	}
	return "table"
}

// roleExists is the check of SET ROLE and SET SESSION AUTHORIZATION.
func (s *Session) roleExists(name string) error {
	r, err := s.srv.roleByName(name)
	if err != nil {
		return err
	}
	if r == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	return nil
}

// isMember says whether the session's user may become a role.
func (s *Session) isMember(name string) (bool, error) {
	if s.authSuper {
		return true, nil
	}
	sys := s.srv.systemReader()
	target, err := sys.RoleByName(name)
	if err != nil || target == nil {
		return false, err
	}
	self, err := sys.RoleByName(s.authUser)
	if err != nil || self == nil {
		return false, err
	}
	members, err := catalog.MembersOf(sys, self.OID)
	return self.OID == target.OID || members[types.OID(target.OID)], err
}

// hasRights says whether a role has all the privileges on a relation, itself, through its memberships or as PUBLIC.
func hasRights(cat catalog.Reader, rel *catalog.Relation, role types.OID, need catalog.Privileges) (bool, error) {
	set, err := catalog.MembersOf(cat, role)
	if err != nil {
		return false, err
	}
	if set[rel.Owner] && rel.ACL == nil { // an owner can revoke rights of its own
		return true, nil
	}
	kind := byte('r')
	if rel.Kind == catalog.KindSequence {
		kind = 'S'
	}
	have, _ := catalog.Granted(catalog.EffectiveACL(rel.ACL, kind, rel.Owner), rel.Owner, set)
	return have&need == need, nil
}

// columnRights says whether a role may do by rights on columns what it may not by those on the relation.
func columnRights(cat catalog.Reader, rel *catalog.Relation, role types.OID, r *plan.Right) (bool, error) {
	for _, x := range []struct {
		need catalog.Privileges
		cols []int16
	}{{catalog.PrivSelect, r.Read}, {catalog.PrivInsert, r.Inserted}, {catalog.PrivUpdate, r.Updated}} {
		if catalog.Privileges(r.Need)&x.need == 0 {
			continue
		}
		if ok, err := hasRights(cat, rel, role, x.need); err != nil {
			return false, err
		} else if ok {
			continue
		}
		if ok, err := columnsGranted(cat, rel, role, x.need, x.cols); !ok || err != nil {
			return false, err
		}
	}
	byColumn := catalog.PrivSelect | catalog.PrivInsert | catalog.PrivUpdate
	return hasRights(cat, rel, role, catalog.Privileges(r.Need)&^byColumn)
}

// columnsGranted says whether a role has a right on all the columns: on any one if none is named, on every one for the whole row (0).
func columnsGranted(cat catalog.Reader, rel *catalog.Relation, role types.OID, need catalog.Privileges, cols []int16) (bool, error) {
	set, err := catalog.MembersOf(cat, role)
	if err != nil {
		return false, err
	}
	granted := func(c *catalog.Column) bool {
		have, _ := catalog.Granted(catalog.ParseACL(c.ACL), rel.Owner, set)
		return have&need == need
	}
	whole := slices.Contains(cols, 0)
	for i := range rel.Columns {
		c := &rel.Columns[i]
		named := slices.Contains(cols, int16(i+1))
		switch {
		case c.Dropped:
		case len(cols) == 0 && granted(c):
			return true, nil
		case (whole || named) && !granted(c):
			return false, nil
		}
	}
	// System columns have no rights of their own.
	return len(cols) > 0 && !slices.ContainsFunc(cols, func(n int16) bool { return n < 0 }), nil
}
