package mockhost_test

import (
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestKillSeamAnswersAndKills(t *testing.T) {
	killed := make(chan struct{}, 10)
	h := start(t, mockhost.Config{Seams: true, Kill: func() { killed <- struct{}{} }})
	for _, prefix := range []string{"/conformance/seams/sample", "/v1/host/sample"} {
		for _, c := range []struct {
			name, key, body string
			status, kills   int
		}{
			{"without a key", "", `{}`, 401, 0},
			{"with a member", h.KeyA, `{"now":true}`, 400, 0},
			{"with an empty object", h.KeyA, `{}`, 202, 1},
			{"without a body", h.KeyB, ``, 202, 1},
		} {
			if a := h.do("POST", prefix+"/process/kill", c.key, c.body); a.status != c.status {
				t.Errorf("%s %s: got %d %s, want %d", prefix, c.name, a.status, a.body, c.status)
			}
			for range c.kills {
				<-killed
			}
		}
	}
	if n := len(killed); n != 0 {
		t.Errorf("%d kills too many", n)
	}
}

func TestKillSeamIsThereForASupervisedHostOnly(t *testing.T) {
	for name, c := range map[string]mockhost.Config{
		"no supervisor": {Seams: true}, "no seams": {Kill: func() { t.Error("killed") }},
	} {
		h := start(t, c)
		if a := h.do("POST", "/conformance/seams/sample/process/kill", h.KeyA, `{}`); a.status != 404 {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
}
