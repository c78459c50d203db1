package datetime

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestCalendar(t *testing.T) {
	for days := minDate; days < 3_000_000; days += 97 {
		y, m, d := Civil(days)
		if Days(y, m, d) != days || m < 1 || m > 12 || d < 1 || d > DaysInMonth(y, m) {
			t.Fatalf("day %d is %d-%d-%d, which is day %d", days, y, m, d, Days(y, m, d))
		}
		if y < 1 || y > 9999 {
			continue
		}
		want := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days))
		if want.Year() != y || int(want.Month()) != m || want.Day() != d || int(want.Weekday()) != Weekday(days) {
			t.Fatalf("day %d is %d-%d-%d, want %v", days, y, m, d, want)
		}
		wy, ww := want.ISOWeek()
		if iy, iw := ISOWeek(days); iy != wy || iw != ww {
			t.Fatalf("ISO week of %v: %d %d, want %d %d", want, iy, iw, wy, ww)
		}
	}
}

// TestZones takes points in time through local time and back, away from the hours that occur twice.
func TestZones(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"America/New_York", "europe/paris", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "EST5EDT"} {
		z, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for range 2000 {
			ts := int64(rng.IntN(60*365*86400)) * Second
			local := ToLocal(ts, z)
			if back := LocalToUTC(local, z); back != ts {
				if bad++; ToLocal(back, z) != local {
					t.Fatalf("%s: %d is local %d, which is %d, whose local time differs", name, ts, local, back)
				}
			}
		}
		if bad > 5 {
			t.Errorf("%s: %d of 2000 times came back as others", name, bad)
		}
	}
	if _, err := LoadZone("Nowhere/Land"); err == nil {
		t.Error("an unknown zone loads")
	}
}

// TestRoundTrips parses what the Append functions print under all styles.
func TestRoundTrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	ny, _ := LoadZone("America/New_York")
	for _, style := range []Style{ISO, SQL, Postgres, German} {
		for _, order := range []Order{MDY, DMY, YMD} {
			c := &Config{DateStyle: style, DateOrder: order, Zone: ny, Now: func() int64 { return 0 }}
			if order == YMD && style != ISO || style == German && order != DMY {
				continue // printed with the month first; German is only set together with DMY
			}
			for range 500 {
				ts := rng.Int64N(8000*365*86400)*Second - 1900*365*Day + int64(rng.IntN(1000000))
				text := AppendTimestamp(nil, ts, c)
				if got, err := ParseTimestamp(text, c); err != nil || got != ts {
					t.Fatalf("style %d order %d: %s: %d %v, want %d", style, order, text, got, err, ts)
				}
				d, _ := Split(ts)
				text = AppendDate(nil, d, c)
				if got, err := ParseDate(text, c); err != nil || got != d {
					t.Fatalf("style %d order %d: %s: %d %v, want %d", style, order, text, got, err, d)
				}
			}
		}
	}
	for _, style := range []IntervalStyle{IntervalPostgres, IntervalPostgresVerbose, IntervalSQL, IntervalISO} {
		c := &Config{IntervalStyle: style}
		for range 2000 {
			v := Interval{rng.Int64N(1<<50) - 1<<49, int32(rng.IntN(20000) - 10000), int32(rng.IntN(20000) - 10000)}
			switch rng.IntN(4) {
			case 0:
				v.Micros = 0
			case 1:
				v.Days = 0
			case 2:
				v.Months = 0
			}
			text := AppendInterval(nil, v, c)
			if got, err := ParseInterval(text, c, -1); err != nil || got != v {
				t.Fatalf("style %d: %s: %v %v, want %v", style, text, got, err, v)
			}
		}
	}
}
