package mockhost_test

import (
	"encoding/json"
	"time"
)

func (s *script) advertisement() {
	a := s.h.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 2")
	var doc struct {
		HostEvents struct{ Types, Replay json.RawMessage }
	}
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
		s.h.t.Fatal(err)
	}
	s.say("advertised types", string(doc.HostEvents.Types))
	s.say("advertised replay", string(doc.HostEvents.Replay))
}

func (s *script) triggers() {
	post := func(body string, headers ...string) answer {
		a := s.h.do("POST", "/host/events/test", s.h.KeyA, body, headers...)
		var e struct{ EventID string }
		if json.Unmarshal([]byte(a.body), &e) == nil && e.EventID != "" && s.names[e.EventID] == "" {
			s.names[e.EventID] = "new event"
		}
		return a
	}
	s.sayAnswer("trigger", post(`{"delivery":"durable"}`))
	if s.out["trigger"][:3] != "202" {
		// A host without its trigger shows nothing more by it; the seam emits instead.
		s.h.t.Skip("this host has no trigger: " + s.out["trigger"])
	}
	s.sayAnswer("trigger with an unknown member", post(`{"delivery":"durable","note":1}`))
	s.sayAnswer("trigger with a wrong type", post(`{"delivery":1}`))
	s.sayAnswer("trigger into a foreign workspace", post(`{"delivery":"durable","workspaceId":"`+s.h.ForeignWorkspace+`"}`))
	s.sayAnswer("trigger into an unknown workspace", post(`{"delivery":"durable","workspaceId":"nowhere"}`))

	live := s.h.open(s.h.KeyA, "", "")
	s.sayAnswer("idempotent first", post(`{"delivery":"durable"}`, "Idempotency-Key: k"))
	first := post(`{"delivery":"durable"}`, "Idempotency-Key: k")
	s.sayAnswer("idempotent again", first)
	s.sayAnswer("idempotent with another body", post(`{"delivery":"ephemeral"}`, "Idempotency-Key: k"))
	s.sayStream("live after idempotent", live, s.name("sentinel", s.durable()))

	live = s.h.open(s.h.KeyWS, "", "")
	w := s.name("W", s.h.eventID(post(`{"delivery":"durable","workspaceId":"`+s.h.Workspace+`"}`)))
	s.sayStream("live durable", live, w)
	e := s.name("E", s.h.trigger(s.h.KeyA, "ephemeral"))
	s.sayStream("live ephemeral", live, e)
}

func (s *script) resume() {
	live := s.h.open(s.h.KeyA, "", "")
	d1 := s.name("D1", s.durable())
	d2 := s.name("D2", s.durable())
	s.name("E1", s.h.trigger(s.h.KeyA, "ephemeral"))
	s.name("D3", s.durable())
	at := func(query, cursor string) func(string) {
		st, a := s.h.tryOpen(s.h.KeyA, query, cursor)
		return func(subject string) {
			if st == nil {
				s.sayAnswer(subject, a)
				return
			}
			e := s.name("E2", s.h.trigger(s.h.KeyA, "ephemeral"))
			id := s.name("D4", s.durable())
			s.sayStream(subject, st, e, id)
			st.stop()
		}
	}
	at(strict, d1)("resume")
	at(strict, d1)("resume again")
	at("", d1)("legacy resume")
	s.say("replayed as it was sent", s.frameOf(live, d2) == s.frameOf(s.h.open(s.h.KeyA, strict, d1), d2))
	last := s.name("last", s.durable())
	s.sayOpen("resume at the last", s.h.KeyA, strict, last, s.durable)
	s.sayOpen("live start", s.h.KeyA, strict, "", s.durable)
	s.sayOpen("legacy unknown", s.h.KeyA, "", "no-such-event-0000", s.durable)
}

// frameOf reads a stream up to the event and gives its bytes, or nothing where the event doesn't come.
func (s *script) frameOf(from *stream, id string) string {
	timeout := time.After(patience)
	for {
		select {
		case b, ok := <-from.blocks:
			if !ok || b.eventID() == id {
				return b.raw
			}
		case <-timeout:
			return ""
		}
	}
}

