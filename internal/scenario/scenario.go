package scenario

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ErrUnknown is returned for a verb that is none.
var ErrUnknown = errors.New("unknown step")

// Files plays every file of testdata/scenarios, each so many rounds, in simulated time.
func Files(t *testing.T, rounds int, play func(t *testing.T, text string, round int)) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { play(t, string(text), round) })
			})
		}
	}
}

// Play does one step after the other. "run DURATION" lets time pass, every other verb is for step.
func Play(t *testing.T, text string, step func(verb string, args []string) error) {
	t.Helper()
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		var err error
		if f[0] == "run" {
			var d time.Duration
			d, err = Duration(f[1:])
			time.Sleep(d)
		} else {
			err = step(f[0], f[1:])
		}
		if err != nil {
			t.Fatalf("line %d, %q: %v", n+1, line, err)
		}
	}
}

// Duration reads a step's first argument.
func Duration(args []string) (time.Duration, error) {
	if len(args) == 0 {
		return 0, errors.New("a duration is missing")
	}
	return time.ParseDuration(args[0])
}

// Number reads a step's only argument.
func Number(args []string) (int64, error) {
	if len(args) != 1 {
		return 0, errors.New("one number is expected")
	}
	return strconv.ParseInt(args[0], 10, 64)
}

// Nodes is how a scenario names those of type N.
type Nodes[N comparable] struct {
	All    func() []N
	ID     func(N) string
	Down   func(N) bool
	Leader func() N // waits until there is one
}

// Named returns the node of that id, or the one that leads, or one that does not and is up.
func (x Nodes[N]) Named(name string) (N, error) {
	all := x.All()
	i := -1
	switch name {
	case "leader":
		return x.Leader(), nil
	case "follower":
		lead := x.Leader()
		i = slices.IndexFunc(all, func(n N) bool { return n != lead && !x.Down(n) })
	default:
		i = slices.IndexFunc(all, func(n N) bool { return x.ID(n) == name })
	}
	if i < 0 {
		var none N
		return none, fmt.Errorf("no node %s", name)
	}
	return all[i], nil
}

// Served connects with somebody who serves the other end, and closes it then; whether that went well shows at this end.
func Served(serve func(io.ReadWriter) error) io.ReadWriteCloser {
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		_ = serve(there) // the other end sees that it is not whole
	}()
	return here
}

// Each calls f with every node that args name.
func (x Nodes[N]) Each(args []string, f func(N) error) error {
	for _, a := range args {
		n, err := x.Named(a)
		if err == nil {
			err = f(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
