// Package curves draws how a cost grows with a size, as SVG files that are read in a browser or on a page, on light ground
// and on dark.
//
// It measures nothing. Start at Picture; scale.go places values, and picture.svg.tmpl is the drawing.
package curves

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// Picture is one drawing: curves over one horizontal axis, whose vertical axis begins at 0.
type Picture struct {
	Name   string // of its file, without the ending
	Title  string // what grows with what
	Note   string // how to read it, in one line
	X, Y   string // what the axes measure, units included
	Log    bool   // the horizontal axis is logarithmic; its values are above 0
	Series []Series
}

// Series is one curve. Its points go from left to right.
type Series struct {
	Name   string
	Points []Point
}

// Point is one measurement.
type Point struct{ X, Y float64 }

// The drawing's size and the ground of the curves in it, in SVG's units.
const (
	width, height            = 760, 420
	left, right, top, bottom = 78, 36, 96, 62
)

// underValue is how far below its point a value stands that has no room above.
const underValue = 20

// valueRoom is the part of the greatest value that is left above it, for its text.
const valueRoom = 0.08

//go:embed picture.svg.tmpl
var drawing string

// drawn is a picture with everything in its place.
type drawn struct {
	Picture
	Width, Height            int
	InnerWidth, InnerHeight  int     // within the edge
	Left, Right, Top, Bottom float64 // of the ground
	Middle                   float64 // of its height
	Centre                   float64 // of its width
	Verticals, Levels        []tick
	Curves                   []curve
	Told                     string // the values, for those who don't see them
}

type tick struct {
	At   float64
	Text string
}

type curve struct {
	Name   string
	Number int     // from 1: its colour
	KeyAt  float64 // of its name in the key
	Path   string
	Dots   []dot
}

type dot struct {
	X, Y float64
	Text string
	// TextY is where its value stands: above the curve, or below another's.
	TextY float64
}

// SVG writes the drawing. A picture without points is an error.
func (p Picture) SVG(out io.Writer) error {
	var xs, ys []float64
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if pt.X <= 0 && p.Log || math.IsNaN(pt.Y) || pt.Y < 0 {
				return fmt.Errorf("draw %s: the point (%g, %g) has no place", p.Name, pt.X, pt.Y)
			}
			xs, ys = append(xs, pt.X), append(ys, pt.Y)
		}
	}
	if len(xs) == 0 {
		return fmt.Errorf("draw %s: there is nothing to draw", p.Name)
	}
	x, y := linear(xs, left, width-right, 7, 0), linear(ys, height-bottom, top, 5, valueRoom)
	if p.Log {
		x = logarithmic(xs, left, width-right)
	}
	d := drawn{
		Picture: p, Width: width, Height: height, InnerWidth: width - 2, InnerHeight: height - 2,
		Left: left, Right: width - right, Top: top, Bottom: height - bottom,
		Middle: (top + height - bottom) / 2.0, Centre: (left + width - right) / 2.0,
		Verticals: x.ticks, Levels: y.ticks,
	}
	keyAt := float64(left)
	for n, s := range p.Series {
		c := curve{Name: s.Name, Number: n + 1, KeyAt: keyAt}
		keyAt += 40 + 7*float64(len(s.Name))
		var told []string
		for i, pt := range s.Points {
			o := dot{X: x.place(pt.X), Y: y.place(pt.Y), Text: figure(pt.Y)}
			o.TextY = o.Y - 10
			if p.below(n, i) && o.Y+underValue < height-bottom {
				o.TextY = o.Y + underValue
			}
			command := "L"
			if i == 0 {
				command = "M"
			}
			c.Path += fmt.Sprintf("%s%.1f %.1f", command, o.X, o.Y)
			c.Dots = append(c.Dots, o)
			told = append(told, figure(pt.Y)+" at "+grouped(pt.X))
		}
		d.Curves = append(d.Curves, c)
		d.Told += s.Name + ": " + strings.Join(told, ", ") + ". "
	}
	t, err := template.New("picture").Parse(drawing)
	if err != nil {
		return err
	}
	if err := t.Execute(out, d); err != nil {
		return fmt.Errorf("draw %s: %w", p.Name, err)
	}
	return nil
}

// below says that a value stands below its point, since another curve passes above it there.
func (p Picture) below(series, point int) bool {
	own := p.Series[series].Points[point]
	for n, other := range p.Series {
		for _, pt := range other.Points {
			if n != series && pt.X == own.X && pt.Y > own.Y {
				return true
			}
		}
	}
	return false
}

// Table writes the values as a Markdown table, a row for each place on the horizontal axis.
func (p Picture) Table(out io.Writer) error {
	head, line := "| "+p.X, "| ---:"
	for _, s := range p.Series {
		name := p.Y
		if len(p.Series) > 1 {
			name = s.Name + ", " + p.Y
		}
		head, line = head+" | "+name, line+" | ---:"
	}
	fmt.Fprintf(out, "%s |\n%s |\n", head, line)
	for i, pt := range p.Series[0].Points {
		row := "| " + grouped(pt.X)
		for _, s := range p.Series {
			row += " | " + figure(s.Points[i].Y)
		}
		fmt.Fprintln(out, row+" |")
	}
	_, err := fmt.Fprintln(out)
	return err
}
