package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/selfcheck"
)

// TestSelfcheckServesTheDefect is the whole way once: this program, its mock host wrong in one way, the legs, the
// bundle, the file judged again.
func TestSelfcheckServesTheDefect(t *testing.T) {
	got := invoke(t, nil, "selfcheck", "--defect", "refusal-not-found", "--json")
	var r selfcheck.Result
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v in\n%s%s", err, got.stdout, got.stderr)
	}
	if got.code != 0 || len(r.Problems) != 0 || len(r.Defects) != 1 {
		t.Fatalf("exit %d with %+v\n%s", got.code, r, got.stderr)
	}
	if d := r.Defects[0]; len(d.Convicted) == 0 || !slices.Equal(d.Convicted, d.Claims) {
		t.Errorf("convicted %v, claimed %v", d.Convicted, d.Claims)
	}
}

func TestADefectiveHostIsConvicted(t *testing.T) {
	got := invoke(t, nil, "certify", "--defect", "refusal-not-found", "--leg", "0250.cursor-refused", "--event-timeout", "1s")
	if got.code != 1 || !strings.Contains(got.stdout, "FAIL  0250.cursor-refused   RFC 0250 §C") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	expected := invoke(t, nil, "certify", "--defect", "refusal-not-found", "--leg", "0250.cursor-refused", "--expect-fail", "0250.cursor-*", "--event-timeout", "1s")
	if expected.code != 0 || !strings.Contains(expected.stdout, "Failed as expected") {
		t.Errorf("exit %d\n%s%s", expected.code, expected.stdout, expected.stderr)
	}
}

func TestAPatternThatNamesNoDefect(t *testing.T) {
	got := invoke(t, nil, "selfcheck", "--defect", "refusal-not-fond")
	if got.code != 2 || !strings.Contains(got.stderr, `"refusal-not-fond" matches no defect; nearest: refusal-not-found`) {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
