package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTwoRunsNeverWriteIntoOneFolder: the second is refused while the first writes, and a run that was killed holds
// nothing.
func TestTwoRunsNeverWriteIntoOneFolder(t *testing.T) {
	url, asked := hanging(t)
	host, out := served(t), t.TempDir()
	first := command(t, nil, "run", "--host", url, "--key", "some-key-of-a-tenant", "--out", out)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("it ended before it asked for anything: %v", err)
	}
	second := []string{"run", "--host", host.URL, "--key", host.Credentials.KeyA, "--leg", "0250.cursor-refused", "--out", out}
	before := contents(t, out)
	got := invoke(t, nil, second...)
	want := "wopwitness: --out " + out + ": another run is writing its reports there: wait for its end, or name another folder\n"
	if got.code != 2 || got.stdout != "" || got.stderr != want {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if after := contents(t, out); !slices.Equal(after, before) {
		t.Errorf("the folder held %v and holds %v", before, after)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := invoke(t, nil, second...); got.code != 0 || !strings.Contains(got.stdout, "1 passed") {
		t.Errorf("after the first was killed: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if text, err := os.ReadFile(filepath.Join(out, "observations.jsonl")); err != nil || bytes.Contains(text, []byte(url)) || !bytes.Contains(text, []byte(host.URL)) {
		t.Errorf("the observations are not the second run's alone: %v\n%s", err, text)
	}
}

// TestARunThatIsRefusedLeavesNothing: neither a new folder nor a file in one that was there.
func TestARunThatIsRefusedLeavesNothing(t *testing.T) {
	host := served(t)
	for name, args := range map[string][]string{
		"a key with a space": {"--key", host.Credentials.KeyA + " "},
		"the suite's header": {"--key", host.Credentials.KeyA, "--header", "Authorization:x"},
		"no signing key":     {"--key", host.Credentials.KeyA, "--build", "commit:3f2a91c", "--key-id", "k", "--sign", "/nope"},
		"no authorities":     {"--key", host.Credentials.KeyA, "--ca", "/nope"},
	} {
		t.Run(name, func(t *testing.T) {
			there := t.TempDir()
			for _, out := range []string{there, filepath.Join(there, "new", "folder")} {
				got := invoke(t, nil, append([]string{"run", "--host", host.URL, "--out", out}, args...)...)
				if got.code != 2 || strings.Count(got.stderr, "\n") != 1 {
					t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
				}
				if left := contents(t, there); len(left) > 0 {
					t.Errorf("it leaves %v", left)
				}
			}
		})
	}
}

// contents are the names in a folder.
func contents(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
