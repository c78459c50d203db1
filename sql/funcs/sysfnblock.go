package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// initBlocking registers the functions that tell who waits for whom.
func initBlocking() {
	for _, name := range []string{"pg_blocking_pids", "pg_safe_snapshot_blocking_pids"} {
		sys(func(r *row, e Env) error {
			pids, err := blockingPIDs(e, name, r.Datum(0))
			if err != nil {
				return err
			}
			return r.RetBytes(types.MakeArray(types.Int4OID, pids))
		}, name)
	}
	// Whether a session waits for one of some others, in one look: what a test of several sessions asks after each step.
	sys(func(r *row, e Env) error {
		interesting := map[int64]bool{}
		for it := r.Array(1).Iter(); it.Next(); {
			if it.Null {
				return sqlerr.New(sqlerr.InternalError, "array must not contain nulls")
			}
			interesting[types.DecodeValue(types.Int4OID, it.Val).I] = true
		}
		for _, name := range []string{"pg_blocking_pids", "pg_safe_snapshot_blocking_pids"} {
			pids, err := blockingPIDs(e, name, r.Datum(0))
			if err != nil {
				return err
			}
			for _, pid := range pids {
				if interesting[pid.I] {
					return r.RetBool(true)
				}
			}
		}
		return r.RetBool(false)
	}, "pg_isolation_test_session_is_blocked")
}

// blockingPIDs calls one of the two functions of a process that give process numbers.
func blockingPIDs(e Env, name string, pid types.Datum) ([]types.Datum, error) {
	s, ok := e.(SystemRows)
	if !ok {
		return nil, unsupported(name + "(integer)")
	}
	rows, ok, err := s.SystemRows(name, []types.Datum{pid})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, unsupported(name + "(integer)")
	}
	var pids []types.Datum
	for _, row := range rows {
		pids = append(pids, row[0])
	}
	return pids, nil
}
