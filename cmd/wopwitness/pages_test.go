package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// TestGeneratedPagesAreCurrent fails where the registry or the defects changed and `make generate` was not run.
func TestGeneratedPagesAreCurrent(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"legs.md":        func(b *bytes.Buffer) error { return pages.Legs(b, registry.Legs()) },
		"kill-matrix.md": func(b *bytes.Buffer) error { return pages.KillMatrix(b, registry.Legs(), killed()) },
		"kill-matrix.html": func(b *bytes.Buffer) error {
			return pages.KillMatrixHTML(b, registry.Legs(), killed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			if err := write(&want); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("docs/%s is not what the registry and the defects say; run make generate", name)
			}
		})
	}
}

// TestEveryClaimIsOfALeg keeps a defect from claiming a leg that does not exist, which nothing could ever convict by.
func TestEveryClaimIsOfALeg(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range killed() {
		if seen[d.Name] || d.Says == "" || d.RFC == "" || len(d.Convicts) == 0 {
			t.Errorf("defect %q stands twice or is incomplete: %+v", d.Name, d)
		}
		seen[d.Name] = true
		for _, leg := range d.Convicts {
			if _, ok := registry.Find(registry.LegID(leg)); !ok {
				t.Errorf("%s claims %s, which is no leg", d.Name, leg)
			}
		}
	}
}
