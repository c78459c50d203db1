package session

import (
	"strings"
	"sync/atomic"

	"herd/sql/types"
)

// buildProgress is what pg_stat_progress_create_index shows of a build; the session writes it, others read it.
type buildProgress struct {
	command      int64
	table, index types.OID

	phase                   atomic.Int64
	lockersTotal            atomic.Int64
	lockersDone, lockersPID atomic.Int64
	rows, done              atomic.Int64
}

// Commands and phases as the view numbers them.
const (
	commandCreateIndex             = 1
	commandCreateIndexConcurrently = 2
	commandReindex                 = 3
	commandReindexConcurrently     = 4

	phaseWaitWriters   = 1
	phaseBuild         = 2
	phaseWaitSnapshots = 7
)

// progress publishes the build that the session is at, nil when none.
func (s *Session) progress(p *buildProgress) { s.activity.build.Store(p) }

// building publishes the builds of a statement that makes indexes in its own transaction.
func (s *Session) building(command int64) func(table, index types.OID, rows int64) {
	return func(table, index types.OID, rows int64) {
		p := s.activity.build.Load()
		if p == nil || p.index != index {
			p = &buildProgress{command: command, table: table, index: index}
			p.phase.Store(phaseBuild)
			if cat, err := s.catalog(); err == nil {
				if rel, err := cat.RelationByOID(table); err == nil && rel != nil {
					p.rows.Store(cat.RowCount(rel))
				}
			}
			s.progress(p)
		}
		p.done.Store(rows)
	}
}

// lockers is an engine.WaitProgress.
func (p *buildProgress) lockers(total, done int, pid int32) {
	p.lockersTotal.Store(int64(total))
	p.lockersDone.Store(int64(done))
	p.lockersPID.Store(int64(pid))
}

// progressRows is pg_stat_get_progress_info(command): process, database, relation and twenty numbers that the view of the
// command gives names.
func (s *Session) progressRows(command string) [][]types.Datum {
	if !strings.EqualFold(command, "CREATE INDEX") {
		return nil // VACUUM, ANALYZE, CLUSTER, COPY and base backups show no progress
	}
	var rows [][]types.Datum
	for _, o := range s.srv.sessionList() {
		p := o.activity.build.Load()
		if p == nil {
			continue
		}
		row := make([]types.Datum, 23)
		for i := range row {
			row[i] = types.Int(0)
		}
		row[0], row[1], row[2] = types.Int(int64(o.info.PID)), types.Int(int64(o.db.OID())), types.Int(int64(p.table))
		param := func(n int, v int64) { row[2+n] = types.Int(v) }
		param(1, p.command)
		param(7, int64(p.index))
		param(10, p.phase.Load())
		param(4, p.lockersTotal.Load())
		param(5, p.lockersDone.Load())
		param(6, p.lockersPID.Load())
		param(12, p.rows.Load())
		param(13, p.done.Load())
		if !s.superuser && o.info.User != s.user.Name {
			for i := 2; i < len(row); i++ {
				row[i] = types.NullDatum
			}
		}
		rows = append(rows, row)
	}
	return rows
}
