package scenarios

import (
	"errors"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
)

func discovered(hostEvents any) map[int]client.Discovery {
	document := map[string]any{"protocolVersions": []any{"2.0"}, "preferredVersion": "2.0"}
	if hostEvents != nil {
		document["hostEvents"] = hostEvents
	}
	return map[int]client.Discovery{2: {Document: document, Major: 2}}
}

func listing(names ...string) map[string]any {
	var list []any
	for _, n := range names {
		list = append(list, map[string]any{"type": n, "delivery": "durable"})
	}
	return map[string]any{"types": list, "replay": map[string]any{"minRetentionSeconds": 3600.0}}
}

func TestGatesTellHostFactsFromOperatorFacts(t *testing.T) {
	leg := registry.Leg{ID: "x", Majors: []int{2}, Gates: []registry.Gate{registry.GateHostEvents, registry.GateReplay, registry.GateTriggerDurable, registry.GateTriggerEphemeral}, Needs: []registry.Need{registry.NeedSecondTenant}}
	whole := listing(typeDurable, typeEphemeral)
	noFacet := listing(typeDurable, typeEphemeral)
	delete(noFacet, "replay")
	two := Config{KeyA: "ka", KeyB: "kb"}
	strict := two
	strict.Strict = true
	for _, c := range []struct {
		name      string
		discovery map[int]client.Discovery
		majors    []int
		config    Config
		result    registry.Result
		reason    registry.Reason
	}{
		{"everything there", discovered(whole), []int{2}, two, "", ""},
		{"major not served", discovered(whole), []int{1}, two, registry.Inapplicable, registry.NotAdvertised},
		{"no family", discovered(nil), []int{2}, two, registry.Inapplicable, registry.NotAdvertised},
		{"no facet", discovered(noFacet), []int{2}, two, registry.Inapplicable, registry.NotAdvertised},
		{"one class listed only", discovered(listing(typeDurable)), []int{2}, two, registry.Inapplicable, registry.ClassNotListed},
		{"host facts come before the operator's", discovered(listing(typeDurable)), []int{2}, Config{KeyA: "ka"}, registry.Inapplicable, registry.ClassNotListed},
		{"no second key", discovered(whole), []int{2}, Config{KeyA: "ka"}, registry.Inapplicable, registry.NoCause},
		{"the same key twice", discovered(whole), []int{2}, Config{KeyA: "ka", KeyB: "ka"}, registry.Blocked, registry.SameTenant},
		{"strict convicts what is not advertised", discovered(nil), []int{2}, strict, registry.Fail, registry.NotAdvertised},
		{"strict convicts an unlisted class", discovered(listing(typeDurable)), []int{2}, strict, registry.Fail, registry.ClassNotListed},
		{"strict does not convict what the operator left out", discovered(whole), []int{2}, Config{KeyA: "ka", Strict: true}, registry.Inapplicable, registry.NoCause},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &run{config: c.config, host: HostFacts{Majors: c.majors, Discovery: c.discovery}}
			err := r.gate(registry.Case{Leg: leg, Major: 2})
			var s *stop
			errors.As(err, &s)
			switch {
			case c.reason == "" && err != nil:
				t.Errorf("gate = %v, want open", err)
			case c.reason != "" && (s == nil || s.Result != c.result || s.Reason != c.reason):
				t.Errorf("gate = %v, want %s %s", err, c.result, c.reason)
			}
		})
	}
}

func TestOptedOutMatchesProfilesRFCsAndPatterns(t *testing.T) {
	leg := registry.Leg{ID: "0250.resume-backlog", RFC: "0250", Profile: registry.ProfileReplay}
	for name, want := range map[string]bool{"hostEvents.replay": true, "hostEvents": true, "0250": true, "0250.*": true, "0250.resume-backlog": true, "deadLetter": false, "0236.*": false} {
		r := &run{config: Config{OptedOut: []string{name}}}
		if got := r.optedOut(leg); got != want {
			t.Errorf("opting out of %q takes the leg away: %v, want %v", name, got, want)
		}
	}
}

func TestUnknownCursorKeepsTheGrammarAndTheLooks(t *testing.T) {
	for _, like := range []string{"", "short", "01JH2X9Q7ZC4V8N5T6B3M1K0PA", "evt-0c9fe1a27d3b4c55", "zzzzzzzzzzzzzzzzzz"} {
		got := UnknownCursor(like)
		if got == like || len(got) < 16 || len(got) > 128 {
			t.Errorf("UnknownCursor(%q) = %q", like, got)
		}
		if len(like) >= 16 && like[0] != 'z' && len(got) != len(like) {
			t.Errorf("UnknownCursor(%q) = %q, another length", like, got)
		}
	}
}
