package main

import (
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestADefectThatNobodyCanSeeIsSaidToBeSo(t *testing.T) {
	for _, c := range []struct {
		defect string
		seams  bool
		want   bool
	}{
		{"agent-one-queue", false, true}, {"agent-one-queue", true, false}, {"deadletter-never", false, false}, {"", false, false},
	} {
		if got := hidden(mockhost.Config{Defect: c.defect, Seams: c.seams}); got != c.want {
			t.Errorf("%q with seams %v: %v, want %v", c.defect, c.seams, got, c.want)
		}
	}
}
