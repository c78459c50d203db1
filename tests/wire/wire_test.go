package wire

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"herd/tests/peer"
)

var (
	addr    = flag.String("addr", "", "host:port of a running server instead of a new herd")
	rewrite = flag.Bool("rewrite", false, "record the server's answers in the scripts; use it with a PostgreSQL 15 at -addr")
)

func TestScripts(t *testing.T) {
	server := *addr
	if server == "" {
		u, err := url.Parse(peer.StartHerdFor(t).URL)
		if err != nil {
			t.Fatal(err)
		}
		server = u.Host
	}
	files, err := filepath.Glob("testdata/*.wire")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".wire"), func(t *testing.T) { runScript(t, f, server) })
	}
}

func runScript(t *testing.T, file, server string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var c *Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for i := range blocks {
		b := &blocks[i]
		got, err := runBlock(&c, b, server)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, b.Line, err)
		}
		if *rewrite {
			b.Want = got
			continue
		}
		if g, w := strings.Join(got, "\n"), strings.Join(b.Want, "\n"); g != w {
			t.Errorf("%s:%d %s\n got:\n%s\n want:\n%s", file, b.Line, strings.Join(b.Send, " ; "), g, w)
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(render(string(text), blocks)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runBlock runs one block and returns the answers.
func runBlock(c **Conn, b *Block, server string) ([]string, error) {
	switch b.Command {
	case "connect":
		if *c != nil {
			(*c).Close()
		}
		version := uint64(3 << 16)
		params := []string{"user=postgres", "database=postgres"}
		for _, a := range b.Args {
			if v, ok := strings.CutPrefix(a, "protocol="); ok {
				version, _ = strconv.ParseUint(v, 10, 32)
				continue
			}
			params = append(params, strings.ReplaceAll(a, "~", " "))
		}
		next, err := Dial(server, uint32(version), params)
		if err != nil {
			return nil, err
		}
		*c = next
		got, err := next.Read(1)
		return startupOnly(got, len(b.Want) > 0 || *rewrite && len(b.Args) > 0), err
	case "send":
		n, err := strconv.Atoi(b.Args[0])
		if err != nil {
			return nil, err
		}
		var out []byte
		for _, line := range b.Send {
			frame, err := Encode(line)
			if err != nil {
				return nil, err
			}
			out = append(out, frame...)
		}
		if err := (*c).Write(out); err != nil {
			return nil, err
		}
		return (*c).Read(n)
	}
	return nil, fmt.Errorf("unknown command %q", b.Command)
}

// startupOnly keeps of a start-up answer what a script wants to see: everything but the parameters that name the server.
func startupOnly(lines []string, wanted bool) []string {
	if !wanted {
		return nil
	}
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, "S server_version=") || strings.HasPrefix(l, "S TimeZone=") || l == "K" {
			continue
		}
		out = append(out, l)
	}
	return out
}

// render writes a script with new answers, its comments and messages kept.
func render(old string, blocks []Block) string {
	byLine := make(map[int]*Block)
	for i := range blocks {
		byLine[blocks[i].Line] = &blocks[i]
	}
	var out strings.Builder
	var cur *Block
	skipping := false
	flush := func() {
		if cur != nil && len(cur.Want) > 0 {
			out.WriteString("----\n" + strings.Join(cur.Want, "\n") + "\n")
		}
		cur, skipping = nil, false
	}
	for i, line := range strings.Split(strings.TrimRight(old, "\n"), "\n") {
		if b := byLine[i+1]; b != nil {
			cur = b
		}
		switch {
		case strings.TrimSpace(line) == "":
			flush()
			out.WriteByte('\n')
		case line == "----":
			skipping = true
		case skipping && cur != nil:
		default:
			out.WriteString(line + "\n")
		}
	}
	flush()
	return out.String()
}

func TestEncode(t *testing.T) {
	got, err := Encode(`B "p" "s" text:ab null bin:0001 rf 0 1`)
	if err != nil {
		t.Fatal(err)
	}
	want := "B\x00\x00\x00\x28p\x00s\x00\x00\x03\x00\x00\x00\x00\x00\x01\x00\x03\x00\x00\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x02\x00\x01\x00\x02\x00\x00\x00\x01"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
