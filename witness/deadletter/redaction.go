package deadletter

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Redacted is a run that held a secret when it died, and everything that can be read of it. Canary is the secret's value
// where the operator told it; otherwise the value begins Prefix, as does the secret's Name, which may be seen. Marker was
// an input of the run.
type Redacted struct {
	Run      Run                `json:"run"`
	Name     string             `json:"name"`
	Prefix   string             `json:"prefix"`
	Canary   string             `json:"canary,omitempty"`
	Marker   string             `json:"marker"`
	Fork     *Run               `json:"fork,omitempty"`     // its replay, which was given the same
	Surfaces []observe.Exchange `json:"surfaces,omitempty"` // errors, listings, sink entries
}

// JudgeRedacted judges 0053.exhaustion.redacted (RFC 0053 §C): the secret's value is on nothing that can be read, and a
// dead letter carries nothing of what the run was given.
func JudgeRedacted(o Redacted) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	if !r.died(&v) {
		return v
	}
	if o.Name == "" || o.Prefix == "" || o.Marker == "" || !r.LogReadable() && !r.Readable() {
		v.Undecide(registry.Unreadable, "the observation shows nothing of the run that a secret could be in")
		return v
	}
	for _, s := range surfacesOf(r, o.Surfaces) {
		o.check(&v, s)
	}
	o.letters(&v, r)
	if o.Fork != nil && len(v.Findings) == 0 { // who shows the run's secret is told so once
		f := o.Fork.read()
		for _, s := range surfacesOf(f, nil) {
			o.check(&v, s)
		}
		o.letters(&v, f)
	}
	return v
}

const whyCanary = "everyone who may read a failed run, an alert or a log line holds the credential"

func (o Redacted) check(v *witness.Verdict, s surface) {
	v.Check(s.check, !o.leaks(s.text), func() witness.Finding {
		return witness.Finding{
			Says: "the secret's value is in " + s.name, Expected: "at most the secret's name, " + o.Name, Got: s.name + " holds it",
			Why: whyCanary, Section: sectionContract,
		}
	})
}

// letters checks that a run's dead letters carry nothing of what it was given.
func (o Redacted) letters(v *witness.Verdict, r Run) {
	for _, e := range r.DeadLetters() {
		v.Check("no-input-in-dead-letter", !holds(e.Raw, o.Marker), func() witness.Finding {
			return witness.Finding{
				Says: "the dead-letter event carries what the run was given", Expected: "a redaction-safe reason and nothing of the inputs",
				Got: "the event holds the marker of the run's inputs", Section: sectionContract,
				Why: "events go to more readers than a run's data may",
			}
		})
	}
}

// surface is one text that can be read, under the check that it counts for.
type surface struct {
	check, name string
	text        []byte
}

// surfacesOf is what can be read of one run, and of answers beside it.
func surfacesOf(r Run, beside []observe.Exchange) []surface {
	var all []surface
	for _, e := range r.Log() {
		s := surface{"no-secret-in-events", "the event " + e.Type, e.Raw}
		if e.IsDeadLetter() {
			s.check = "no-secret-in-dead-letter"
		}
		all = append(all, s)
	}
	answer := func(check, name string, x observe.Exchange) {
		if x.Response != nil {
			all = append(all, surface{check, name, x.Response.Body})
			for _, h := range x.Response.Headers {
				all = append(all, surface{check, name, []byte(h.Value)})
			}
		}
	}
	for _, x := range r.Reads {
		answer("no-secret-in-events", "the poll's answer", x)
	}
	for _, st := range r.Streams {
		var whole []byte
		for _, c := range st.Chunks {
			whole = append(whole, c.Bytes...)
		}
		all = append(all, surface{"no-secret-in-events", "the stream", whole})
	}
	for _, x := range r.Snapshots {
		answer("no-secret-in-snapshot", "the snapshot", x)
	}
	for _, x := range append(r.Made[:len(r.Made):len(r.Made)], beside...) {
		answer("no-secret-elsewhere", "the answer to "+x.Request.Method+" "+x.Request.Target, x)
	}
	return all
}

// leaks says whether a text holds the secret's value: as it is, or as base64, hexadecimal or percent text.
func (o Redacted) leaks(text []byte) bool {
	if o.Canary != "" {
		for _, form := range formsOf(o.Canary) {
			if holds(text, form) {
				return true
			}
		}
		return false
	}
	for _, t := range readings(text) {
		for rest := t; ; {
			i := strings.Index(rest, o.Prefix)
			if i < 0 {
				break
			}
			if after, isName := strings.CutPrefix(rest[i:], o.Name); !isName || continues(after) {
				return true
			}
			rest = rest[i+len(o.Prefix):]
		}
	}
	return false
}

// continues says whether a name goes on, so that it is another one.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func formsOf(secret string) []string {
	raw := []byte(secret)
	forms := []string{secret, hex.EncodeToString(raw), url.QueryEscape(secret)}
	if len(raw) >= 6 { // the base64 of less is found by chance
		forms = append(forms, base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw))
	}
	return forms
}

// holds says whether a text has the part in it, as it stands or in a JSON string of it.
func holds(text []byte, part string) bool {
	if part == "" {
		return false
	}
	for _, t := range readings(text) {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}

// readings is the text as it stands, and where it is JSON written anew, so that no escape hides anything; and what its
// base64 and hexadecimal parts say.
func readings(text []byte) []string {
	all := []string{string(text)}
	var v any
	if json.Unmarshal(text, &v) == nil {
		var b strings.Builder
		flatten(&b, v)
		all = append(all, b.String())
	}
	for _, t := range all {
		all = append(all, decodings(t)...)
	}
	return all
}

// decodings reads each long run of base64 characters as base64, in either alphabet, and as hexadecimal.
func decodings(text string) []string {
	const long = 24 // characters: less says too little to hold a secret
	standard := strings.NewReplacer("-", "+", "_", "/")
	var all []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r > 'z' || !strings.ContainsRune(base64Characters, r) }) {
		if len(run) < long {
			continue
		}
		if b, err := hex.DecodeString(run); err == nil {
			all = append(all, string(b))
		}
		if len(run)%4 == 1 { // no length that base64 has: the last character is the next word's
			run = run[:len(run)-1]
		}
		if b, err := base64.RawStdEncoding.DecodeString(standard.Replace(run)); err == nil {
			all = append(all, string(b))
		}
	}
	return all
}

const base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"

// flatten writes every string and member name of a JSON value, a line each.
func flatten(b *strings.Builder, v any) {
	switch t := v.(type) {
	case string:
		b.WriteString(t)
		b.WriteByte('\n')
	case []any:
		for _, x := range t {
			flatten(b, x)
		}
	case map[string]any:
		for name, x := range t {
			flatten(b, name)
			flatten(b, x)
		}
	}
}
