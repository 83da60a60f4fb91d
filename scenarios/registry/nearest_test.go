package registry

import "testing"

func TestNearestNamesWhatIsNearAlone(t *testing.T) {
	names := []string{"--host", "--json", "--key", "--key-b", "--key-low", "--key-ws", "--leg", "--supervise"}
	for _, c := range []struct{ name, typed, want string }{
		{"two letters changed places", "--josn", "; nearest: --json"},
		{"a letter is missing", "supervse", "; nearest: --supervise"},
		{"capitals", "--HOST", "; nearest: --host"},
		{"at most a third of the name is otherwise", "--lag", "; nearest: --leg"},
		{"more than a third is", "--lug1", ""},
		{"the dashes make nothing alike", "--x", ""},
		{"a part of several names", "--key-", "; nearest: --key, --key-b, --key-low"},
		{"it contains a name", "--the-host-please", "; nearest: --host"},
		{"a pattern", "*super*", "; nearest: --supervise"},
		{"like nothing", "--frobnicate", ""},
		{"nothing", "", ""},
		{"an asterisk", "*", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Nearest(c.typed, append(names, names...)); got != c.want {
				t.Errorf("%q offers %q, want %q", c.typed, got, c.want)
			}
		})
	}
	if got := Nearest("json", nil); got != "" {
		t.Errorf("of no names %q is offered", got)
	}
}