func (s *script) refusals() {
	ephemeral := s.name("E9", s.h.trigger(s.h.KeyA, "ephemeral"))
	foreign := s.name("B9", s.h.trigger(s.h.KeyB, "durable"))
	for subject, cursor := range map[string]string{
		"unknown": "no-such-event-0000", "ephemeral": ephemeral, "foreign": foreign, "hostile": "%41 é",
	} {
		s.sayOpen("refusal: "+subject, s.h.KeyA, strict, cursor, s.durable)
	}
	s.sayOpen("replay=sometimes", s.h.KeyA, "?replay=sometimes", "no-such-event-0000", s.durable)
	s.sayOpen("a wrong key at an unknown cursor", "wrong", strict, "no-such-event-0000", s.durable)
	s.sayOpen("no scope at an unknown cursor", s.h.KeyLow, strict, "no-such-event-0000", s.durable)
}

func (s *script) tenants() {
	live := s.h.open(s.h.KeyA, "", "")
	cursor := s.name("A1", s.durable())
	s.name("B1", s.h.trigger(s.h.KeyB, "durable"))
	s.name("W1", s.h.eventID(s.h.do("POST", "/host/events/test", s.h.KeyA, `{"delivery":"durable","workspaceId":"`+s.h.Workspace+`"}`)))
	a2 := s.name("A2", s.durable())
	s.sayStream("tenant live", live, a2)
	s.sayOpen("tenant resumed", s.h.KeyA, strict, cursor, s.durable)
}

func (s *script) sizes() {
	cursor := s.name("C1", s.durable())
	live := s.h.open(s.h.KeyA, "", "")
	large := s.name("large", s.h.eventID(s.h.do("POST", "/v1/host/sample/host-events/emit", s.h.KeyA,
		`{"type":"inventory.item-changed","payloadBytes":9000}`)))
	s.sayStream("large live", live, large, s.name("C2", s.durable()))
	s.sayOpen("large resumed", s.h.KeyA, strict, cursor, s.durable)
}

func (s *script) instances() {
	cursor := s.name("P1", s.durable())
	s.name("P2", s.durable())
	st, a := s.peer.tryOpen(s.h.KeyA, strict, cursor)
	if st == nil {
		s.sayAnswer("other instance", a)
		return
	}
	s.sayStream("other instance", st, s.name("P3", s.durable()), s.name("P4", s.peer.trigger(s.h.KeyA, "durable")))
}

func (s *script) removal() {
	cursor, gone := s.name("R1", s.durable()), s.name("R2", s.durable())
	s.sayAnswer("removal", s.h.do("POST", "/v1/host/sample/host-events/remove", s.h.KeyA, `{"eventId":"`+gone+`"}`))
	s.sayOpen("resumed before the removed", s.h.KeyA, strict, cursor, s.durable)
	s.sayOpen("refusal: removed", s.h.KeyA, strict, gone, s.durable)
}

// bounded reads a resumable stream that is resumed in the way a client does, with its own last id.
func (s *script) bounded() {
	first := s.h.open(s.h.KeyA, strict+"&resumable=true", "")
	id := s.name("L1", s.durable())
	s.sayStream("resumable", first, id)
	first.stop()
	s.name("L2", s.durable())
	second, a := s.h.tryOpen(s.h.KeyA, strict+"&resumable=true", id)
	if second == nil {
		s.sayAnswer("resumable again", a)
		return
	}
	s.sayStream("resumable again", second, s.name("L3", s.durable()))
}

func (s *script) expiry() {
	advance := func() {
		if a := s.h.do("POST", "/v1/host/sample/clock/advance", s.h.KeyA, `{"seconds":60}`); a.status != 200 {
			s.h.t.Fatal(a)
		}
	}
	old := s.name("old", s.durable())
	advance()
	young := s.name("young", s.durable())
	advance()
	s.sayOpen("resumed within the promise", s.h.KeyA, strict, young, s.durable)
	s.sayOpen("refusal: expired", s.h.KeyA, strict, old, s.durable)
}
