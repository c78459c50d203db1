package session

import (
	"slices"
	"time"

	"herd/sql/sqlerr"
)

// A node of a cluster backs up what it has, whether it leads the databases or not: each as of a moment after the backup began, or as old as
// herd.max_staleness allows a session whose reads are stale. Roles are in every replica that has the rows that refer to them: a change of roles
// is answered when all nodes have it.

// upToDate makes sure that this node has the databases that are to be backed up, none: all of the list, and everything that was committed.
func (s *Session) upToDate(names []string) error {
	rows, err := s.srv.systemReader().Databases()
	if err != nil {
		return err
	}
	needed := map[string]uint32{"": systemCatalogs}
	for _, r := range rows {
		if r.Name == "template0" || len(names) > 0 && !slices.Contains(names, r.Name) {
			continue
		}
		if _, here := s.srv.localDatabase(uint32(r.OID)); !here {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "this node has no replica of database \"%s\"", r.Name).
				WithHint("Name the databases to back up, and connect to a node that has them (see herd_replicas).")
		}
		needed[r.Name] = uint32(r.OID)
	}
	most := time.Duration(0)
	if s.stale {
		most = s.maxStaleness
	}
	for name, oid := range needed {
		if most < 0 { // any
			return nil
		}
		if err := s.freshWithin(oid, name, most); err != nil {
			return err
		}
	}
	return nil
}
