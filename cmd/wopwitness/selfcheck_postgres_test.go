package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/selfcheck"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// database is the URL of the database to test on, without a schema. The test is skipped where there is none.
func database(t *testing.T) string {
	t.Helper()
	pgtest.Schema(t)
	return os.Getenv(pgtest.Variable)
}

// TestSelfcheckOnPostgreSQL serves a host of two instances that have only the database in common. What one process keeps
// to itself convicts it there at its other instance as well, and not only after a restart.
func TestSelfcheckOnPostgreSQL(t *testing.T) {
	got := invoke(t, nil, "selfcheck", "--store", database(t), "--instances", "--defect", "last-sequence-unread", "--json")
	var r selfcheck.Result
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v in\n%s%s", err, got.stdout, got.stderr)
	}
	if got.code != 0 || len(r.Problems) != 0 || len(r.Defects) != 1 {
		t.Fatalf("exit %d with %+v\n%s", got.code, r, got.stderr)
	}
	if want := []string{"0250.other-instance", "0250.restart"}; !slices.Equal(r.Defects[0].Convicted, want) {
		t.Errorf("convicted by %v, want %v", r.Defects[0].Convicted, want)
	}
}

func TestSelfcheckWantsSchemasOfItsOwn(t *testing.T) {
	got := invoke(t, nil, "selfcheck", "--store", "postgres://db.example/test?search_path=mine")
	if got.code != 2 || !strings.Contains(got.stderr, "--store names a schema (search_path)") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestTheShareOfInstances(t *testing.T) {
	all, err := matching("", false)
	if err != nil {
		t.Fatal(err)
	}
	share, err := matching("", true)
	if err != nil || len(share) == 0 || len(share) >= len(all) {
		t.Fatalf("%d of %d defects are of several instances, %v", len(share), len(all), err)
	}
	for _, d := range share {
		if !d.Instances {
			t.Errorf("%s is not of several instances", d.Name)
		}
	}
	if _, err := matching("refusal-not-found", true); err == nil || !strings.Contains(err.Error(), "matches no defect") {
		t.Errorf("a defect of one instance is in the share: %v", err)
	}
}
