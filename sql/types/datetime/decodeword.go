package datetime

type wordKind uint8

const (
	wNone wordKind = iota
	wMonth
	wDay
	wAMPM
	wEra
	wNow
	wToday
	wTomorrow
	wYesterday
	wEpoch
	wInfinity
	wNegInfinity
	wAllballs
	wZulu
	wISOTime
	wJulian
	wIgnore
	wDST
	wUnit
)

type word struct {
	kind wordKind
	val  int
}

// words are the words of dates other than zone abbreviations; only the first ten letters of a longer one count.
var words = map[string]word{
	"jan": {wMonth, 1}, "january": {wMonth, 1}, "feb": {wMonth, 2}, "february": {wMonth, 2}, "mar": {wMonth, 3}, "march": {wMonth, 3},
	"apr": {wMonth, 4}, "april": {wMonth, 4}, "may": {wMonth, 5}, "jun": {wMonth, 6}, "june": {wMonth, 6}, "jul": {wMonth, 7},
	"july": {wMonth, 7}, "aug": {wMonth, 8}, "august": {wMonth, 8}, "sep": {wMonth, 9}, "sept": {wMonth, 9}, "september": {wMonth, 9},
	"oct": {wMonth, 10}, "october": {wMonth, 10}, "nov": {wMonth, 11}, "november": {wMonth, 11}, "dec": {wMonth, 12}, "december": {wMonth, 12},
	"sun": {wDay, 0}, "sunday": {wDay, 0}, "mon": {wDay, 1}, "monday": {wDay, 1}, "tue": {wDay, 2}, "tues": {wDay, 2}, "tuesday": {wDay, 2},
	"wed": {wDay, 3}, "weds": {wDay, 3}, "wednesday": {wDay, 3}, "thu": {wDay, 4}, "thur": {wDay, 4}, "thurs": {wDay, 4}, "thursday": {wDay, 4},
	"fri": {wDay, 5}, "friday": {wDay, 5}, "sat": {wDay, 6}, "saturday": {wDay, 6},
	"am": {wAMPM, 0}, "pm": {wAMPM, 1}, "ad": {wEra, 0}, "bc": {wEra, 1},
	"now": {wNow, 0}, "today": {wToday, 0}, "tomorrow": {wTomorrow, 0}, "yesterday": {wYesterday, 0}, "epoch": {wEpoch, 0},
	"infinity": {wInfinity, 0}, "+infinity": {wInfinity, 0}, "-infinity": {wNegInfinity, 0}, "allballs": {wAllballs, 0},
	"t": {wISOTime, 0}, "j": {wJulian, 0}, "jd": {wJulian, 0}, "julian": {wJulian, 0}, "at": {wIgnore, 0}, "on": {wIgnore, 0},
	"dst": {wDST, 0}, "y": {wUnit, 'y'}, "m": {wUnit, 'm'}, "d": {wUnit, 'd'}, "h": {wUnit, 'h'}, "mm": {wUnit, 'M'}, "s": {wUnit, 's'},
}

func lookupWord(s string) (word, bool) {
	if len(s) > 10 {
		s = s[:10]
	}
	w, ok := words[s]
	return w, ok
}

func knownWord(s string) bool {
	_, ok := lookupWord(s)
	return ok
}
