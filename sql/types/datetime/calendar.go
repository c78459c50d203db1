package datetime

import "math"

// Units in microseconds.
const (
	Second int64 = 1_000_000
	Minute       = 60 * Second
	Hour         = 60 * Minute
	Day          = 24 * Hour
)

// Infinite values.
const (
	Infinity        int64 = math.MaxInt64
	NegInfinity     int64 = math.MinInt64
	DateInfinity    int64 = math.MaxInt32
	DateNegInfinity int64 = math.MinInt32
)

// Limits of finite values; ends are exclusive. unixEpoch is 2000-01-01 in seconds since 1970.
const (
	minTimestamp int64 = -211813488000000000
	endTimestamp int64 = 9223371331200000000
	minDate      int64 = -2451545
	endDate      int64 = 2147483494 - 2451545
	UnixEpoch    int64 = 946684800
	julianEpoch  int64 = 2451545 // Julian day of 2000-01-01
	unixDays     int64 = 10957   // days from 1970-01-01 to 2000-01-01
)

// IsInfinite says whether a timestamp is infinite.
func IsInfinite(ts int64) bool { return ts == Infinity || ts == NegInfinity }

// IsInfiniteDate says whether a date is infinite.
func IsInfiniteDate(d int64) bool { return d == DateInfinity || d == DateNegInfinity }

// ValidTimestamp says whether ts is infinite or within PostgreSQL's range.
func ValidTimestamp(ts int64) bool {
	return IsInfinite(ts) || ts >= minTimestamp && ts < endTimestamp
}

// ValidDate says whether d is infinite or within PostgreSQL's range.
func ValidDate(d int64) bool {
	return IsInfiniteDate(d) || d >= minDate && d < endDate
}

// Days returns the day number of a date; month and day may lie outside their usual range.
func Days(year, month, day int) int64 {
	y := int64(year)
	m := int64(month) - 1
	y += floorDiv(m, 12)
	m = floorMod(m, 12)
	// Years from March, so that the leap day is the last.
	if m < 2 {
		y--
		m += 12
	}
	m -= 2
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := (153*m + 2) / 5
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468 - unixDays + int64(day) - 1
}

// Civil returns the date of a day number.
func Civil(days int64) (year, month, day int) {
	z := days + 719468 + unixDays
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	y := yoe + era*400
	if month > 12 {
		month -= 12
		y++
	}
	return int(y), month, day
}

// JulianDay returns the Julian day of a day number.
func JulianDay(days int64) int64 { return days + julianEpoch }

// Weekday returns 0 for Sunday to 6 for Saturday.
func Weekday(days int64) int { return int(floorMod(days+6, 7)) }

// Leap says whether a year has 366 days.
func Leap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// DaysInMonth returns the length of a month.
func DaysInMonth(y, m int) int {
	switch m {
	case 2:
		if Leap(y) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// ISOWeek returns the ISO 8601 year and week of a day number.
func ISOWeek(days int64) (year, week int) {
	// The week's Thursday decides the year.
	thursday := days - floorMod(int64(Weekday(days))+6, 7) + 3
	y, _, _ := Civil(thursday)
	return y, int((thursday-Days(y, 1, 1))/7) + 1
}

// ISOWeekStart returns the Monday of an ISO week.
func ISOWeekStart(year, week int) int64 {
	jan4 := Days(year, 1, 4)
	return jan4 - floorMod(int64(Weekday(jan4))+6, 7) + int64(week-1)*7
}

// Split cuts a timestamp into day number and microseconds of the day.
func Split(ts int64) (days, micros int64) {
	days = floorDiv(ts, Day)
	return days, ts - days*Day
}

// Clock cuts microseconds of a day into its parts.
func Clock(us int64) (h, m, s, micros int) {
	return int(us / Hour), int(us / Minute % 60), int(us / Second % 60), int(us % Second)
}

// Join makes a timestamp; ok is false when it is out of range.
func Join(days, micros int64) (ts int64, ok bool) {
	if days < minDate-1 || days > endTimestamp/Day+1 {
		return 0, false
	}
	// At the lower limit the product alone may not overflow, the sum may not be out of range.
	ts = days*Day + micros
	if days > 0 && ts < 0 || days < -1 && ts > 0 {
		return 0, false
	}
	return ts, ts >= minTimestamp && ts < endTimestamp
}

var roundTo = [7]int64{1000000, 100000, 10000, 1000, 100, 10, 1}

// RoundMicros rounds half away from zero to prec digits after the second.
func RoundMicros(us int64, prec int) int64 {
	if prec < 0 || prec > 5 {
		return us
	}
	u := roundTo[prec]
	if us >= 0 {
		return (us + u/2) / u * u
	}
	return -((-us + u/2) / u * u)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
