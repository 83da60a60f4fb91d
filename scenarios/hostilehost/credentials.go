package hostilehost

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// Forms are the forms of a key that the credential attacks give back: as it is, in base64 of each alphabet with and
// without padding, alone and as the whole header's value, and percent-encoded in either case.
func Forms(key string) map[string]string {
	percent := func(format string) string {
		var b strings.Builder
		for i := range len(key) {
			fmt.Fprintf(&b, format, key[i])
		}
		return b.String()
	}
	return map[string]string{
		"plain":             key,
		"base64":            base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 unpadded":   base64.RawStdEncoding.EncodeToString([]byte(key)),
		"base64url":         base64.URLEncoding.EncodeToString([]byte(key)),
		"base64 of header":  base64.StdEncoding.EncodeToString([]byte("Bearer " + key)),
		"percent":           percent("%%%02X"),
		"percent lowercase": percent("%%%02x"),
	}
}

// credentialAttacks give the caller's key back.
func credentialAttacks() []Attack {
	return []Attack{
		{Name: "echo-in-body", Says: "every body holds the caller's key, in every form", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r)
				rewriting(func(_ int, members map[string]any) { members["debug"] = Forms(key) })(nil, right).ServeHTTP(w, r)
			})
		}},
		{Name: "echo-in-message", Says: "every error's message is the caller's key", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r)
				rewriting(func(status int, members map[string]any) {
					if status >= 400 {
						members["message"] = "no: " + strings.Join(values(Forms(key)), " ")
					}
				})(nil, right).ServeHTTP(w, r)
			})
		}},
		{Name: "echo-in-headers", Says: "every answer has the caller's key in headers", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for form, text := range Forms(keyOf(r)) {
					w.Header().Set("X-Echo-"+strings.ReplaceAll(form, " ", "-"), text)
				}
				w.Header().Set(sanitised(keyOf(r)), "a name")
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "echo-in-stream", Says: "streams hold the caller's key, in every form, split over chunks and lines", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == streamPath {
					w = &leaking{ResponseWriter: w, key: keyOf(r)}
				}
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "echo-as-event-id", Says: "accepts with the caller's key as the event's id", Answer: on(triggerPath, func(_ *Server, w http.ResponseWriter, r *http.Request) {
			reply(w, http.StatusAccepted, "application/json", fmt.Sprintf(`{"eventId":%q,"type":"host-test.durable-triggered"}`, keyOf(r)))
		})},
		{Name: "echo-in-redirect", Says: "redirects to a place named by the caller's key", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r)
				if key == "" {
					right.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Location", "http://127.0.0.1:1/"+key)
				reply(w, http.StatusSeeOther, "text/plain", key)
			})
		}},
		{Name: "echo-in-status-line", Says: "the status line is the caller's key", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r)
				if key == "" {
					right.ServeHTTP(w, r)
					return
				}
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					abort()
				}
				defer func() { _ = c.Close() }()
				_, _ = fmt.Fprintf(c, "HTTP/1.1 %s\r\n\r\n", key)
			})
		}},
		{Name: "echo-in-status-text", Says: "the status text is the caller's key", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r)
				if key == "" {
					right.ServeHTTP(w, r)
					return
				}
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					abort()
				}
				defer func() { _ = c.Close() }()
				rec := httptest.NewRecorder()
				reply(rec, http.StatusTeapot, "text/plain", "no")
				_, _ = fmt.Fprintf(c, "HTTP/1.1 418 %s\r\n%s: x\r\nContent-Length: 2\r\n\r\nno", key, sanitised(key))
			})
		}},
	}
}

func keyOf(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// sanitised is a key as a header's name, where it can be one.
func sanitised(key string) string {
	if key == "" {
		return "X-No-Key"
	}
	return key
}

func values(m map[string]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// leaking writes the key in every form before the stream's first byte: whole, and in pieces of every size that reach the
// reader one after another.
type leaking struct {
	http.ResponseWriter
	key  string
	done bool
}

func (l *leaking) Write(b []byte) (int, error) {
	if !l.done {
		l.done = true
		if err := l.leak(); err != nil {
			return 0, err
		}
	}
	return l.ResponseWriter.Write(b)
}

func (l *leaking) leak() error {
	control := http.NewResponseController(l.ResponseWriter)
	for _, form := range Forms(l.key) {
		if _, err := fmt.Fprintf(l.ResponseWriter, ": %s\ndata: {\"leak\":\"%s\"}\n\n", form, form); err != nil {
			return err
		}
	}
	for _, size := range []int{1, 2, 5} {
		text := ": " + l.key + "\n"
		for len(text) > 0 {
			n := min(size, len(text))
			if _, err := l.ResponseWriter.Write([]byte(text[:n])); err != nil {
				return err
			}
			if err := control.Flush(); err != nil {
				return err
			}
			text = text[n:]
			<-time.After(time.Millisecond) // so that the pieces are read apart
		}
	}
	return nil
}

func (l *leaking) Unwrap() http.ResponseWriter { return l.ResponseWriter }
