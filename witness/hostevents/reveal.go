package hostevents

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Revealed is the refusal asked for in several ways, to be read for what it gives away. Events are what the foreign and
// ephemeral cursors name, as their own streams showed them. OtherTenant is an unknown cursor's refusal to the second
// tenant: text that is the same there says nothing about either.
type Revealed struct {
	Refusals    []observe.Stream `json:"refusals"`
	OtherTenant *observe.Stream  `json:"otherTenant,omitempty"`
	Tenants     []string         `json:"tenants,omitempty"` // ids of both tenants, where the host shows them
	Events      []string         `json:"events,omitempty"`  // envelopes, as delivered
}

// JudgeRefusalRevealsNothing judges 0250.refusal-reveals-nothing (RFC 0250 §C, §D): no cursor and no key anywhere in a
// refusal, no tenant and nothing of an event in its body.
func JudgeRefusalRevealsNothing(o Revealed) witness.Verdict {
	var v witness.Verdict
	read := 0
	for _, s := range o.Refusals {
		if !answered(&v, s.Label+" cursor", s) {
			continue
		}
		if s.Opened() {
			v.Undecide(registry.UnexpectedAnswer, "the %s cursor was not refused, so there is no refusal to read", s.Label)
			continue
		}
		read++
		o.read(&v, s)
	}
	if read == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no refusal")
	}
	return v
}

func (o Revealed) read(v *witness.Verdict, s observe.Stream) {
	finding := func(says, got, why string) func() witness.Finding {
		return func() witness.Finding {
			return witness.Finding{
				Says: fmt.Sprintf("the refusal of the %s cursor names %s", s.Label, says), Got: got, Why: why, Section: "RFC 0250 §D",
				Expected: "a refusal that says only that the caller has to resynchronize",
			}
		}
	}
	where := anywhere(s, func(text string) bool { return holdsCursor(text, cursorOf(s)) })
	v.Check("no-cursor", where == "", finding("the cursor", where+": "+brief(s.Exchange), "what one caller sends is written into an answer that others may be shown"))
	where = anywhere(s, func(text string) bool { return strings.Contains(text, "{{credential:") })
	v.Check("no-key", where == "", finding("a key", where, "an answer that is logged or shown gives the key away"))

	body := s.Response.Body
	if ids := telling(o.Tenants); len(ids) > 0 {
		named := ""
		for _, id := range ids {
			if holdsToken(body.String(), id) && !o.constant(s) {
				named = id
			}
		}
		v.Check("no-tenant", named == "", finding("a tenant", brief(s.Exchange), "the answer tells who else is there"))
	}
	part := o.partOfEvent(s)
	v.Check("no-payload", part == "", finding("a part of an event", part, "the caller learns of an event that it may not see"))
	if errorBody(s.Exchange).Details != nil {
		v.Note("details", "the refusal carries details; the error row registers none")
	}
}

// constant says whether the second tenant is given the very same body for a cursor that names nothing.
func (o Revealed) constant(s observe.Stream) bool {
	return o.OtherTenant != nil && o.OtherTenant.Response != nil && bytes.Equal(o.OtherTenant.Response.Body, s.Response.Body)
}

// anywhere names the first part of an answer whose text holds what is looked for: status line, a header, the body. It is
// "" where none does.
func anywhere(s observe.Stream, holds func(text string) bool) string {
	if holds(s.Response.Reason) {
		return "status line"
	}
	for _, h := range s.Response.Headers {
		if holds(h.Name) || holds(h.Value) {
			return "header " + h.Name
		}
	}
	if holds(s.Response.Body.String()) {
		return "body"
	}
	return ""
}

// holdsCursor looks for the cursor as sent, as a URL or a JSON text writes it, and as base64 or hexadecimal. One too short
// to be an id would be found by chance.
func holdsCursor(text, cursor string) bool {
	if len(cursor) < 6 {
		return false
	}
	quoted, _ := json.Marshal(cursor)
	for _, form := range []string{
		cursor, url.QueryEscape(cursor), url.PathEscape(cursor), string(quoted[1 : len(quoted)-1]),
		base64.RawStdEncoding.EncodeToString([]byte(cursor)), base64.RawURLEncoding.EncodeToString([]byte(cursor)), hex.EncodeToString([]byte(cursor)),
	} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// telling gives the ids that are long enough not to be found by chance.
func telling(tenants []string) []string {
	var ids []string
	for _, id := range tenants {
		if len(id) >= 6 {
			ids = append(ids, id)
		}
	}
	return ids
}

// holdsToken says whether the id stands in the text as a whole token: no character of an id touches it. A full stop that
// ends a sentence is none.
func holdsToken(text, id string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(id)
		before := start > 0 && idByte(text[start-1])
		sentenceEnds := end < len(text) && text[end] == '.' && (end+1 == len(text) || !idByte(text[end+1]))
		after := end < len(text) && idByte(text[end]) && !sentenceEnds
		if !before && !after {
			return true
		}
		from = start + 1
	}
}

func idByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("._~-", c) >= 0
}

// partOfEvent names what of a refused event the body tells: an envelope's payload, or its own timestamp.
func (o Revealed) partOfEvent(s observe.Stream) string {
	if o.constant(s) {
		return ""
	}
	var members map[string]any
	if json.Unmarshal(s.Response.Body, &members) == nil && hasMember(members, "payload") {
		return "a member called payload"
	}
	for _, data := range o.Events {
		e, ok := ParseEnvelope(data)
		if ok && len(e.Timestamp) > len("2006-01-02T15:04:05Z") && strings.Contains(s.Response.Body.String(), e.Timestamp) {
			return "the event's timestamp"
		}
		if ok && len(e.Payload) > len(`{"":""}`) && bytes.Contains(s.Response.Body, e.Payload) {
			return "the event's payload"
		}
	}
	return ""
}

// hasMember looks for a member of that name at any depth.
func hasMember(v any, name string) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if key == name || hasMember(inner, name) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if hasMember(inner, name) {
				return true
			}
		}
	}
	return false
}
