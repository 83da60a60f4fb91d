package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filesIn gives the text of each file by its name.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(text)
	}
	return texts
}

func TestARunSaysWhatOfAnEarlierOneItReplaces(t *testing.T) {
	out := t.TempDir()
	if got := invoke(t, nil, "certify", "--leg", "0250.cursor-refused", "--out", out); got.code != 0 || strings.Contains(got.stderr, "earlier") {
		t.Fatalf("the first: exit %d\n%s", got.code, got.stderr)
	}
	first := filesIn(t, out)
	if first["attestation-v2.json"] == "" || first["bundle-v2.json"] == "" {
		t.Fatalf("the first wrote %v", slices.Sorted(maps.Keys(first)))
	}
	host := served(t)
	got := invoke(t, nil, "run", "--host", host.URL, "--key", host.Credentials.KeyA, "--leg", "0250.cursor-refused", "--out", out)
	var said []string
	for line := range strings.Lines(got.stderr) {
		if strings.HasPrefix(line, "an earlier run's files in "+out+" are removed and this run's take their place: ") {
			said = append(said, line)
		}
	}
	if len(said) != 1 {
		t.Fatalf("it says %q in\n%s", said, got.stderr)
	}
	for name := range first {
		if !strings.Contains(said[0], name) {
			t.Errorf("it does not name %s: %s", name, said[0])
		}
	}
	second := filesIn(t, out)
	if _, ok := second["attestation-v2.json"]; ok || second["bundle-v2.json"] == first["bundle-v2.json"] {
		t.Error("files of two runs stand beside each other")
	}
	if strings.Count(second["observations.jsonl"], "\n") < 3 || strings.Contains(second["observations.jsonl"], "\x00") {
		t.Errorf("the observations are %q", second["observations.jsonl"])
	}
}

func TestARunThatObservedNothingLeavesTheEarlierReports(t *testing.T) {
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	for name, c := range map[string]struct{ lost, host, key string }{
		"whole": {host: deadURL(t), key: "k"}, "without observations": {"observations.jsonl", deadURL(t), "k"},
		"a key that is refused": {host: served(t).URL, key: "wrong"}, "no discovery": {host: refusing.URL, key: "k"},
	} {
		t.Run(name, func(t *testing.T) {
			lost := c.lost
			out := t.TempDir()
			if got := invoke(t, nil, "certify", "--leg", "0250.cursor-refused", "--out", out); got.code != 0 {
				t.Fatalf("exit %d\n%s", got.code, got.stderr)
			}
			if lost != "" {
				if err := os.Remove(filepath.Join(out, lost)); err != nil {
					t.Fatal(err)
				}
			}
			before := filesIn(t, out)
			got := invoke(t, nil, "run", "--host", c.host, "--key", c.key, "--out", out)
			says := "leaves an earlier run's files in " + out + " as they are\n"
			if got.code != 3 || strings.Count(got.stderr, says) != 1 || strings.Contains(got.stdout, "reports in") {
				t.Errorf("exit %d, %s%s", got.code, got.stdout, got.stderr)
			}
			if after := filesIn(t, out); !maps.Equal(after, before) {
				t.Errorf("there were %v, and there are %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
			}
		})
	}
	out := t.TempDir()
	invoke(t, nil, "run", "--host", deadURL(t), "--key", "k", "--out", out)
	if files := filesIn(t, out); files["summary.md"] == "" || files["observations.jsonl"] == "" {
		t.Errorf("where there was no earlier run, it wrote %v", slices.Sorted(maps.Keys(files)))
	}
}

// A folder with files of these names and nothing that every run leaves beside them is somebody's own.
func TestFilesThatNoRunLeftAreNotTakenAway(t *testing.T) {
	out := t.TempDir()
	for _, name := range []string{"summary.md", "report.html"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := filesIn(t, out)
	got := invoke(t, nil, "run", "--host", served(t).URL, "--key", "k", "--out", out)
	if got.code != 2 || !strings.Contains(got.stderr, "holds summary.md, report.html, and neither the observations nor a bundle of a run") {
		t.Errorf("exit %d\n%s", got.code, got.stderr)
	}
	if after := filesIn(t, out); !maps.Equal(after, before) {
		t.Errorf("there were %v, and there are %v", before, after)
	}
}
