package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// meter tells of the progress of something long: in one line of a terminal, else in a line a second.
type meter struct {
	out      io.Writer
	mute     bool
	terminal bool
	last     time.Time
	shown    bool
}

func newMeter(out io.Writer, mute bool) *meter {
	m := &meter{out: out, mute: mute, last: time.Now()}
	if f, ok := out.(*os.File); ok {
		m.terminal = term.IsTerminal(int(f.Fd()))
	}
	return m
}

// show prints a line if it is time for one.
func (m *meter) show(format string, args ...any) {
	if m.mute || time.Since(m.last) < time.Second {
		return
	}
	m.last = time.Now()
	text := fmt.Sprintf(format, args...)
	if m.terminal {
		m.shown = true
		fmt.Fprintf(m.out, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(m.out, text)
}

// end makes room for other output on a terminal.
func (m *meter) end() {
	if m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
