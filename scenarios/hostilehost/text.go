package hostilehost

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Text is what the text attacks put wherever a host can put text: escapes for a terminal, markup, Markdown, controls of
// direction, and what would end a workflow command of a CI runner. It is valid inside a JSON string once encoded.
const Text = "\x1b[2J\x1b]0;owned\x07\x1b[31mred</script><script>alert(1)</script><img src=x onerror=alert(1)>" +
	"[click](javascript:alert(1))|`x`|**b**\u202egnp.exe\u2066\u200b\u0085\u2028]]>&lt;\n::error::owned\n##[error]owned\r\n"

// headerText is the part of Text that a header can carry.
const headerText = "</script><script>alert(1)</script><img src=x onerror=alert(1)> [click](javascript:alert(1)) |`x`|"

// textAttacks are right but for text that wants to be alive in a report.
func textAttacks() []Attack {
	return []Attack{
		{Name: "live-text-in-errors", Says: "refusals and errors whose text is escapes and markup", Answer: rewriting(func(status int, members map[string]any) {
			if status >= 400 {
				members["error"], members["message"], members["details"] = Text, Text, map[string]any{Text: Text}
			}
		})},
		{Name: "live-text-in-discovery", Says: "a document whose names are escapes and markup", Answer: rewriting(func(_ int, members map[string]any) {
			if members["protocolVersions"] == nil {
				return
			}
			members["implementation"] = map[string]any{"name": Text, "version": Text, "vendor": Text}
			members["fixtures"] = []string{Text}
			members["preferredVersion"] = Text
			members[Text] = Text
			if events, ok := members["hostEvents"].(map[string]any); ok {
				types, _ := events["types"].([]any)
				events["types"] = append(types, map[string]any{"type": Text, "delivery": Text})
				events["replay"] = map[string]any{Text: Text}
			}
		})},
		{Name: "live-text-in-events", Says: "events whose type, id and members are escapes and markup", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == streamPath {
					w = &replacing{ResponseWriter: w, old: []byte(`"payload":{}`), new: encoded(map[string]any{Text: Text})}
				}
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "live-text-in-types", Says: "frames of a type that is escapes and markup", Answer: func(_ *Server, right http.Handler) http.Handler {
			live := strings.NewReplacer("\n", "", "\r", "").Replace(Text)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == streamPath {
					w = &replacing{ResponseWriter: w, old: []byte("event: host-test."), new: []byte("event: " + live)}
				}
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "live-text-in-headers", Says: "headers and media types of markup", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Powered-By", headerText)
				if r.URL.Path == triggerPath {
					reply(w, 299, headerText, Text)
					return
				}
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "live-text-as-problem", Says: "a discovery that redirects to markup", Answer: on(discoveryPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", headerText)
			reply(w, http.StatusFound, headerText, Text)
		})},
	}
}

func encoded(members map[string]any) []byte {
	b, err := json.Marshal(members)
	if err != nil {
		panic("hostilehost: " + err.Error()) // made of strings
	}
	return append([]byte(`"payload":`), b...)
}

// rewriting changes the members of JSON answers. Streams pass.
func rewriting(change func(status int, members map[string]any)) func(*Server, http.Handler) http.Handler {
	return func(_ *Server, right http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := &deciding{to: w, held: httptest.NewRecorder()}
			right.ServeHTTP(rec, r)
			if rec.passes {
				return
			}
			var members map[string]any
			text := rec.held.Body.Bytes()
			if json.Unmarshal(text, &members) == nil && members != nil {
				change(rec.held.Code, members)
				if b, err := json.Marshal(members); err == nil {
					text = b
				}
			}
			for name, values := range rec.held.Header() {
				w.Header()[name] = values
			}
			w.Header().Del("Content-Length")
			w.WriteHeader(rec.held.Code)
			_, _ = w.Write(text)
		})
	}
}

// deciding holds an answer back unless it turns out to be a stream.
type deciding struct {
	to     http.ResponseWriter
	held   *httptest.ResponseRecorder
	passes bool
	begun  bool
}

func (d *deciding) Header() http.Header {
	if d.passes {
		return d.to.Header()
	}
	return d.held.Header()
}

func (d *deciding) WriteHeader(status int) {
	if d.begun {
		return
	}
	d.begun = true
	if status == http.StatusOK && strings.HasPrefix(d.held.Header().Get("Content-Type"), "text/event-stream") {
		for name, values := range d.held.Header() {
			d.to.Header()[name] = values
		}
		d.passes = true
		d.to.WriteHeader(status)
		return
	}
	d.held.WriteHeader(status)
}

func (d *deciding) Write(b []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	if d.passes {
		return d.to.Write(b)
	}
	return d.held.Write(b)
}

// FlushError is what the standard library's response controller looks for.
func (d *deciding) FlushError() error {
	if !d.passes {
		return nil
	}
	return http.NewResponseController(d.to).Flush()
}

// replacing puts other bytes in the place of some, within one write.
type replacing struct {
	http.ResponseWriter
	old, new []byte
}

func (r *replacing) Write(b []byte) (int, error) {
	if _, err := r.ResponseWriter.Write(bytes.ReplaceAll(b, r.old, r.new)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *replacing) Unwrap() http.ResponseWriter { return r.ResponseWriter }
