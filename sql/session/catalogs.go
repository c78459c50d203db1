package session

import (
	"strings"
	"sync"

	"herd/engine"
	"herd/engine/lock"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// catalogSet keeps a descriptor cache for each database.
type catalogSet struct {
	mu     sync.Mutex
	caches map[uint32]*catalog.Cache // guarded by mu; by the database's OID: another one may get its name
}

// systemCatalogs is the OID of the system database.
const systemCatalogs = 0

func (c *catalogSet) of(database uint32) *catalog.Cache {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caches == nil {
		c.caches = make(map[uint32]*catalog.Cache)
	}
	k := c.caches[database]
	if k == nil {
		k = catalog.NewCache()
		c.caches[database] = k
	}
	return k
}

// forget drops the cache of a database that was dropped.
func (c *catalogSet) forget(database uint32) {
	c.mu.Lock()
	delete(c.caches, database)
	c.mu.Unlock()
}

// systemSource reads the newest state of the system database, where roles and databases live; each call pins for itself,
// so that no reader holds a version of it longer than a look-up.
type systemSource struct{ db *engine.Database }

// Get implements catalog.Source.
func (s systemSource) Get(t storage.TreeID, key []byte) (val []byte, ok bool, err error) {
	err2 := s.db.ReadTip(func(v storage.View) error {
		val, ok, err = v.Get(t, key)
		val = append([]byte(nil), val...)
		return err
	})
	return val, ok, err2
}

// Range implements catalog.Source.
func (s systemSource) Range(t storage.TreeID, lo, hi []byte, f func(key, val []byte) bool) error {
	return s.db.ReadTip(func(v storage.View) error { return catalog.FromView(v).Range(t, lo, hi, f) })
}

// Count implements catalog.Source.
func (s systemSource) Count(t storage.TreeID) (n int64) {
	s.db.ReadTip(func(v storage.View) error { n = v.Count(t); return nil })
	return n
}

// CatalogVersion implements catalog.Source.
func (s systemSource) CatalogVersion() (seq storage.Seq) {
	s.db.ReadTip(func(v storage.View) error { seq = v.Snap.CatalogVersion(); return nil })
	return seq
}

// HasOwn implements catalog.Source: there is no transaction here.
func (systemSource) HasOwn(storage.TreeID, []byte) bool { return false }

// systemReader reads roles and databases outside any client's transaction.
func (srv *Server) systemReader() catalog.Reader {
	return catalog.NewReader(catalog.ReaderOptions{Source: systemSource{srv.engine.System()}, Cache: srv.catalogs.of(systemCatalogs)})
}

func (srv *Server) roleByName(name string) (*catalog.Role, error) {
	return srv.systemReader().RoleByName(name)
}

// databaseConfig is what ALTER DATABASE SET left for a database's sessions.
func (srv *Server) databaseConfig(name string) []string {
	d, err := srv.systemReader().DatabaseByName(name)
	if err != nil || d == nil {
		return nil
	}
	return d.Config
}

// LoginRole tells the connection how a role proves itself; known is false for a role that does not exist.
func (srv *Server) LoginRole(name string) (role LoginRole, known bool) {
	r, err := srv.roleByName(name)
	if err != nil || r == nil {
		return LoginRole{}, false
	}
	role.CanLogin = r.Login
	if r.ValidUntil != nil && *r.ValidUntil < nowMicros() {
		return role, true
	}
	if v, err := ParseVerifier(r.Password); err == nil {
		role.HasPassword, role.Verifier = true, v
	}
	return role, true
}

func cutSetting(kv string) (name, value string, ok bool) { return strings.Cut(kv, "=") }

// catalog returns a reader of the catalog as the current statement sees it.
func (s *Session) catalog() (catalog.Reader, error) {
	s.ensureTx()
	return s.catalogAt(s.tx.Look()), nil
}

// catalogAt returns a reader over a view.
func (s *Session) catalogAt(v storage.View) catalog.Reader {
	return catalog.NewReader(catalog.ReaderOptions{Source: catalog.FromView(v), Cache: s.srv.catalogs.of(s.db.OID()),
		Shared: s.srv.systemReader(), TempSchema: s.tempSchema})
}

// catalogVersion identifies the state of the definitions in a view.
func (s *Session) catalogVersion(v storage.View) (storage.Seq, bool) {
	return v.Snap.CatalogVersion(), s.tx.ChangedCatalog()
}

// catalogWriter returns a writer in the current transaction.
func (s *Session) catalogWriter() *catalog.Writer {
	return catalog.NewWriter((*catalogTx)(s), catalog.ReaderOptions{Cache: s.srv.catalogs.of(s.db.OID()),
		Shared: s.srv.systemReader(), TempSchema: s.tempSchema})
}

// catalogTx is the session's transaction as the catalog's writer sees it.
type catalogTx Session

// ID implements catalog.Tx.
func (t *catalogTx) ID() uint64 { return t.tx.ID() }

// Newest implements catalog.Tx.
func (t *catalogTx) Newest() catalog.Source { return catalog.FromView(t.tx.Newest()) }

// LockKey implements catalog.Tx.
func (t *catalogTx) LockKey(tree storage.TreeID, key []byte) error {
	_, _, err := t.tx.LockRow(tree, key, lock.Update, lock.Wait)
	return err
}

// Put implements catalog.Tx.
func (t *catalogTx) Put(tree storage.TreeID, key, val []byte) error { return t.tx.Put(tree, key, val) }

// Delete implements catalog.Tx.
func (t *catalogTx) Delete(tree storage.TreeID, key []byte) error { return t.tx.Delete(tree, key) }

// NewTree implements catalog.Tx.
func (t *catalogTx) NewTree() (storage.TreeID, error) { return t.tx.NewTree() }

// DropTree implements catalog.Tx.
func (t *catalogTx) DropTree(tree storage.TreeID) error { return t.tx.DropTree(tree) }

// NewOID implements catalog.Tx.
func (t *catalogTx) NewOID() (types.OID, error) {
	n, err := t.db.NewOID()
	return types.OID(n), err
}

// searchPath is the resolved search_path of a session.
type searchPath struct {
	valid   bool
	version storage.Seq
	oids    []types.OID
	create  types.OID
}

func (p *searchPath) forget() { p.valid = false }

// searchOIDs returns the schemas in which unqualified names are looked up.
func (s *Session) searchOIDs() ([]types.OID, error) {
	if err := s.resolvePath(); err != nil {
		return nil, err
	}
	return s.path.oids, nil
}

// creationSchema is where new objects go: 3F000 when no schema of the path exists.
func (s *Session) creationSchema() (types.OID, error) {
	if err := s.resolvePath(); err != nil {
		return 0, err
	}
	if s.path.create == 0 {
		return 0, sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in")
	}
	return s.path.create, nil
}

func (s *Session) resolvePath() error {
	s.ensureTx()
	view := s.tx.Look()
	seq, own := s.catalogVersion(view)
	if s.path.valid && s.path.version == seq && !own {
		return nil
	}
	setting, _ := s.set.get("search_path")
	cat := s.catalogAt(view)
	var usable func(*catalog.Schema) (bool, error)
	if !s.superuser {
		usable = func(sc *catalog.Schema) (bool, error) { return catalog.MayUseSchema(cat, sc, s.user.OID) }
	}
	oids, create, err := catalog.ResolvePath(cat, splitList(setting), s.user.Name, usable)
	if err != nil {
		return err
	}
	s.path = searchPath{valid: true, version: seq, oids: oids, create: create}
	return nil
}

// splitList takes a comma-separated list of identifiers apart.
func splitList(v string) []string {
	var out []string
	for i := 0; i < len(v); {
		switch {
		case v[i] == ' ' || v[i] == ',':
			i++
		case v[i] == '"':
			var b strings.Builder
			for i++; i < len(v); i++ {
				if v[i] == '"' {
					if i+1 >= len(v) || v[i+1] != '"' {
						break
					}
					i++
				}
				b.WriteByte(v[i])
			}
			i++
			out = append(out, b.String())
		default:
			j := i
			for j < len(v) && v[j] != ',' {
				j++
			}
			out = append(out, strings.ToLower(strings.TrimSpace(v[i:j])))
			i = j
		}
	}
	return out
}

func quoteIdent(s string) string { return catalog.QuoteIdent(s) }

// resolver is the session as text input and output of types see it.
type resolver Session

func (r *resolver) names() (catalog.Names, error) {
	s := (*Session)(r)
	cat, err := s.catalog()
	if err != nil {
		return catalog.Names{}, err
	}
	path, err := s.searchOIDs()
	return catalog.Names{Reader: cat, Path: path, Database: s.info.Database}, err
}

// TypeInfo implements types.NameResolver.
func (r *resolver) TypeInfo(t types.OID) (types.TypeInfo, bool) {
	n, err := r.names()
	if err != nil {
		return types.TypeInfo{}, false
	}
	return n.TypeInfo(t)
}

// RegIn implements types.NameResolver.
func (r *resolver) RegIn(kind types.OID, text string) (types.OID, error) {
	n, err := r.names()
	if err != nil {
		return 0, err
	}
	return n.RegIn(kind, text)
}

// RegOut implements types.NameResolver.
func (r *resolver) RegOut(kind, object types.OID) (string, bool) {
	n, err := r.names()
	if err != nil {
		return "", false
	}
	return n.RegOut(kind, object)
}

// EnumValue implements types.NameResolver.
func (r *resolver) EnumValue(enum types.OID, label string) (float64, types.OID, bool) {
	n, err := r.names()
	if err != nil {
		return 0, 0, false
	}
	return n.EnumValue(enum, label)
}

// EnumLabel implements types.NameResolver.
func (r *resolver) EnumLabel(enum, label types.OID) (string, bool) {
	n, err := r.names()
	if err != nil {
		return "", false
	}
	return n.EnumLabel(enum, label)
}

// hasTrees says whether the catalog's trees exist: they do not before bootstrap.
func (s systemSource) hasTrees() (ok bool) {
	s.db.ReadTip(func(v storage.View) error { ok = v.Snap.TreeExists(catalog.Trees()[0]); return nil })
	return ok
}

// inTx runs catalog changes of one database in a transaction, making the catalog's trees first where they are missing. Those of the system
// database are made one at a time.
func (srv *Server) inTx(db *engine.Database, f func(w *catalog.Writer) error) error {
	run := srv.inEngineTx
	if db == srv.engine.System() {
		run = srv.inSystemTx
	}
	return run(db, func(_ *engine.Session, tx *engine.Tx) error {
		for _, t := range catalog.Trees() {
			if !tx.Newest().Snap.TreeExists(t) {
				if err := tx.CreateTree(t); err != nil {
					return err
				}
			}
		}
		st := &Session{srv: srv, tx: tx, db: db}
		return f(catalog.NewWriter((*catalogTx)(st), catalog.ReaderOptions{Cache: srv.catalogs.of(db.OID())}))
	})
}
