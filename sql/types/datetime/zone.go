package datetime

import (
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"herd/sql/sqlerr"
)

var zones struct {
	sync.Mutex
	byName map[string]*time.Location
}

// maxZones bounds the cache of zone names.
const maxZones = 2048

// LoadZone finds a time zone: an IANA name in any case, a fixed offset as "+05:30" never is a name but "UTC+3" or
// "<+03>-03" (POSIX: sign west) is. 22023 when there is none.
func LoadZone(name string) (*time.Location, error) {
	key := strings.ToLower(name)
	zones.Lock()
	defer zones.Unlock()
	if l, ok := zones.byName[key]; ok {
		return l, nil
	}
	l := findZone(name)
	if l == nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
	}
	if zones.byName == nil || len(zones.byName) > maxZones {
		zones.byName = map[string]*time.Location{}
	}
	zones.byName[key] = l
	return l, nil
}

func findZone(name string) *time.Location {
	if name == "" || strings.EqualFold(name, "local") || strings.Contains(name, "..") {
		return nil
	}
	if strings.EqualFold(name, "utc") {
		return time.UTC
	}
	for _, n := range []string{name, strings.ToUpper(name), titleZone(name)} {
		if l, err := time.LoadLocation(n); err == nil {
			return l
		}
	}
	return posixZone(name)
}

// titleZone gives a lower-case name the usual capitals: America/New_York, Etc/GMT+5, Africa/Porto-Novo.
func titleZone(name string) string {
	b := []byte(strings.ToLower(name))
	start := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && b[i] != '/' && b[i] != '_' && b[i] != '-' {
			continue
		}
		switch w := string(b[start:i]); w {
		case "of", "es", "au", "in":
			if start > 0 && b[start-1] == '/' {
				b[start] -= 32
			}
		case "gmt", "utc", "uct", "est", "us", "mst", "hst", "prc", "roc", "rok":
			copy(b[start:], strings.ToUpper(w))
		default:
			if start < i && b[start] >= 'a' && b[start] <= 'z' {
				b[start] -= 32
			}
		}
		start = i + 1
	}
	return string(b)
}

// posixZone reads ABC[+-]h[h][:mm[:ss]] and <name>offset with the offset west of Greenwich.
func posixZone(s string) *time.Location {
	abbr, rest := "", s
	if strings.HasPrefix(s, "<") {
		a, r, ok := strings.Cut(s[1:], ">")
		if !ok {
			return nil
		}
		abbr, rest = a, r
	} else {
		i := strings.IndexAny(s, "0123456789,-+") // as PostgreSQL: the name may be empty, and have anything in it
		if i < 0 {
			return nil
		}
		abbr, rest = s[:i], s[i:]
	}
	i := 0
	for i < len(rest) && (isDigit(rest[i]) || rest[i] == ':' || i == 0 && (rest[i] == '+' || rest[i] == '-')) {
		i++
	}
	west, ok := parseOffset(rest[:i])
	if !ok {
		return nil
	}
	if i < len(rest) && rest[i] != ',' { // rules need the name of their zone
		return ruleZone(s, rest[i:], abbr, -west)
	}
	if i < len(rest) {
		return nil
	}
	return time.FixedZone(strings.ToUpper(abbr), -west)
}

