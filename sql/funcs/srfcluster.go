package funcs

import "herd/sql/types"

// The functions about the cluster: the session knows their rows.
func init() {
	for _, name := range []string{"herd_nodes", "herd_databases", "herd_replicas", "herd_cluster_check", "herd_cluster_remove", "herd_cluster_promote",
		"herd_cluster_transfer", "herd_cluster_drain", "herd_cluster_lead"} {
		regSet(func(ci *CallInfo) setStart {
			ts := outTypes(ci.Func)
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return systemSet(c, name, ts, a) }
		}, name)
	}
}
