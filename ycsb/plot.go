package ycsb

import (
	"fmt"
	"image/color"
	"io"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a plot: one panel of latencies and one of throughput a phase, below each other.
const (
	plotWidth     = 30 * vg.Centimeter
	latencyHeight = 10 * vg.Centimeter
	rateHeight    = 4 * vg.Centimeter
)

var (
	lineColors = []color.Color{color.RGBA{0x2c, 0x7f, 0xb8, 0xff}, color.RGBA{0x41, 0xab, 0x5d, 0xff}, color.RGBA{0xe6, 0x85, 0x1b, 0xff}, color.RGBA{0xc5, 0x1b, 0x3a, 0xff}}
	markColors = map[string]color.Color{MarkCheckpoint: color.Gray{0x70}, MarkIndexBegin: color.RGBA{0x7b, 0x32, 0x94, 0xff}, MarkIndexEnd: color.RGBA{0x7b, 0x32, 0x94, 0xff}}
)

// WritePlot draws the seconds of the phases that have a series as an SVG: p50, p99, p99.9 and maximum on a logarithmic scale,
// operations a second, and upright lines where checkpoints ended and an index was built.
func (r *Report) WritePlot(w io.Writer) error {
	var panels []*plot.Plot
	var heights []vg.Length
	height := vg.Length(0)
	for _, p := range r.Phases {
		if len(p.Series) == 0 {
			continue
		}
		latency, rate, err := p.panels()
		if err != nil {
			return fmt.Errorf("plot of %s %s: %w", p.Server, p.Workload, err)
		}
		panels, heights = append(panels, latency, rate), append(heights, latencyHeight, rateHeight)
		height += latencyHeight + rateHeight
	}
	if len(panels) == 0 {
		return fmt.Errorf("plot: no phase has a series")
	}
	canvas := vgsvg.New(plotWidth, height)
	top := height
	for i, p := range panels {
		p.Draw(draw.Canvas{Canvas: canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: 0, Y: top - heights[i]}, Max: vg.Point{X: plotWidth - vg.Centimeter, Y: top}}})
		top -= heights[i]
	}
	_, err := canvas.WriteTo(w)
	return err
}

// panels returns the two panels of a phase.
func (p *Phase) panels() (latency, rate *plot.Plot, err error) {
	latency, rate = plot.New(), plot.New()
	latency.Title.Text = fmt.Sprintf("%s, %s, %.0f ops/s", p.Server, p.Workload, p.Throughput)
	latency.Y.Label.Text, rate.Y.Label.Text, rate.X.Label.Text = "latency, ms", "ops/s", "seconds"
	latency.Y.Scale, latency.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	low, high := 1e9, 0.0
	for i, of := range []struct {
		name  string
		value func(s *Second) int64
	}{
		{"p50", func(s *Second) int64 { return s.P50 }}, {"p99", func(s *Second) int64 { return s.P99 }},
		{"p99.9", func(s *Second) int64 { return s.P999 }}, {"max", func(s *Second) int64 { return s.Max }},
	} {
		var points plotter.XYs
		for j := range p.Series {
			if s := &p.Series[j]; s.Ops > 0 {
				ms := float64(of.value(s)) / float64(time.Millisecond)
				points = append(points, plotter.XY{X: float64(s.Second), Y: ms})
				low, high = min(low, ms), max(high, ms)
			}
		}
		if len(points) == 0 {
			continue
		}
		if err := addLine(latency, points, of.name, lineColors[i], nil); err != nil {
			return nil, nil, err
		}
	}
	latency.Y.Min, latency.Y.Max = low/2, max(high*2, low)
	points, top := make(plotter.XYs, len(p.Series)), 1.0
	for i, s := range p.Series {
		points[i] = plotter.XY{X: float64(s.Second), Y: float64(s.Ops)}
		top = max(top, float64(s.Ops))
	}
	if err := addLine(rate, points, "", lineColors[0], nil); err != nil {
		return nil, nil, err
	}
	rate.Y.Min, rate.Y.Max = 0, top*1.05
	if err := p.addMarks(latency, rate); err != nil {
		return nil, nil, err
	}
	for _, panel := range []*plot.Plot{latency, rate} {
		panel.X.Min, panel.X.Max = 0, float64(len(p.Series))
	}
	latency.Legend.Top = true
	return latency, rate, nil
}

// addMarks draws an upright line in both panels for each mark.
func (p *Phase) addMarks(latency, rate *plot.Plot) error {
	named := map[string]bool{}
	for _, m := range p.Marks {
		for _, panel := range []*plot.Plot{latency, rate} {
			name := ""
			if panel == latency && !named[m.What] {
				name, named[m.What] = m.What, true
			}
			upright := plotter.XYs{{X: m.Seconds, Y: panel.Y.Min}, {X: m.Seconds, Y: panel.Y.Max}}
			if err := addLine(panel, upright, name, markColors[m.What], []vg.Length{vg.Points(3), vg.Points(3)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func addLine(p *plot.Plot, points plotter.XYs, name string, c color.Color, dashes []vg.Length) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Dashes = c, dashes
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}
