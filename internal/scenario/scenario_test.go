package scenario

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPlay(t *testing.T) {
	var got []string
	Play(t, "# a comment\n\nnodes 3\nrun 1ms\n  cut leader n2\n", func(verb string, args []string) error {
		got = append(got, verb+":"+strings.Join(args, ","))
		return nil
	})
	if want := []string{"nodes:3", "cut:leader,n2"}; !slices.Equal(got, want) {
		t.Errorf("steps %q, expected %q", got, want)
	}
}

func TestNamed(t *testing.T) {
	down := map[string]bool{"n2": true}
	x := Nodes[string]{
		All:  func() []string { return []string{"n1", "n2", "n3"} },
		ID:   func(n string) string { return n },
		Down: func(n string) bool { return down[n] }, Leader: func() string { return "n1" },
	}
	var got []string
	note := func(n string) error { got = append(got, n); return nil }
	if err := x.Each([]string{"leader", "follower", "n2"}, note); err != nil || !slices.Equal(got, []string{"n1", "n3", "n2"}) {
		t.Errorf("nodes %q: %v", got, err)
	}
	if _, err := x.Named("n4"); err == nil {
		t.Error("a node that is none has a name")
	}
	stop := errors.New("stop")
	if err := x.Each([]string{"n1", "n2"}, func(string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a step that failed is told as %v", err)
	}
	down["n3"] = true
	if n, err := x.Named("follower"); err == nil {
		t.Errorf("%s is down and chosen", n)
	}
	if _, err := Duration(nil); err == nil {
		t.Error("no duration is one")
	}
	if n, err := Number([]string{"7"}); n != 7 || err != nil {
		t.Errorf("number %d: %v", n, err)
	}
	if _, err := Number(nil); err == nil {
		t.Error("no number is one")
	}
}