// ruleZone makes a zone of a POSIX string with daylight saving time: the rules hold for all times.
func ruleZone(text, dst, abbr string, east int) *time.Location {
	switch strings.Count(dst, ",") {
	case 0:
		text += ",M3.2.0,M11.1.0"
	case 2: // when it begins and when it ends
	default:
		return nil
	}
	text = strings.ToUpper(text)
	// A zone file without a transition but one at the beginning of time, and the rules for what follows it.
	be := func(b []byte, vs ...uint32) []byte {
		for _, v := range vs {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	head := append([]byte("TZif2"), make([]byte, 15)...)
	empty := be(append([]byte(nil), head...), 0, 0, 0, 0, 1, 1)
	empty = append(empty, 0, 0, 0, 0, 0, 0, 0)
	b := be(append(empty, head...), 0, 0, 0, 1, 1, uint32(len(abbr)+1))
	b = binary.BigEndian.AppendUint64(b, uint64(1)<<63|uint64(1)<<62) // the transition
	b = append(b, 0)                                                  // to type 0:
	b = append(be(b, uint32(int32(east))), 0, 0)
	b = append(append(b, abbr...), 0)
	b = append(append(append(b, '\n'), text...), '\n')
	l, err := time.LoadLocationFromTZData(text, b)
	if err != nil {
		return nil
	}
	if name, _ := time.Unix(0, 0).In(l).Zone(); name == "" {
		return nil
	}
	return l
}

func parseOffset(s string) (secs int, ok bool) {
	if s == "" {
		return 0, false
	}
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	unit := 3600
	for i, p := range strings.Split(s, ":") {
		v, err := strconv.Atoi(p)
		if err != nil || i > 2 || v > 167 || i > 0 && v > 59 || len(p) > 3 {
			return 0, false
		}
		secs += v * unit
		unit /= 60
	}
	if neg {
		secs = -secs
	}
	return secs, true
}

// FixedZone returns a zone with an offset east of Greenwich in seconds, named as PostgreSQL names one set by number.
func FixedZone(east int) *time.Location {
	a := east
	sign := byte('+')
	if a < 0 {
		sign, a = '-', -a
	}
	name := []byte{sign}
	name = append2(name, a/3600)
	if a%3600 != 0 {
		name = append2(append(name, ':'), a/60%60)
		if a%60 != 0 {
			name = append2(append(name, ':'), a%60)
		}
	}
	return time.FixedZone(string(name), east)
}

// OffsetAt returns seconds east of Greenwich and the abbreviation at a timestamptz value.
func OffsetAt(ts int64, zone *time.Location) (east int, abbr string) {
	if zone == nil || zone == time.UTC {
		return 0, "UTC"
	}
	abbr, east = time.Unix(floorDiv(ts, Second)+UnixEpoch, 0).In(zone).Zone()
	return east, abbr
}

// LocalToUTC converts a local timestamp of the zone. In a gap the time before the change counts, in an overlap the one after it.
func LocalToUTC(local int64, zone *time.Location) int64 {
	return local - int64(LocalOffset(local, zone))*Second
}

// LocalOffset returns seconds east of Greenwich at a local time of the zone.
func LocalOffset(local int64, zone *time.Location) int {
	if zone == nil || zone == time.UTC {
		return 0
	}
	sec := floorDiv(local, Second) + UnixEpoch
	prev := time.Unix(sec-86400, 0).In(zone)
	_, before := prev.Zone()
	_, end := prev.ZoneBounds()
	if end.IsZero() {
		return before
	}
	boundary := end.Unix()
	_, after := end.Zone()
	b, a := sec-int64(before), sec-int64(after)
	switch {
	case b < boundary && a < boundary:
		return before
	case b > boundary && a >= boundary:
		// A second change within a day of the first is looked for once more.
		if _, e2 := time.Unix(a, 0).In(zone).Zone(); e2 != after {
			return e2
		}
		return after
	case b > a: // the clock was set forward
		return before
	}
	return after
}

// ToLocal converts a timestamptz value to the zone's local timestamp.
func ToLocal(ts int64, zone *time.Location) int64 {
	if IsInfinite(ts) {
		return ts
	}
	east, _ := OffsetAt(ts, zone)
	return ts + int64(east)*Second
}

// abbrevZone returns the zone that an abbreviation means: fixed, or a zone whose rules apply.
func abbrevZone(word string) (z *time.Location, fixed bool, dst bool, ok bool) {
	a, ok := abbrevs[word]
	if !ok {
		return nil, false, false, false
	}
	if a.zone == "" {
		return time.FixedZone(strings.ToUpper(word), int(a.east)), true, a.dst, true
	}
	l, err := LoadZone(a.zone)
	return l, false, false, err == nil
}

// AbbrevOffset returns seconds east for an abbreviation whose meaning may depend on the local time.
func AbbrevOffset(word string, local int64) (east int, ok bool) {
	return abbrevOffset(word, local, abbrevIn)
}

// AbbrevOffsetAt is AbbrevOffset at a point in time instead of a local time.
func AbbrevOffsetAt(word string, ts int64) (east int, ok bool) {
	return abbrevOffset(word, ts, abbrevAt)
}

// abbrevOffset asks find for the offset of an abbreviation that is not fixed.
func abbrevOffset(word string, when int64, find func(word string, when int64, z *time.Location) int) (east int, ok bool) {
	z, fixed, _, ok := abbrevZone(strings.ToLower(word))
	if !ok {
		return 0, false
	}
	if fixed {
		_, east = time.Unix(0, 0).In(z).Zone()
		return east, true
	}
	return find(word, when, z), true
}

// abbrevIn finds the offset that zone z calls word, at the local time if it is in use then, otherwise the last time it was.
func abbrevIn(word string, local int64, z *time.Location) int {
	return abbrevAt(word, local-int64(LocalOffset(local, z))*Second, z)
}

func abbrevAt(word string, ts int64, z *time.Location) int {
	at := time.Unix(floorDiv(ts, Second)+UnixEpoch, 0).In(z)
	t := at
	for range 400 {
		name, off := t.Zone()
		if strings.EqualFold(name, word) {
			return off
		}
		start, _ := t.ZoneBounds()
		if start.IsZero() {
			break
		}
		t = start.Add(-time.Second)
	}
	_, east := at.Zone()
	return east
}
