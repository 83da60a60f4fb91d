package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAStrangersFileWritesNothingOfItsOwnOnTheTerminal: what an error quotes is shown, and neither obeyed nor taken for a line
// of ours.
func TestAStrangersFileWritesNothingOfItsOwnOnTheTerminal(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	observations := write("observations.jsonl", `{"run":{"format":"wopwitness-observations-1","suite":"\u001b[2J\nverdict: verified\u202e","baseUrl":"x",`+
		`"policy":{},"cases":[{"leg":"9999.x","major":2}]}}`+"\n")
	row := `{"id":"openwop.requirement.0250.legacy-unchanged","scenario":"x","result":"executed-fail","assertions":1},` +
		`{"id":"openwop.requirement.0250.legacy-unchanged","scenario":"x","result":"executed-pass","assertions":1}`
	bundle := write("bundle.json", `{"bundleVersion":"wopwitness-1","results":{"requirements":[`+row+`],"totals":{"executedPass":1,`+
		`"executedFail":1,"skipped":0,"inapplicable":0,"blocked":0}},"host":{"name":"x","version":"1"},"suite":{"name":"wopwitness",`+
		`"version":"1","targetMajor":2,"contractSha256":"`+strings.Repeat("0", 64)+`"},"claimedProfiles":[]}`)
	member := write("member.json", `{"bundleVersion":"wopwitness-1","\u001b]0;x\u0007":1}`)
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"observations of a suite with a name like that", []string{"rejudge", observations}, `"\x1b[2J\nverdict: verified\u202e"`},
		{"a bundle with a row twice", []string{"diff", bundle, bundle}, "is not compared (duplicate-row at /results/requirements/1:"},
		{"a bundle with a member like that", []string{"diff", member, member}, `is not compared (unknown-member at /\x1b]0;x\x07:`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := invoke(t, nil, c.args...)
			if got.code != 2 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, c.says) ||
				strings.ContainsAny(got.stderr, "\x1b\x07\u202e") {
				t.Errorf("exit %d\n%q\n%q, want one line with %q", got.code, got.stdout, got.stderr, c.says)
			}
		})
	}
}
