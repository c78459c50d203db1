package datetime

import "time"

// Style is the output half of DateStyle.
type Style uint8

// Output styles.
const (
	ISO Style = iota
	SQL
	Postgres
	German
)

// Order is the field order half of DateStyle.
type Order uint8

// Field orders.
const (
	MDY Order = iota
	DMY
	YMD
)

// IntervalStyle is the setting of that name.
type IntervalStyle uint8

// Interval output styles.
const (
	IntervalPostgres IntervalStyle = iota
	IntervalPostgresVerbose
	IntervalSQL
	IntervalISO
)

// Config is what input and output of times depends on.
type Config struct {
	DateStyle     Style
	DateOrder     Order
	IntervalStyle IntervalStyle
	// Zone is the session's time zone; nil is UTC.
	Zone *time.Location
	// Now is the start of the transaction in microseconds since 2000-01-01 UTC, for 'now', 'today' and zone abbreviations
	// that depend on the date.
	Now func() int64
}

// Default returns ISO, MDY, postgres intervals, UTC and the wall clock.
func Default() Config {
	return Config{Zone: time.UTC, Now: func() int64 { return FromTime(time.Now()) }}
}

// FromTime returns the timestamptz value of t.
func FromTime(t time.Time) int64 { return t.UnixMicro() - UnixEpoch*Second }

// Time returns the time.Time of a finite timestamptz value.
func Time(ts int64) time.Time { return time.UnixMicro(ts + UnixEpoch*Second) }

func (c *Config) zone() *time.Location {
	if c == nil || c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

func (c *Config) now() int64 {
	if c == nil || c.Now == nil {
		return FromTime(time.Now())
	}
	return c.Now()
}
