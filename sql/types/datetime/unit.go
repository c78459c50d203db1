package datetime

// Unit is a field name of EXTRACT, date_part and date_trunc.
type Unit uint8

// Units.
const (
	UnitNone Unit = iota
	UnitMicrosecond
	UnitMillisecond
	UnitSecond
	UnitMinute
	UnitHour
	UnitDay
	UnitWeek
	UnitMonth
	UnitQuarter
	UnitYear
	UnitDecade
	UnitCentury
	UnitMillennium
	UnitJulian
	UnitISOYear
	UnitDow
	UnitISODow
	UnitDoy
	UnitEpoch
	UnitTimezone
	UnitTimezoneHour
	UnitTimezoneMinute
	UnitOther // a word of dates that is no field
)

var moreUnits = map[string]Unit{
	"quarter": UnitQuarter, "qtr": UnitQuarter, "julian": UnitJulian, "jd": UnitJulian, "j": UnitJulian, "isoyear": UnitISOYear, "dow": UnitDow,
	"isodow": UnitISODow, "doy": UnitDoy, "epoch": UnitEpoch, "timezone": UnitTimezone, "timezone_h": UnitTimezoneHour, "timezone_m": UnitTimezoneMinute,
	"now": UnitOther, "today": UnitOther, "infinity": UnitOther, "week": UnitWeek,
}

var unitOf = map[unit]Unit{
	uMicro: UnitMicrosecond, uMilli: UnitMillisecond, uSecond: UnitSecond, uMinute: UnitMinute, uHour: UnitHour, uDay: UnitDay, uWeek: UnitWeek,
	uMonth: UnitMonth, uYear: UnitYear, uDecade: UnitDecade, uCentury: UnitCentury, uMillennium: UnitMillennium,
}

// LookupUnit finds a unit by its name in any case; UnitNone when there is none.
func LookupUnit(name string) Unit {
	s := lower(name)
	if len(s) > 10 {
		s = s[:10]
	}
	if u, ok := moreUnits[s]; ok {
		return u
	}
	if u, ok := units[s]; ok {
		return unitOf[u]
	}
	return UnitNone
}
