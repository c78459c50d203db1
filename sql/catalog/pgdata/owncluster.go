package pgdata

import "herd/sql/types"

// What is shown and done of the cluster that a server is a node of. A server that is none has no rows.
var clusterFunctions = []ownFunction{
	{oid: 15700, name: "herd_nodes", rows: 3, out: []ownColumn{{"node", types.TextOID}, {"cluster_address", types.TextOID}, {"sql_address", types.TextOID},
		{"leads_cluster", types.BoolOID}, {"self", types.BoolOID}, {"reachable", types.BoolOID}, {"detail", types.TextOID}}},
	{oid: 15701, name: "herd_databases", rows: 5, out: []ownColumn{{"oid", types.OIDOID}, {"database", types.TextOID}, {"leader", types.TextOID},
		{"leader_address", types.TextOID}, {"term", types.Int8OID}, {"entry", types.Int8OID}, {"replicas", types.Int4OID}, {"voters", types.Int4OID},
		{"replicas_wanted", types.Int4OID}, {"leader_wanted", types.TextOID}}},
	{oid: 15702, name: "herd_replicas", rows: 15, out: []ownColumn{{"database", types.TextOID}, {"node", types.TextOID}, {"address", types.TextOID},
		{"role", types.TextOID}, {"voter", types.BoolOID}, {"state", types.TextOID}, {"term", types.Int8OID}, {"entry", types.Int8OID},
		{"lag_entries", types.Int8OID}, {"lag_seconds", types.Float8OID}, {"log_bytes", types.Int8OID}, {"data_bytes", types.Int8OID},
		{"fetched_bytes", types.Int8OID}, {"fetch_done", types.Int8OID}, {"fetch_total", types.Int8OID}}},
	{oid: 15703, name: "herd_cluster_check", rows: 15, out: []ownColumn{{"database", types.TextOID}, {"node", types.TextOID}, {"entry", types.Int8OID},
		{"trees", types.Int4OID}, {"rows", types.Int8OID}, {"checksum", types.TextOID}, {"state", types.TextOID}, {"detail", types.TextOID}}},
	{oid: 15704, name: "herd_cluster_remove", rows: 1, args: oneNode, out: oneResult},
	{oid: 15705, name: "herd_cluster_promote", rows: 1, args: oneNode, out: oneResult},
	{oid: 15706, name: "herd_cluster_transfer", rows: 1, args: oneNode, out: oneResult},
	{oid: 15707, name: "herd_cluster_drain", rows: 1, args: oneNode, out: oneResult},
	{oid: 15708, name: "herd_cluster_lead", rows: 1, args: []ownColumn{{"database", types.TextOID}, {"node", types.TextOID}}, out: oneResult},
}

var (
	oneNode   = []ownColumn{{"node", types.TextOID}}
	oneResult = []ownColumn{{"result", types.TextOID}}
)

// clusterViews show what the functions of the same names do.
var clusterViews = []ownView{
	{oid: 15760, name: "herd_nodes", columns: clusterFunctions[0].out, def: ownViewText(clusterFunctions[0].out, "herd_nodes")},
	{oid: 15764, name: "herd_databases", columns: clusterFunctions[1].out, def: ownViewText(clusterFunctions[1].out, "herd_databases")},
	{oid: 15768, name: "herd_replicas", columns: clusterFunctions[2].out, def: ownViewText(clusterFunctions[2].out, "herd_replicas")},
}
