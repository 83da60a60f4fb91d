package mockhost_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTheCommandsThatServePrintsWork builds the binary, lets it serve, and pastes what it prints into a shell.
func TestTheCommandsThatServePrintsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the program is not built")
	}
	needCurl(t)
	folder := t.TempDir()
	if got := run(t, "go", "build", "-o", filepath.Join(folder, "wopwitness"), "../cmd/wopwitness"); got.code != 0 {
		t.Fatalf("build the binary: exit %d", got.code)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))

	server := follow(t, "wopwitness", "serve", "--addr", "127.0.0.1:0")
	commands := map[string]string{}
	for commands["Test it"] == "" { // the last
		text, ok := server.block()
		if !ok {
			t.Fatalf("serve ended: %s", server.errs)
		}
		title, command, _ := strings.Cut(text, ":\n")
		commands[title] = command
	}
	paste := func(title string) string {
		t.Helper()
		if commands[title] == "" {
			t.Fatalf("serve printed no command %q, but %q", title, commands)
		}
		return commands[title]
	}
	cause := func() string {
		t.Helper()
		got := run(t, "sh", "-c", paste("Cause one"))
		var e struct{ EventID, Type string }
		if err := json.Unmarshal([]byte(got.out), &e); err != nil || got.code != 0 || e.EventID == "" || e.Type != "host-test.durable-triggered" {
			t.Fatalf("Cause one: got %+v, %v", got, err)
		}
		return e.EventID
	}

	t.Chdir(folder) // the command writes its reports into a folder of where it is run
	tested := run(t, "sh", "-c", paste("Test it"))
	if !strings.Contains(tested.out, " 0 failed") || !strings.Contains(tested.out, " 0 blocked") || tested.code != 0 {
		t.Errorf("Test it: exit %d\n%s", tested.code, tested.out)
	}

	reader := follow(t, "sh", "-c", "exec "+strings.TrimSpace(paste("Read the events")))
	if opening, _ := reader.block(); !strings.HasPrefix(opening, ":") {
		t.Fatalf("Read the events: the stream begins with %q, want a comment", opening)
	}
	first, second := cause(), cause()
	if got, want := reader.until(second), []string{first, second}; !slices.Equal(got, want) {
		t.Errorf("Read the events: got %v, want %v", got, want)
	}

	resume := strings.Replace(strings.TrimSpace(paste("Resume after one (put its eventId for ID)")), "-ID: ID'", "-ID: "+first+"'", 1)
	resumed := follow(t, "sh", "-c", "exec "+resume)
	third := cause()
	if got, want := resumed.until(third), []string{second, third}; !slices.Equal(got, want) {
		t.Errorf("Resume after one: got %v, want %v", got, want)
	}
	if got := reader.until(third); !slices.Equal(got, []string{third}) {
		t.Errorf("Read the events: then got %v, want %v", got, []string{third})
	}

	if err := server.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	// The readers' streams end with the host, so nothing holds it.
	if rest, err := io.ReadAll(server.out); string(rest) != "Ctrl-C stops it.\n" || err != nil {
		t.Errorf("serve printed %q, %v", rest, err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, server.errs)
	}
	for _, f := range []*follower{reader, resumed} {
		if b, ok := f.event(); ok {
			t.Errorf("a stream went on with %q", b.raw)
		}
		if err := f.cmd.Wait(); err != nil {
			t.Errorf("curl ended with %v when the host ended its stream: %s", err, f.errs)
		}
	}
}
