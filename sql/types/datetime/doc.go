// Package datetime has PostgreSQL's dates, times, timestamps and intervals: text forms, calendars, time zones.
//
// # Purpose
//
// A date is a count of days since 2000-01-01, a time microseconds since midnight, a timestamp microseconds since
// 2000-01-01 00:00:00 (in UTC when it has a zone). Infinite values are the ends of the integer range.
//
// # Invariants
//
//	I1  The calendar is proleptic Gregorian; year 0 is 1 BC internally.
//	I2  Parsing what an Append function wrote under the same Config gives the value back.
//	I3  Nothing reads the wall clock: Config.Now does.
//
// # Goroutines
//
// None. The cache of loaded zones is guarded by a mutex.
//
// # Files
//
//	calendar.go  day numbers, limits, rounding
//	config.go    Config: styles, zone, clock
//	zone.go      zone names, offsets at a local or absolute time; abbrev.go PostgreSQL's abbreviations
//	fields.go    cutting a text into fields
//	decode.go decodeword.go   from fields to date, time and zone
//	parse.go     text to each type
//	format.go    each type to text
//	interval.go intervalparse.go intervaliso.go intervalformat.go   intervals
package datetime
