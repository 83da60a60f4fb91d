package bundle

import (
	"fmt"
	"slices"
	"strings"
)

// Build names exactly what was tested.
type Build struct {
	Kind string `json:"kind"` // image-digest, commit or artifact-sha256
	ID   string `json:"id"`
}

// String is the build as ParseBuild reads it.
func (b Build) String() string { return b.Kind + ":" + b.ID }

func buildKinds() []string { return []string{"image-digest", "commit", "artifact-sha256"} }

// ParseBuild reads "kind:id".
func ParseBuild(text string) (Build, error) {
	kind, id, ok := strings.Cut(text, ":")
	if !ok || id == "" || !slices.Contains(buildKinds(), kind) {
		return Build{}, fmt.Errorf("--build %q: expected KIND:ID with a kind of %s, as in commit:3f2a91c", text, strings.Join(buildKinds(), ", "))
	}
	return Build{Kind: kind, ID: id}, nil
}
