package bundle_test

import (
	"fmt"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func TestShortfallsSayWhyAProfileIsNotCertified(t *testing.T) {
	for name, tt := range map[string]struct {
		rows  []ledger.Row
		build bool
		want  string
	}{
		"certified":   {wholeProfile(nil), true, ""},
		"no build":    {wholeProfile(nil), false, "hostEvents.replay (major 2): it is not said which build was tested (--build)"},
		"one leg out": {without("0250.handoff"), true, "hostEvents.replay (major 2): 0250.handoff was not run"},
		"most legs out": {only("0250.resume-backlog"), true, "hostEvents.replay (major 2): 0241.trigger.bound-by-listing was not run; " +
			"0241.trigger.body-closed was not run; 0241.trigger.workspace-scope was not run; 0241.trigger.idempotent was not run; " +
			"0241.trigger.other-instance was not run; 0236.host-event.envelope was not run; and " + fmt.Sprint(len(wholeProfile(nil))-1-6) + " more"},
		"not shown": {wholeProfile(map[registry.LegID]registry.Result{})[:1], true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			facts := someFacts()
			if !tt.build {
				facts.Build = nil
			}
			b, err := bundle.New(tt.rows, facts)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range b.Shortfalls(tt.rows, false) {
				got += s.String()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
