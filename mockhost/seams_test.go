package mockhost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestSeamsAreThereOnlyWhenAskedFor(t *testing.T) {
	with, without := start(t, mockhost.Config{Seams: true}), start(t, mockhost.Config{})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/clock", ""}, {"POST", "/clock/advance", `{"seconds":1}`},
		{"POST", "/host-events/emit", `{"type":"inventory.item-changed"}`}, {"POST", "/host-events/remove", `{"eventId":"x"}`},
	} {
		for _, prefix := range []string{"/conformance/seams/sample", "/v1/host/sample"} {
			if a := without.do(c.method, prefix+c.path, without.KeyA, c.body); a.status != 404 || a.code() != "not_found" {
				t.Errorf("unmounted %s%s: got %d %s", prefix, c.path, a.status, a.body)
			}
			if a := with.do(c.method, prefix+c.path, "", c.body); a.status != 401 {
				t.Errorf("mounted %s%s without a key: got %d %s", prefix, c.path, a.status, a.body)
			}
		}
	}
}

func TestSeamBodiesAreClosed(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, Clock: "manual"})
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/clock/advance", `{"seconds":1}`, 200}, {"/clock/advance", `{"seconds":0}`, 400}, {"/clock/advance", `{"seconds":-5}`, 400},
		{"/clock/advance", `{"seconds":1.5}`, 400}, {"/clock/advance", `{"seconds":"1"}`, 400}, {"/clock/advance", `{}`, 400},
		{"/clock/advance", `{"seconds":1,"days":1}`, 400}, {"/clock/advance", `{"seconds":99999999999}`, 400},
		{"/host-events/emit", `{"type":"inventory.item-changed"}`, 202},
		{"/host-events/emit", `{"type":"presence.user-seen","payloadBytes":100}`, 202},
		{"/host-events/emit", `{"type":"inventory.item-changed","workspaceId":"` + h.Workspace + `"}`, 202},
		{"/host-events/emit", `{"type":"inventory.item-changed","workspaceId":"` + h.ForeignWorkspace + `"}`, 403},
		{"/host-events/emit", `{"type":"inventory.item-changed","workspaceId":""}`, 400},
		{"/host-events/emit", `{"type":"inventory.item-lost"}`, 400}, {"/host-events/emit", `{"type":"host-test.durable-triggered"}`, 400},
		{"/host-events/emit", `{"type":"inventory.item-changed","payloadBytes":-1}`, 400},
		{"/host-events/emit", `{"type":"inventory.item-changed","payloadBytes":1048577}`, 400},
		{"/host-events/emit", `{"type":"inventory.item-changed","payload":{}}`, 400},
		{"/host-events/remove", `{"eventId":"no-such-event-0000"}`, 404}, {"/host-events/remove", `{}`, 400},
	} {
		for _, prefix := range []string{"/conformance/seams/sample", "/v1/host/sample"} {
			a := h.do("POST", prefix+c.path, h.KeyA, c.body)
			if a.status != c.status || c.status == 400 && a.code() != "validation_error" {
				t.Errorf("%s%s %s: got %d %s, want %d", prefix, c.path, c.body, a.status, a.body, c.status)
			}
		}
	}
}

func TestRealClockCannotBeMoved(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	if a := h.do("GET", "/conformance/seams/sample/clock", h.KeyA, ""); !strings.Contains(a.body, `"mode":"real"`) {
		t.Errorf("got %s", a.body)
	}
	a := h.do("POST", "/conformance/seams/sample/clock/advance", h.KeyA, `{"seconds":1}`)
	if a.status != 409 || a.code() != "run_state_conflict" {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestAdvanceDoesWhatFellDueBeforeItAnswers(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, Clock: "manual", MinRetention: 100 * time.Second})
	advance := func(seconds string) {
		t.Helper()
		if a := h.do("POST", "/conformance/seams/sample/clock/advance", h.KeyA, `{"seconds":`+seconds+`}`); a.status != 200 {
			t.Fatalf("advance: got %d %s", a.status, a.body)
		}
	}
	resumes := func(id string) bool {
		s, a := h.tryOpen(h.KeyA, strict, id)
		if s == nil && a.code() != "host_event_resync_required" {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		return s != nil
	}
	old := h.trigger(h.KeyA, "durable")
	advance("60")
	young := h.trigger(h.KeyA, "durable")
	if !resumes(old) {
		t.Error("an event within the promise is gone")
	}
	advance("45")
	if resumes(old) {
		t.Error("an event past the promise is still there")
	}
	if !resumes(young) {
		t.Error("a younger event went with the old one")
	}
	advance("31536000")
	if resumes(young) {
		t.Error("a year later the event is still there")
	}
	if !resumes(h.trigger(h.KeyA, "durable")) {
		t.Error("a new event is no cursor after the sweeps")
	}
}

func TestEmitMakesPayloadsOfTheSizeAskedFor(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	live, cursor := h.open(h.KeyA, "", ""), h.trigger(h.KeyA, "durable")
	a := h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":1048576}`)
	id := h.eventID(a)
	if a.body != `{"eventId":"`+id+`"}` {
		t.Errorf("answer: %s", a.body)
	}
	for name, s := range map[string]*stream{"live": live, "resumed": h.open(h.KeyA, strict, cursor)} {
		for {
			b, _ := s.next()
			if b.eventID() != id {
				continue
			}
			if _, payload, _ := strings.Cut(b.data, `"payload":`); len(payload)-1 != 1<<20 {
				t.Errorf("%s: the payload has %d bytes", name, len(payload)-1)
			}
			break
		}
	}
}

func TestRemovedEventLeavesEveryStream(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	d1, d2, d3 := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "durable")
	remove := func(key string) answer {
		return h.do("POST", "/v1/host/sample/host-events/remove", key, `{"eventId":"`+d2+`"}`)
	}
	if a := remove(h.KeyB); a.status != 404 {
		t.Errorf("another tenant removed it: %d %s", a.status, a.body)
	}
	if a := remove(h.KeyA); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if a := remove(h.KeyA); a.status != 404 {
		t.Errorf("a second time: %d %s", a.status, a.body)
	}
	if got := h.open(h.KeyA, strict, d1).until(d3); len(got) != 1 {
		t.Errorf("replayed %v, want only the last", got)
	}
}
