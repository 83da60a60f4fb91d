package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRejudgeOfACutFileSaysThatItEndsTooEarly(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		left    int // of the file's lines: what was run, a line each leg, the end
		code    int
		verdict string
	}{
		"whole":           {nil, 4, 0, "verdict: nothing failed and nothing was blocked"},
		"without its end": {nil, 3, 3, "verdict: incomplete, the file ends before its run did: it was cut, or the run was interrupted"},
		"without a leg":   {nil, 2, 3, "the file ends before its run did, and has no record of this: it was cut, or the run was interrupted"},
		"after a failure": {[]string{"--defect", "refusal-not-found"}, 3, 1, "verdict: the host does not do what the text says"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			args := []string{"certify", "--leg", "0250.cursor-refused", "--leg", "0250.cursor-hostile", "--out", out}
			if got := invoke(t, nil, append(args, tt.args...)...); got.code > 1 {
				t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			file := filepath.Join(out, "observations.jsonl")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
			if len(lines) != 4 {
				t.Fatalf("the file has %d lines", len(lines))
			}
			if err := os.WriteFile(file, bytes.Join(lines[:tt.left], nil), 0o600); err != nil {
				t.Fatal(err)
			}
			got := invoke(t, nil, "rejudge", file)
			if got.code != tt.code || !strings.Contains(got.stdout, tt.verdict) {
				t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}

func TestRejudgeKnowsABundle(t *testing.T) {
	out := t.TempDir()
	if got := invoke(t, nil, "certify", "--leg", "0250.cursor-refused", "--out", out); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	other := filepath.Join(out, "other.json")
	if err := os.WriteFile(other, []byte("{\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(out, "bundle-v2.json")
	for path, says := range map[string]string{
		bundle: "wopwitness: " + bundle + ": this is a bundle: give the observations.jsonl of its run, and the bundle by --bundle\n",
		other:  "wopwitness: " + other + ": read observations: line 1: ",
	} {
		got := invoke(t, nil, "rejudge", path)
		if got.code != 2 || !strings.HasPrefix(got.stderr, says) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("exit %d, want it to say %q, and it says\n%s%s", got.code, says, got.stdout, got.stderr)
		}
	}
}
