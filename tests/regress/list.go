package main

import "fmt"

// A script of the schedule. Those that only prepare others are run and not counted.
type script struct {
	name    string
	counted bool
}

// schedule has the scripts in the order of PostgreSQL's parallel_schedule, one after the other.
var schedule = []script{
	{"test_setup", false},
	{"boolean", true}, {"char", true}, {"name", false}, {"varchar", true}, {"text", true}, {"int2", true}, {"int4", true},
	{"int8", true}, {"float4", true}, {"float8", true}, {"numeric", true}, {"uuid", true}, {"enum", true},
	{"strings", true}, {"date", true}, {"time", true}, {"timetz", false}, {"timestamp", true}, {"timestamptz", true},
	{"interval", true}, {"horology", true},
	{"copy", true}, {"copyselect", true}, {"copydml", true}, {"insert", true}, {"insert_conflict", true},
	{"create_misc", false}, {"create_table", true}, {"create_index", true}, {"create_view", true},
	{"create_aggregate", false}, {"constraints", true}, {"select", true},
	{"select_into", true}, {"select_distinct", true}, {"select_distinct_on", true}, {"select_implicit", true},
	{"select_having", true}, {"subselect", true}, {"union", true}, {"case", true}, {"join", true}, {"aggregates", true},
	{"transactions", true}, {"portals", true}, {"arrays", true}, {"update", true}, {"delete", true}, {"namespace", true},
	{"groupingsets", true}, {"identity", true}, {"generated", true}, {"merge", true},
	{"portals_p2", true}, {"foreign_key", true}, {"window", true},
	{"json", true}, {"jsonb", true}, {"json_encoding", true}, {"jsonpath", true}, {"jsonpath_encoding", true}, {"jsonb_jsonpath", true},
	{"limit", true}, {"copy2", true}, {"temp", true}, {"domain", true}, {"prepare", true}, {"alter_table", true},
	{"sequence", true}, {"returning", true}, {"with", true},
}

// choose returns what to run for the scripts named: test_setup, and the scripts in the schedule's order.
func choose(names []string) ([]script, error) {
	if len(names) == 0 {
		return schedule, nil
	}
	wanted := map[string]bool{"test_setup": true}
	for _, n := range names {
		wanted[n] = true
	}
	var out []script
	for _, s := range schedule {
		if wanted[s.name] {
			out = append(out, script{s.name, s.counted || s.name != "test_setup"})
			delete(wanted, s.name)
		}
	}
	for n := range wanted {
		return nil, fmt.Errorf("script %q is not in the schedule", n)
	}
	return out, nil
}
