package session

import (
	"herd/sql/catalog"
)

// EnsureLogin makes a role that may log in with a password, given as the verifier's text, or gives both to the role of that
// name. Called at start for server.users.file.
func (srv *Server) EnsureLogin(name, verifier string) error {
	return srv.systemTx(func(w *catalog.Writer) error {
		old, err := w.Reader().RoleByName(name)
		if err != nil {
			return err
		}
		if old == nil {
			return w.CreateRole(&catalog.Role{Name: name, Inherit: true, ConnLimit: -1, Login: true, Password: verifier})
		}
		changed := *old
		changed.Login, changed.Password = true, verifier
		return w.UpdateRole(old, &changed)
	})
}
