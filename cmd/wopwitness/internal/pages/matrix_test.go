package pages_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func TestKillMatrixHTML(t *testing.T) {
	legs := []registry.Leg{{ID: "0250.a"}, {ID: "0250.b"}, {ID: "0236.c"}}
	defects := []pages.Defect{
		{Name: "one", Says: "is wrong <here>", RFC: "0250", Convicts: []string{"0250.a", "0236.c"}},
		{Name: "two", Says: "is wrong there", RFC: "0236", Convicts: []string{"0236.c"}},
	}
	var out strings.Builder
	if err := pages.KillMatrixHTML(&out, legs, defects); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for part, times := range map[string]int{
		"<table>": 2, `class="kills"`: 3, "0250.b": 0, "is wrong &lt;here&gt;": 1, "2 defects, 3 legs": 1, "<script": 0, "href": 0, "<h2>RFC 0236</h2>": 1,
	} {
		if got := strings.Count(page, part); got != times {
			t.Errorf("%s is there %d times, want %d", part, got, times)
		}
	}
}
