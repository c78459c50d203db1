package conf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Key is one row of the configuration table.
type Key struct {
	// Name is the key as it stands in server.properties, for example "server.port".
	Name string
	// Default is the value used when no source names the key, written as in the file.
	Default string
	// Kind is a word for the sort of value: string, bool, integer, fraction, bytes, milliseconds or choice.
	Kind string
	// Allowed describes the values the key takes, for messages and for `herd conf`.
	Allowed string
	// Meaning is one sentence for people.
	Meaning string
	// Secret values are not printed.
	Secret bool

	set func(c *Config, text string) error
}

// Env returns the environment variable that sets the key: "HERD_SERVER_PORT" for "server.port".
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

func stringKey(name, def, allowed string, at func(*Config) *string, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "string", Allowed: allowed, Meaning: meaning,
		set: func(c *Config, text string) error { *at(c) = text; return nil }}
}

func secretKey(name, def, allowed string, at func(*Config) *string, meaning string) Key {
	k := stringKey(name, def, allowed, at, meaning)
	k.Secret = true
	return k
}

func choiceKey(name, def string, choices []string, at func(*Config) *string, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "choice", Allowed: strings.Join(choices, " | "), Meaning: meaning,
		set: func(c *Config, text string) error {
			if !slices.Contains(choices, text) {
				return fmt.Errorf("is none of %s", strings.Join(choices, ", "))
			}
			*at(c) = text
			return nil
		}}
}

func boolKey(name, def string, at func(*Config) *bool, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "bool", Allowed: "true | false", Meaning: meaning,
		set: func(c *Config, text string) error {
			switch strings.ToLower(text) {
			case "true", "on", "yes", "1":
				*at(c) = true
			case "false", "off", "no", "0":
				*at(c) = false
			default:
				return fmt.Errorf("is not a boolean")
			}
			return nil
		}}
}

func intKey(name, def string, low, high int64, at func(*Config) *int64, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "integer", Allowed: fmt.Sprintf("%d to %d", low, high), Meaning: meaning,
		set: func(c *Config, text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("is not a whole number")
			}
			return store(at(c), n, low, high)
		}}
}

func fractionKey(name, def string, at func(*Config) *float64, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "fraction", Allowed: "0 to 1", Meaning: meaning,
		set: func(c *Config, text string) error {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(f) {
				return fmt.Errorf("is not a number")
			}
			return store(at(c), f, 0, 1)
		}}
}

func bytesKey(name, def string, low, high int64, at func(*Config) *int64, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "bytes",
		Allowed: formatBytes(low) + " to " + formatBytes(high) + " (plain bytes, or K, M, G, T)", Meaning: meaning,
		set: func(c *Config, text string) error {
			n, err := ParseBytes(text)
			if err != nil {
				return err
			}
			return store(at(c), n, low, high)
		}}
}

func millisKey(name, def string, low, high time.Duration, at func(*Config) *time.Duration, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "milliseconds",
		Allowed: fmt.Sprintf("%d to %d (plain milliseconds, or 500ms, 30s, 15m)", low.Milliseconds(), high.Milliseconds()), Meaning: meaning,
		set: func(c *Config, text string) error {
			d, err := parseMillis(text)
			if err != nil {
				return err
			}
			return store(at(c), d, low, high)
		}}
}

// syncKey reads the log's durability: always, never, or a period in milliseconds.
func syncKey(name, def string, at func(*Config) *LogSync, meaning string) Key {
	return Key{Name: name, Default: def, Kind: "choice", Allowed: "always | never | a period of 1 to 60000 (milliseconds)", Meaning: meaning,
		set: func(c *Config, text string) error {
			switch text {
			case "always":
				*at(c) = LogSync{Mode: SyncAlways}
				return nil
			case "never":
				*at(c) = LogSync{Mode: SyncNever}
				return nil
			}
			d, err := parseMillis(text)
			if err != nil {
				return fmt.Errorf("is neither always, never nor a period")
			}
			if d < time.Millisecond || d > time.Minute {
				return fmt.Errorf("is out of range")
			}
			*at(c) = LogSync{Mode: SyncPeriod, Period: d}
			return nil
		}}
}

func store[T int64 | float64 | time.Duration](at *T, v, low, high T) error {
	if v < low || v > high {
		return fmt.Errorf("is out of range")
	}
	*at = v
	return nil
}

// ParseBytes reads a size: a whole number, with K, M, G or T for powers of 1024 and an optional B or iB after it.
func ParseBytes(text string) (int64, error) {
	s := strings.ToUpper(strings.TrimSpace(text))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "I")
	shift := 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte("KMGT", s[n-1]); i >= 0 {
			shift, s = 10*(i+1), strings.TrimSpace(s[:n-1])
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("is not a size in bytes")
	}
	if n > math.MaxInt64>>shift || n < 0 {
		return 0, fmt.Errorf("is out of range")
	}
	return n << shift, nil
}

func parseMillis(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > math.MaxInt64/int64(time.Millisecond) || n < math.MinInt64/int64(time.Millisecond) {
			return 0, fmt.Errorf("is out of range")
		}
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("is not a time in milliseconds")
	}
	return d, nil
}

func formatBytes(n int64) string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if size := int64(1) << (10 * (4 - i)); n >= size && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}
