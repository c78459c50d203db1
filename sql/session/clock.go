package session

import "time"

const epoch2000 = 946684800 * 1000000

// micros turns a time into microseconds since 2000-01-01 UTC, the unit of timestamptz.
func micros(t time.Time) int64 { return t.UnixMicro() - epoch2000 }

// nowMicros reads the wall clock.
func nowMicros() int64 { return micros(time.Now()) }

// tick reads the clock for the session. A statement needs it twice: when its message comes and when it has ended.
func (s *Session) tick() { s.clock = time.Now() }

// now is the session's time in microseconds since 2000-01-01 UTC: when the client's last bytes came, or when the last
// statement ended if that was later.
func (s *Session) now() int64 { return micros(s.clock) }

// messageTime is when the message in work came, in microseconds since 2000-01-01 UTC: what statement_timestamp() gives, and
// now() in the transactions that the message begins, be they several.
func (s *Session) messageTime() int64 { return micros(s.arrived) }

// txNow is what 'now' stands for in a literal: the start of the transaction.
func (s *Session) txNow() int64 {
	if s.tx == nil {
		return s.now()
	}
	return s.txStart
}
