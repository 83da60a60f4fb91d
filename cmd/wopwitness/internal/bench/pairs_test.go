package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBothSidesTakeTurns(t *testing.T) {
	var turns []string
	takes := func(name string, values ...float64) side {
		return func(context.Context) (float64, error) {
			turns = append(turns, name)
			v := values[0]
			values = values[1:]
			return v, nil
		}
	}
	b := &bench{Options: Options{Rounds: 2, Progress: func(string) {}}}
	row := Row{Name: "x", Unit: perSecond}
	if err := b.pairs(t.Context(), &row, 2, takes("host", 10, 30, 1, 3), takes("limit", 40, 40, 8, 0)); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(turns, " "), "host limit limit host host limit limit host"; got != want {
		t.Errorf("expected %q, got %q", want, got)
	}
	if want := []Pair{{Host: 20, Limit: 40}, {Host: 2, Limit: 4}}; !slices.Equal(row.Rounds, want) {
		t.Errorf("expected %v, got %v", want, row.Rounds)
	}
	if row.Ratio != 0.5 {
		t.Errorf("expected 0.5, got %v", row.Ratio)
	}
}

func TestAFailureOfEitherSideEndsTheRow(t *testing.T) {
	broken := errors.New("broken")
	good := func(context.Context) (float64, error) { return 1, nil }
	bad := func(context.Context) (float64, error) { return 0, broken }
	for i, c := range [][2]side{{bad, good}, {good, bad}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := &bench{Options: Options{Rounds: 3, Progress: func(string) {}}}
			row := Row{Name: "x"}
			if err := b.pairs(t.Context(), &row, 1, c[0], c[1]); !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
			if len(row.Rounds) != 0 {
				t.Errorf("a round that failed was kept: %v", row.Rounds)
			}
		})
	}
}
