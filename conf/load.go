package conf

import (
	"fmt"
	"os"
	"strings"

	"github.com/magiconair/properties"
)

const envPrefix = "HERD_"

// Sources says where Load takes values from. The zero value gives the defaults.
type Sources struct {
	// File is the path of a server.properties file; empty for none.
	File string
	// Environ is the environment as os.Environ gives it; nil for none.
	Environ []string
	// Sets are key=value pairs of the command line, in order; a later one wins.
	Sets []Setting
}

// Setting is one value given on the command line.
type Setting struct {
	// Key and Value are the two sides of key=value.
	Key, Value string
	// Flag is the flag it was given with, for messages: "--set" or "--port".
	Flag string
}

// ParseSet splits the argument of --set. It fails when there is no equals sign or no key before it.
func ParseSet(arg string) (Setting, error) {
	key, value, ok := strings.Cut(arg, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Setting{}, fmt.Errorf("--set %s: expected key=value", arg)
	}
	return Setting{Key: key, Value: strings.TrimSpace(value), Flag: "--set"}, nil
}

// Load builds the configuration from defaults, file, environment and command line, each replacing the one before.
// Errors name the key, the value, the source and what is allowed. Called by cmd/herd.
func Load(s Sources) (*Config, error) {
	c := &Config{sources: map[string]string{}, texts: map[string]string{}}
	for i := range table {
		if err := table[i].set(c, table[i].Default); err != nil {
			return nil, fmt.Errorf("default of %s: value %q %w", table[i].Name, table[i].Default, err)
		}
		c.texts[table[i].Name] = table[i].Default
	}
	if s.File != "" {
		if err := c.loadFile(s.File); err != nil {
			return nil, err
		}
	}
	if err := c.loadEnviron(s.Environ); err != nil {
		return nil, err
	}
	for _, set := range s.Sets {
		if err := c.put(set.Key, set.Value, set.Flag); err != nil {
			return nil, err
		}
	}
	return c, c.check()
}

func (c *Config) loadFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	// Values are taken literally: ${x} is HerdDB's, too, never expanded.
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	p, err := loader.LoadBytes(text)
	if err != nil {
		return fmt.Errorf("read configuration %s: %w", path, err)
	}
	for _, name := range p.Keys() {
		value, _ := p.Get(name)
		if err := c.put(name, strings.TrimSpace(value), "file "+path); err != nil {
			return err
		}
	}
	return nil
}

// loadEnviron reads HERD_SERVER_* and HERD_HTTP_*. Other HERD_ variables (HERD_PASSWORD) belong to somebody else.
func (c *Config) loadEnviron(environ []string) error {
	byEnv := make(map[string]string, len(table))
	for i := range table {
		byEnv[table[i].Env()] = table[i].Name
	}
	for _, line := range environ {
		variable, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(variable, envPrefix+"SERVER_") && !strings.HasPrefix(variable, envPrefix+"HTTP_") {
			continue
		}
		name, ok := byEnv[variable]
		if !ok {
			return fmt.Errorf("environment variable %s: no such key; `herd conf` lists all", variable)
		}
		if err := c.put(name, strings.TrimSpace(value), "environment "+variable); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) put(name, value, source string) error {
	key := find(name)
	if key == nil {
		return fmt.Errorf("%s: unknown key %s (value %q)%s; `herd conf` lists all", source, name, value, suggest(name))
	}
	if err := key.set(c, value); err != nil {
		return fmt.Errorf("%s: %s = %q %w; allowed: %s", source, name, value, err, key.Allowed)
	}
	c.sources[name], c.texts[name] = source, value
	return nil
}

// check looks at relations between keys.
func (c *Config) check() error {
	if (c.ClusterCert == "") != (c.ClusterKey == "") || (c.ClusterCert == "") != (c.ClusterCA == "") {
		return fmt.Errorf("server.cluster.tls.cert = %q, server.cluster.tls.key = %q and server.cluster.tls.ca = %q must be given together",
			c.ClusterCert, c.ClusterKey, c.ClusterCA)
	}
	if (c.SSLCertFile == "") != (c.SSLKeyFile == "") {
		return fmt.Errorf("server.ssl.cert.file = %q and server.ssl.key.file = %q must be given together", c.SSLCertFile, c.SSLKeyFile)
	}
	if c.BaseDir == "" {
		return fmt.Errorf("server.base.dir = \"\" is not a folder")
	}
	const leastMemory = 64 * mib
	if c.MemoryMaxBytes != 0 && c.MemoryMaxBytes < leastMemory {
		return fmt.Errorf("server.memory.max.limit = %d is too little; allowed: 0, or %s and more", c.MemoryMaxBytes, formatBytes(leastMemory))
	}
	if c.CheckpointLogBytesMax < c.LogSegmentBytes {
		return fmt.Errorf("server.checkpoint.log.max = %s is less than one file of the log; allowed: server.log.segment.size (%s) and more",
			formatBytes(c.CheckpointLogBytesMax), formatBytes(c.LogSegmentBytes))
	}
	return nil
}

// suggest finds a key that the writer of an unknown one may have meant.
func suggest(name string) string {
	best, bestDistance := "", len(name)/3+1
	for i := range table {
		if d := distance(name, table[i].Name); d < bestDistance {
			best, bestDistance = table[i].Name, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// distance is the number of single-byte edits between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
