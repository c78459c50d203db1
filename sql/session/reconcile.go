package session

import (
	"fmt"

	"herd/engine"
	"herd/sql/catalog"
)

// Reconciled says what Reconcile changed.
type Reconciled struct {
	Dropped []string // stores of databases that are in no list
	Unknown []string // databases of the list without a store, which it does not have any more
	Made    []string // of these, those that every server has, made anew and empty
	Renamed []string // stores that have the name of the list now
}

// Reconcile makes the list of databases and the stores that there are agree: after a restore of some databases, or to a moment
// before or after one was made, dropped or renamed. The list decides, and stores are known by their numbers.
func (srv *Server) Reconcile() (r Reconciled, err error) {
	rows, err := srv.systemReader().Databases()
	if err != nil {
		return r, err
	}
	listed := map[uint32]*catalog.Database{}
	for i := range rows {
		listed[uint32(rows[i].OID)] = rows[i]
	}
	stores := map[uint32]engine.DatabaseInfo{}
	for _, d := range srv.engine.Databases() {
		if listed[d.OID] != nil {
			stores[d.OID] = d
			continue
		}
		if err := srv.engine.DropDatabase(d.Name); err != nil {
			return r, err
		}
		r.Dropped = append(r.Dropped, d.Name)
	}
	if err := srv.renameStores(listed, stores, &r); err != nil {
		return r, err
	}
	for _, row := range rows {
		if _, ok := stores[uint32(row.OID)]; ok {
			continue
		}
		if row.Name == "template0" { // which no server has a store of
			continue
		}
		if row.Name == "template1" || row.Name == "postgres" {
			if err := srv.engine.CreateDatabase(row.Name, uint32(row.OID)); err != nil {
				return r, err
			}
			if err := srv.bootstrapDatabase(row.Name); err != nil {
				return r, err
			}
			if err := srv.engine.SettleDatabase(row.Name); err != nil {
				return r, err
			}
			r.Made = append(r.Made, row.Name)
			continue
		}
		if err := srv.systemTx(func(w *catalog.Writer) error { return w.DropDatabase(row) }); err != nil {
			return r, err
		}
		r.Unknown = append(r.Unknown, row.Name)
	}
	return r, nil
}

// renameStores gives stores the names of the list: through names that no database has, since two may have changed places.
func (srv *Server) renameStores(listed map[uint32]*catalog.Database, stores map[uint32]engine.DatabaseInfo, r *Reconciled) error {
	interim := map[uint32]string{}
	for oid, d := range stores {
		if d.Name != listed[oid].Name {
			interim[oid] = fmt.Sprintf("%s of number %d", d.Name, oid)
			if err := srv.engine.RenameDatabase(d.Name, interim[oid]); err != nil {
				return err
			}
		}
	}
	for oid, name := range interim {
		to := listed[oid].Name
		if err := srv.engine.RenameDatabase(name, to); err != nil {
			return err
		}
		r.Renamed = append(r.Renamed, to)
	}
	return nil
}
