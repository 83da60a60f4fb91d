package curves

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func sample() Picture {
	return Picture{
		Name: "sample", Title: "Cost & size", Note: "flat is good", X: "size", Y: "µs", Log: true,
		Series: []Series{
			{"first", []Point{{1, 10}, {10, 20}, {1000, 4.567}}},
			{"second", []Point{{1, 5}, {10, 25}, {1000, 0}}},
		},
	}
}

func TestADrawingIsWholeAndTellsItsValues(t *testing.T) {
	var b bytes.Buffer
	if err := sample().SVG(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("it is no XML: %v\n%s", err, b.String())
		}
	}
	for _, want := range []string{
		"<title id=\"title\">Cost &amp; size</title>", "first: 10.0 at 1, 20.0 at 10, 4.57 at 1,000. second: 5.00 at 1, 25.0 at 10, 0 at 1,000.",
		`>4.57</text>`, `d="M103.8 `, "prefers-color-scheme: dark",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, b.String())
		}
	}
}

func TestWhatHasNoPlaceIsAnError(t *testing.T) {
	for name, change := range map[string]func(*Picture){
		"nothing":            func(p *Picture) { p.Series = nil },
		"0 on a log axis":    func(p *Picture) { p.Series[0].Points[0].X = 0 },
		"a cost less than 0": func(p *Picture) { p.Series[0].Points[0].Y = -1 },
	} {
		p := sample()
		change(&p)
		if err := p.SVG(io.Discard); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		most  float64
		steps int
		room  float64
		want  string
	}{
		{4.2, 5, 0.08, "0 1 2 3 4 5"}, {72, 7, 0.08, "0 20 40 60 80"}, {0.031, 5, 0.08, "0 0.01 0.02 0.03 0.04"}, {1999, 5, 0.08, "0 500 1,000 1,500 2,000 2,500"}, {0, 5, 0.08, "0 0.5 1 1.5"}, {1000, 7, 0, "0 200 400 600 800 1,000"},
	} {
		var got []string
		for _, k := range linear([]float64{c.most}, 0, 100, c.steps, c.room).ticks {
			got = append(got, k.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("up to %g: %v, want %s", c.most, got, c.want)
		}
	}
}

func TestTheTableHasEveryValue(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Table(&b); err != nil {
		t.Fatal(err)
	}
	want := "| size | first, µs | second, µs |\n| ---: | ---: | ---: |\n| 1 | 10.0 | 5.00 |\n| 10 | 20.0 | 25.0 |\n| 1,000 | 4.57 | 0 |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
