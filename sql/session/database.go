package session

import (
	"errors"
	"slices"
	"strings"
	"time"

	"herd/engine"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// databaseCommand runs CREATE, ALTER and DROP DATABASE: outside transaction blocks, against the system database.
func (s *Session) databaseCommand(st ast.Stmt) (commandTag, error) {
	if s.replica {
		return commandTag{}, sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot change databases on a node that does not lead")
	}
	switch d := st.(type) {
	case *ast.CreateDatabase:
		return commandTag{text: "CREATE DATABASE"}, s.createDatabase(d)
	case *ast.DropDatabase:
		return commandTag{text: "DROP DATABASE"}, s.dropDatabase(d)
	case *ast.AlterDatabase:
		return commandTag{text: "ALTER DATABASE"}, s.alterDatabase(d)
	}
	return commandTag{}, sqlerr.Internal("not a database command: %T", st)
}

func (s *Session) createDatabase(st *ast.CreateDatabase) error {
	if err := s.noBlock("CREATE DATABASE"); err != nil {
		return err
	}
	if !s.superuser && !s.user.CreateDB {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create database")
	}
	d := &catalog.Database{Name: st.Name, Owner: s.user.OID, AllowConn: true, ConnLimit: -1}
	template := "template1"
	var where placementChange
	for _, o := range st.Options {
		if err := s.databaseOption(d, o, &template, &where); err != nil {
			return err
		}
	}
	if err := s.mayPlace(&where); err != nil {
		return err
	}
	sys := s.srv.systemReader()
	if old, err := sys.DatabaseByName(st.Name); err != nil {
		return err
	} else if old != nil {
		return sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", st.Name)
	}
	src, err := sys.DatabaseByName(template)
	if err != nil {
		return err
	}
	if src == nil {
		return sqlerr.New(sqlerr.UndefinedDatabase, "template database \"%s\" does not exist", template)
	}
	if template != "template0" && template != "template1" {
		return sqlerr.Unsupported("CREATE DATABASE with template \"%s\"", template).WithHint("Use template0 or template1.")
	}
	var p Placement
	where.apply(&p)
	return s.srv.createDatabase(d, p)
}

// createDatabase makes the database's store, then its row. A crash in between leaves a store that the list does not have: the next
// start removes it, see settle; in a cluster the node that leads the list does.
func (srv *Server) createDatabase(d *catalog.Database, p Placement) error {
	id, err := srv.newDatabaseNumber()
	if err != nil {
		return err
	}
	d.OID = types.OID(id)
	if err := srv.engine.CreateDatabase(d.Name, id); err != nil {
		return err
	}
	if err = srv.await(id, p); err == nil {
		err = srv.bootstrapDatabase(d.Name)
	}
	if err == nil {
		err = srv.awaitReplicas(d.Name, id)
	}
	listed := false
	if err == nil {
		err = srv.systemTx(func(w *catalog.Writer) error { return w.CreateDatabase(d) })
		listed = err == nil || srv.unknown(err)
	}
	switch {
	case err == nil:
		if err := srv.settled(d.Name, id); err != nil { // the list has it, which is what counts
			srv.log.Warn("a database that was made is still marked as new", "database", d.Name, "error", err)
		}
	case listed && srv.opts.Cluster != nil:
		srv.opts.Cluster.Unsettled(id)
	case !listed:
		_ = srv.dropStore(d.Name, id) // the first error is the one to tell
	}
	return err
}

// unknown tells whether a transaction that ended with err may have been committed nevertheless: the log has failed, or another node
// has taken over.
func (srv *Server) unknown(err error) bool {
	e := (*sqlerr.Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == sqlerr.TransactionResolutionUnknown || srv.opts.Cluster == nil && e.Severity == sqlerr.SeverityFatal
}

// settle makes what a crash has left in the making or dropping of a database agree with the list of databases.
func (srv *Server) settle() error {
	left, err := srv.engine.Unsettled()
	if err != nil || srv.opts.Cluster != nil {
		return err
	}
	rows, err := srv.systemReader().Databases()
	if err != nil {
		return err
	}
	for _, d := range srv.engine.Databases() {
		listed := slices.ContainsFunc(rows, func(r *catalog.Database) bool { return uint32(r.OID) == d.OID })
		switch marked := slices.Contains(left, d); {
		case marked && listed:
			err = srv.engine.SettleDatabase(d.Name)
		case marked:
			err = srv.engine.DropDatabase(d.Name)
			srv.log.Info("removed a database that was being made or dropped when the server ended", "database", d.Name, "number", d.OID, "error", err)
		case !listed: // its row is lost with the log's last entries; what is in it may be all there is left
			srv.log.Error("the list of databases lacks one whose folder is there; it is kept, and its name stays taken", "database", d.Name, "folder", d.OID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settled notes that a database is made and listed.
func (srv *Server) settled(name string, oid uint32) error {
	if srv.opts.Cluster != nil {
		return srv.opts.Cluster.Settled(oid)
	}
	return srv.engine.SettleDatabase(name)
}

// awaitReplicas waits until what a new database is told will be on several nodes. It goes on without those that do not come.
func (srv *Server) awaitReplicas(name string, oid uint32) error {
	if srv.opts.Cluster == nil {
		return nil
	}
	if err := srv.opts.Cluster.AwaitReplicas(oid); err != nil {
		srv.log.Warn("a new database does not have all of its replicas yet", "database", name, "reason", err)
	}
	return nil
}

// await waits until a database that was just made takes commits, which takes an election when several nodes share it.
func (srv *Server) await(oid uint32, p Placement) error {
	if srv.opts.Cluster == nil {
		return nil
	}
	if err := srv.opts.Cluster.Await(oid, p); err != nil {
		return sqlerr.New(sqlerr.CannotConnectNow, "the cluster has not taken the new database").WithDetail("%v", err)
	}
	return nil
}

// dropStore removes the store of a database that was not made after all, on all nodes that have it.
func (srv *Server) dropStore(name string, oid uint32) error {
	if srv.opts.Cluster != nil {
		return srv.opts.Cluster.Dropped(oid)
	}
	return srv.engine.DropDatabase(name)
}

// databaseOption applies one option of CREATE DATABASE.
func (s *Session) databaseOption(d *catalog.Database, o ast.Option, template *string, where *placementChange) error {
	if ok, err := where.add(o); ok {
		return err
	}
	v := o.Value.String()
	switch strings.ToLower(o.Name) {
	case "owner":
		r, err := s.srv.roleByName(v)
		if err != nil {
			return err
		}
		if r == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", v)
		}
		d.Owner = r.OID
	case "template":
		*template = strings.ToLower(v)
	case "encoding":
		if _, err := checkEncoding(nil, v); err != nil && v != "6" {
			return sqlerr.Unsupported("database encoding \"%s\"", v)
		}
	case "lc_collate", "lc_ctype", "locale":
		switch strings.ToUpper(v) {
		case "C", "POSIX", "C.UTF-8", "C.UTF8", "EN_US.UTF-8", "EN_US.UTF8":
		default:
			return sqlerr.Unsupported("locale \"%s\"", v).WithHint("Databases have collation C.")
		}
	case "allow_connections":
		d.AllowConn = optionOn(o.Value)
	case "is_template":
		d.IsTemplate = optionOn(o.Value)
	case "connection_limit":
		d.ConnLimit = int32(atoi(v))
	case "strategy", "tablespace", "locale_provider", "oid":
	default:
		return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", o.Name)
	}
	return nil
}

func (s *Session) dropDatabase(st *ast.DropDatabase) error {
	if err := s.noBlock("DROP DATABASE"); err != nil {
		return err
	}
	d, err := s.srv.systemReader().DatabaseByName(st.Name)
	if err != nil {
		return err
	}
	if d == nil {
		if st.IfExists {
			s.notice(sqlerr.Notice(sqlerr.SuccessfulCompletion, "database \"%s\" does not exist, skipping", st.Name))
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", st.Name)
	}
	switch {
	case !s.superuser && d.Owner != s.user.OID:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", st.Name)
	case d.IsTemplate:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot drop a template database")
	case st.Name == s.info.Database:
		return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
	}
	if s.srv.opts.Cluster != nil {
		return s.dropInCluster(d, st)
	}
	if n, err := s.srv.emptied(st.Name, st.Force, s.eng.Interrupt()); err != nil {
		return err
	} else if n > 0 {
		return inUse(st.Name, n)
	}
	return s.srv.dropDatabase(d)
}

// dropDatabase takes a database off the list and removes its store. Nobody can connect to it from the first step on; a crash in
// between is settled at the next start.
func (srv *Server) dropDatabase(d *catalog.Database) error {
	if !slices.ContainsFunc(srv.engine.Databases(), func(x engine.DatabaseInfo) bool { return x.OID == uint32(d.OID) }) {
		return srv.unlist(d) // its store went, and that its row went was lost with the log's last entries
	}
	drop, err := srv.engine.BeginDrop(d.Name)
	if err != nil {
		return err
	}
	if err := srv.unlist(d); err != nil {
		drop.Cancel()
		if !srv.unknown(err) {
			if e := srv.engine.SettleDatabase(d.Name); e != nil {
				srv.log.Warn("a database that was not dropped is still marked as if it were", "database", d.Name, "error", e)
			}
		}
		return err
	}
	return drop.Finish()
}

// unlist takes a database off the list.
func (srv *Server) unlist(d *catalog.Database) error {
	err := srv.systemTx(func(w *catalog.Writer) error { return w.DropDatabase(d) })
	if err == nil {
		srv.catalogs.forget(uint32(d.OID))
		srv.notify.forget(uint32(d.OID))
	}
	return err
}

// emptied waits until nobody uses a database; with force its sessions end. It returns how many stay nevertheless. intr may be nil.
func (srv *Server) emptied(database string, force bool, intr *engine.Interrupt) (int, error) {
	users := srv.usersOf(database)
	if force {
		for _, u := range users {
			u.client.Terminate()
		}
	}
	// As PostgreSQL, give sessions that are about to leave five seconds.
	for i := 0; i < 500 && len(users) > 0; i++ {
		const step = 10
		if intr == nil {
			time.Sleep(step * time.Millisecond)
		} else if err := intr.Sleep(step); err != nil {
			return len(users), err
		}
		users = srv.usersOf(database)
	}
	return len(users), nil
}

func inUse(database string, users int) error {
	e := sqlerr.New(sqlerr.ObjectInUse, "database \"%s\" is being accessed by other users", database)
	if users == 1 {
		return e.WithDetail("There is 1 other session using the database.")
	}
	return e.WithDetail("There are %d other sessions using the database.", users)
}

func (srv *Server) usersOf(database string) []*Session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	var out []*Session
	for _, s := range srv.sessions {
		if s.occupies(database) {
			out = append(out, s)
		}
	}
	return out
}

func (s *Session) alterDatabase(st *ast.AlterDatabase) error {
	old, err := s.srv.systemReader().DatabaseByName(st.Name)
	if err != nil {
		return err
	}
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", st.Name)
	}
	if !s.superuser && old.Owner != s.user.OID {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", st.Name)
	}
	d := *old
	template := ""
	var where placementChange
	for _, o := range st.Options {
		if err := s.databaseOption(&d, o, &template, &where); err != nil {
			return err
		}
	}
	if st.Set != nil && strings.EqualFold(st.Set.Name, "leader") { // no parameter has that name
		return s.setLeader(old, st.Set)
	}
	if err := s.mayPlace(&where); err != nil {
		return err
	}
	if err := s.place(old, &where); err != nil {
		return err
	}
	if len(st.Options) > 0 && len(where.list) == len(st.Options) {
		return nil
	}
	if st.Set != nil {
		if d.Config, err = s.changeConfig(old.Config, st.Set); err != nil {
			return err
		}
	}
	return s.srv.systemTx(func(w *catalog.Writer) error { return w.UpdateDatabase(old, &d) })
}

// changeConfig applies ALTER DATABASE|ROLE ... SET to a list of name=value.
func (s *Session) changeConfig(config []string, set *ast.SetVar) ([]string, error) {
	if set.Kind == ast.SetResetAll {
		return nil, nil
	}
	name := canonical(set.Name)
	out := make([]string, 0, len(config)+1)
	for _, kv := range config {
		if n, _, _ := cutSetting(kv); n != name {
			out = append(out, kv)
		}
	}
	if set.Kind == ast.SetReset || set.Kind == ast.SetDefault {
		return out, nil
	}
	v, err := s.setValue(set)
	if err != nil {
		return nil, err
	}
	n, checked, err := s.checkSetting(set.Name, v)
	if err != nil {
		return nil, err
	}
	return append(out, n+"="+checked), nil
}

// Bootstrap makes the system database's rows and the first databases on a new data folder, and puts the databases of an old
// one in order. New does it, except on a node of a cluster: there the node that begins the cluster does, once it leads.
func (srv *Server) Bootstrap() error {
	sys := srv.engine.System()
	fresh, err := srv.isFresh(sys)
	if err != nil {
		return err
	}
	if !fresh {
		return srv.resume()
	}
	first := map[string]uint32{"template1": 1, "postgres": 5}
	for name, id := range first {
		if err := srv.makeFirst(name, id); err != nil {
			return err
		}
	}
	// Last: with these rows the folder is not fresh any more.
	err = srv.inTx(sys, func(w *catalog.Writer) error {
		return catalog.BootstrapShared(w, "postgres", srv.opts.Password)
	})
	for name := range first {
		if err == nil {
			err = srv.engine.SettleDatabase(name)
		}
	}
	return err
}

// makeFirst makes one of the first databases, or what a crash has left undone of it.
func (srv *Server) makeFirst(name string, oid uint32) error {
	if _, err := srv.engine.Database(name); err != nil {
		if err := srv.engine.CreateDatabase(name, oid); err != nil {
			return err
		}
	}
	if err := srv.await(oid, Placement{}); err != nil {
		return err
	}
	db, err := srv.engine.Database(name)
	if err != nil || (systemSource{db}).hasTrees() {
		return err
	}
	return srv.bootstrapDatabase(name)
}

// resume puts the databases of a data folder in order that a server has left.
func (srv *Server) resume() error {
	if err := srv.settle(); err != nil {
		return err
	}
	for _, d := range srv.engine.Databases() {
		if err := srv.Resume(d.OID); err != nil {
			return err
		}
	}
	return nil
}

// Resume puts a database in order whose leader, this server or another, has ended.
func (srv *Server) Resume(oid uint32) error {
	for _, d := range srv.engine.Databases() {
		if d.OID != oid {
			continue
		}
		db, err := srv.engine.Database(d.Name)
		if err != nil || !(systemSource{db}).hasTrees() { // just made, its first rows come
			return err
		}
		return srv.voidBuilds(db)
	}
	return nil
}

// isFresh says whether the system database has no roles yet.
func (srv *Server) isFresh(sys *engine.Database) (bool, error) {
	if !(systemSource{sys}).hasTrees() {
		return true, nil
	}
	roles, err := srv.systemReader().Roles()
	return len(roles) == 0, err
}

// bootstrapDatabase writes the first rows of a new database.
func (srv *Server) bootstrapDatabase(name string) error {
	db, err := srv.engine.Database(name)
	if err != nil {
		return err
	}
	return srv.inTx(db, catalog.Bootstrap)
}
