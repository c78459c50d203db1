package conf

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func set(t *testing.T, args ...string) []Setting {
	t.Helper()
	var out []Setting
	for _, a := range args {
		s, err := ParseSet(a)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	text := "# comment\nserver.port=7001\nserver.host = 10.0.0.1\nhttp.port: 7002\nserver.base.dir=${HOME}/x\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{File: file, Environ: []string{"HERD_SERVER_HOST=10.0.0.2", "HERD_HTTP_PORT=7003", "HERD_PASSWORD=x", "PATH=/"},
		Sets: set(t, "http.port=7004")})
	if err != nil {
		t.Fatal(err)
	}
	if c.Port != 7001 || c.Host != "10.0.0.2" || c.HTTPPort != 7004 || c.BaseDir != "${HOME}/x" || c.LogDir() != "${HOME}/x/txlog" {
		t.Fatalf("got %+v", c)
	}
	for key, want := range map[string]string{"server.port": "file " + file, "server.host": "environment HERD_SERVER_HOST", "http.port": "--set", "server.ssl": "default"} {
		if got := c.Source(key); got != want {
			t.Errorf("source of %s: %q, want %q", key, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	c, err := Load(Sources{Sets: set(t, "server.memory.max.limit=2G", "server.checkpoint.period=15m", "server.log.sync=20",
		"server.checkpoint.duration=1500", "server.ssl=on", "server.memory.page.size=16384", "server.checkpoint.page.dirty.max.threshold=0.5")})
	if err != nil {
		t.Fatal(err)
	}
	if c.MemoryMaxBytes != 2<<30 || c.CheckpointPeriod != 15*time.Minute || c.LogSync != (LogSync{SyncPeriod, 20 * time.Millisecond}) ||
		c.CheckpointDuration != 1500*time.Millisecond || !c.SSL || c.PageBytes != 16384 || c.CheckpointDirtyThreshold != 0.5 {
		t.Fatalf("got %+v", c)
	}
}

// Every refusal names key, value and what is allowed.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		set  string
		want []string
	}{
		{"server.prot=1", []string{"server.prot", `"1"`, "did you mean server.port", "herd conf"}},
		{"server.port=x", []string{"server.port", `"x"`, "0 to 65535"}},
		{"server.port=65536", []string{"server.port", `"65536"`, "out of range", "0 to 65535"}},
		{"server.port=-1", []string{"out of range"}},
		{"server.mode=raft", []string{"server.mode", `"raft"`, "standalone", "cluster"}},
		{"server.auth=md5", []string{"server.auth", `"md5"`, "trust | scram"}},
		{"server.ssl=maybe", []string{"server.ssl", "true | false"}},
		{"server.memory.page.size=1K", []string{"server.memory.page.size", `"1K"`, "4K to 32K"}},
		{"server.memory.page.size=99999999999G", []string{"out of range"}},
		{"server.memory.page.size=big", []string{"not a size"}},
		{"server.memory.max.limit=1M", []string{"server.memory.max.limit", "64M"}},
		{"server.log.sync=sometimes", []string{"server.log.sync", "always | never"}},
		{"server.log.sync=0", []string{"out of range"}},
		{"server.checkpoint.page.fill.min.threshold=1.5", []string{"0 to 1"}},
		{"server.checkpoint.page.fill.min.threshold=NaN", []string{"not a number"}},
		{"server.checkpoint.period=99999999999999999", []string{"out of range"}},
		{"server.checkpoint.log.max=4M", []string{"server.checkpoint.log.max", "server.log.segment.size (64M)"}},
		{"server.ssl.cert.file=x", []string{"server.ssl.key.file"}},
		{"server.base.dir=", []string{"server.base.dir"}},
		{"server.log.sync=-5", []string{"out of range"}},
		{"server.log.sync=60001", []string{"out of range", "1 to 60000"}},
		{"server.memory.max.limit=-1", []string{"server.memory.max.limit"}},
		{"server.memory.max.limit=much", []string{"not a size"}},
		{"server.checkpoint.period=soon", []string{"server.checkpoint.period"}},
		{"server.checkpoint.duration=-1", []string{"server.checkpoint.duration", "out of range"}},
		{"server.checkpoint.page.dirty.max.threshold=-0.1", []string{"0 to 1"}},
		{"http.enabled=perhaps", []string{"http.enabled", "true | false"}},
		{"http.port=65536", []string{"http.port", "out of range"}},
	} {
		_, err := Load(Sources{Sets: set(t, test.set)})
		if err == nil {
			t.Errorf("%s: no error", test.set)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q lacks %q", test.set, err, want)
			}
		}
	}
	if _, err := Load(Sources{Environ: []string{"HERD_SERVER_PROT=1"}}); err == nil || !strings.Contains(err.Error(), "HERD_SERVER_PROT") {
		t.Errorf("unknown variable: %v", err)
	}
	if _, err := Load(Sources{File: filepath.Join(t.TempDir(), "absent")}); err == nil {
		t.Error("absent file: no error")
	}
	if _, err := ParseSet("server.port"); err == nil {
		t.Error("--set without value: no error")
	}
}

// The printed example, with every line made active, loads and gives the defaults.
func TestExampleLoads(t *testing.T) {
	var b bytes.Buffer
	if err := WriteExample(&b); err != nil {
		t.Fatal(err)
	}
	var active strings.Builder
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "#server.") || strings.HasPrefix(line, "#http.") {
			line = line[1:]
		}
		active.WriteString(line)
	}
	file := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(file, []byte(active.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.sources) != len(Keys()) {
		t.Fatalf("the file sets %d of %d keys", len(c.sources), len(Keys()))
	}
	def, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var values bytes.Buffer
	if err := c.WriteValues(&values); err != nil || !strings.Contains(values.String(), "server.port=5432  # file "+file+"\n") {
		t.Errorf("values in force: %v\n%s", err, values.String())
	}
	if got, want := *c, *def; got.Address() != want.Address() || got.MemoryMaxBytes != want.MemoryMaxBytes || got.LogSync != want.LogSync {
		t.Fatalf("example gives %+v, defaults are %+v", got, want)
	}
}

// Each key writes to a field of its own.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		if seen[k.Name] || seen[k.Env()] {
			t.Errorf("%s stands twice", k.Name)
		}
		seen[k.Name], seen[k.Env()] = true, true
		if !strings.HasSuffix(k.Meaning, ".") || k.Allowed == "" || k.Kind == "" {
			t.Errorf("%s lacks meaning, kind or bounds", k.Name)
		}
	}
	var b bytes.Buffer
	if err := WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys() {
		if !strings.Contains(b.String(), k.Name+" = ") || !strings.Contains(b.String(), k.Meaning) {
			t.Errorf("herd conf does not print %s", k.Name)
		}
	}
}

// A secret shows that it is set, and not what it is.
func TestSecretIsNotPrinted(t *testing.T) {
	c, err := Load(Sources{Environ: []string{"HERD_SERVER_CLUSTER_SECRET=tell nobody about this"}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.WriteValues(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "tell nobody") || !strings.Contains(b.String(), "server.cluster.secret=********") {
		t.Errorf("the values printed are\n%s", b.String())
	}
	if c.ClusterSecret != "tell nobody about this" {
		t.Errorf("the secret is %q", c.ClusterSecret)
	}
}
