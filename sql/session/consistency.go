package session

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"herd/engine"
	"herd/sql/sqlerr"
)

// What herd.read_consistency can be. A session on the leader can change it at any time; one that began as stale on a node that follows
// stays there, reads only, and stays stale.
const (
	readLinearizable = "linearizable" // no answer is older than a commit that was answered before the question
	readLeader       = "leader"       // as linearizable, unless the leader is none any more and does not know yet
	readStale        = "stale"        // at most herd.max_staleness old
)

const readConsistency = "herd.read_consistency"

// WantsStale tells whether a client asks, when it connects, to read what the node it has reached has.
func WantsStale(settings []Setting) bool {
	v := ""
	for _, s := range settings {
		if strings.EqualFold(s.Name, readConsistency) {
			v = s.Value
		}
	}
	return strings.EqualFold(v, readStale)
}

// follows tells whether a session begins on a node that does not lead its database.
func (srv *Server) follows(info *StartupInfo) bool {
	c := srv.opts.Cluster
	return c != nil && WantsStale(info.Settings) && !c.Serves(info.Database)
}

// errReplicaWrites refuses to leave read-only mode, as a PostgreSQL standby does.
func errReplicaWrites() error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot set transaction read-write mode during recovery")
}

// checkConsistency serves SET herd.read_consistency.
func checkConsistency(s *Session, v string) (string, error) {
	if s.replica && v != readStale {
		return "", sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "this session runs on a node that does not lead database \"%s\": its reads are stale", s.info.Database).
			WithHint("Connect without herd.read_consistency = stale.")
	}
	return v, nil
}

// setConsistency follows herd.read_consistency.
func (s *Session) setConsistency(value string) {
	s.stale = value == readStale
	s.eng.SetVerified(value == readLinearizable)
}

// setStaleness follows herd.max_staleness.
func (s *Session) setStaleness(value string) {
	n, _ := strconv.Atoi(value)
	s.maxStaleness = time.Duration(n) * time.Millisecond // negative: any
}

// fresh makes sure that what a statement is about to read is not older than it may be. A statement of a transaction with one snapshot is
// asked about once.
func (s *Session) fresh() error {
	c := s.srv.opts.Cluster
	if !s.stale || c == nil {
		return nil
	}
	if s.tx.Isolation() != engine.ReadCommitted && s.freshTx == s.tx.Command() && s.tx.Command() > 0 {
		s.freshTx++
		return nil
	}
	s.freshTx = s.tx.Command() + 1
	if s.maxStaleness < 0 {
		s.sayCutOff()
		return nil
	}
	return s.freshWithin(s.db.OID(), s.info.Database, s.maxStaleness)
}

// freshWithin makes sure that what this node has of a database is at most that old.
func (s *Session) freshWithin(oid uint32, database string, most time.Duration) error {
	c := s.srv.opts.Cluster
	if c.FreshNow(oid, most) {
		return nil
	}
	_, err := awaiting(s, func() (struct{}, error) { return struct{}{}, c.Fresh(oid, most) })
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) {
		return err
	}
	if err != nil {
		return sqlerr.New(sqlerr.SnapshotTooOld, "what this node has of database \"%s\" may be older than herd.max_staleness allows", database).
			WithDetail("%v", err).WithHint("SET herd.max_staleness = -1 reads it nevertheless.")
	}
	return nil
}

// sayCutOff warns, once until it changes, that the node does not hear from its leader.
func (s *Session) sayCutOff() {
	silent, off := s.srv.opts.Cluster.CutOff(s.db.OID())
	if off && !s.saidCutOff {
		s.notice(sqlerr.Warn(sqlerr.Warning, "this node is cut off from the leader of database \"%s\": rows may be old", s.info.Database).
			WithDetail("It has not heard from a leader for %v.", silent.Round(time.Millisecond)))
	}
	s.saidCutOff = off
}
