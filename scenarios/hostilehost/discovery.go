package hostilehost

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"strings"
)

// discoveryAttacks are those that the first document carries.
func discoveryAttacks() []Attack {
	const jsonMedia = "application/json"
	document := func(text string) func(*Server, http.Handler) http.Handler {
		return body(discoveryPath, http.StatusOK, jsonMedia, text)
	}
	withTypes := func(replay string) string {
		return `{"protocolVersions":["2.0"],"preferredVersion":"2.0","hostEvents":{"status":"stable","since":"2.0","witness":"witnessable-gated",` +
			`"types":[{"type":"host-test.durable-triggered","delivery":"durable"},{"type":"host-test.ephemeral-triggered","delivery":"ephemeral"}],` + replay + `}}`
	}
	return []Attack{
		{Name: "html-page", Says: "a web page with 200 for everything", Answer: all(http.StatusOK, "text/html", "<!doctype html><script>alert('x')</script><h1>Welcome</h1>")},
		{Name: "server-errors", Says: "500 for everything", Answer: all(http.StatusInternalServerError, jsonMedia, `{"error":"internal_error","message":"<b>boom</b>"}`)},
		{Name: "errors-after-discovery", Says: "500 for everything but discovery", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == discoveryPath {
					right.ServeHTTP(w, r)
					return
				}
				reply(w, http.StatusInternalServerError, jsonMedia, `{"error":"internal_error","message":"boom"}`)
			})
		}},
		{Name: "wrong-key", Says: "401 for every key", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Authorization")
				right.ServeHTTP(w, r)
			})
		}},
		{Name: "busy-for-ever", Says: "503 with a retry in an hour for everything", Answer: func(*Server, http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3600")
				reply(w, http.StatusServiceUnavailable, jsonMedia, `{"error":"service_unavailable","message":"later"}`)
			})
		}},
		{Name: "endless-document", Says: "a document without end", Answer: on(discoveryPath, func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", jsonMedia)
			endless(r.Context(), s, w, `{"protocolVersions":["2.0"],"a":[`, strings.Repeat(`"filling",`, 1000))
		})},
		{Name: "trickling-document", Says: "a document that comes a byte at a time", Answer: on(discoveryPath, func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", jsonMedia)
			trickle(r.Context(), s, w, `{"protocolVersions":[`, ` `)
		})},
		{Name: "gzip-bomb", Says: "a kilobyte that unpacks to a gigabyte", Answer: on(discoveryPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) { bomb(w) })},
		{Name: "unknown-encoding", Says: "a content encoding that nobody asked for or knows", Answer: on(discoveryPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "compress, br")
			reply(w, http.StatusOK, jsonMedia, "\x1f\x9d\x90")
		})},
		{Name: "invalid-utf8", Says: "a document with bytes that are no UTF-8", Answer: document("{\"protocolVersions\":[\"2.0\"],\"preferredVersion\":\"2.0\",\"implementation\":{\"name\":\"\xff\xfe\xc0\xaf\"}}")},
		{Name: "duplicate-keys", Says: "a document that says everything twice, differently", Answer: document(`{"protocolVersions":["1.0"],"protocolVersions":["2.0"],"preferredVersion":"2.0"}`)},
		{Name: "deep-nesting", Says: "a document nested 10,000 deep", Answer: document(`{"protocolVersions":["2.0"],"a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`)},
		{Name: "huge-numbers", Says: "numbers of 100,000 digits and beyond every range", Answer: document(withTypes(`"replay":{"minRetentionSeconds":1` + strings.Repeat("0", 100000) + `},"x":1e999999999`))},
		{Name: "wrong-types", Says: "every member of another type than it should be", Answer: document(`{"protocolVersions":{"2.0":true},"preferredVersion":2,"hostEvents":[[]],"fixtures":"x","limits":null,"signingKeys":{"keyId":1}}`)},
		{Name: "wrong-types-of-family", Says: "a family whose members are of the wrong types", Answer: document(strings.Replace(withTypes(`"replay":"yes"`), `"types":[`, `"types":[null,7,{"type":{},"delivery":[]},`, 1))},
		{Name: "empty-document", Says: "200 and nothing", Answer: document("")},
		{Name: "trailing-document", Says: "a second document after the first", Answer: document(`{"protocolVersions":["2.0"],"preferredVersion":"2.0"}{"protocolVersions":["1.0"]}`)},
		{Name: "future-major", Says: "a major that nobody knows", Answer: document(`{"protocolVersions":["9999999999999999999.0","3.0"],"preferredVersion":"3.0"}`)},
		{Name: "redirect", Says: "sends everybody to another origin", Answer: redirecting(func(string) bool { return true })},
		{Name: "redirect-after-discovery", Says: "sends everybody who brings a key to another origin", Answer: redirecting(func(path string) bool { return path != discoveryPath })},
		{Name: "redirect-loop", Says: "sends everybody round in circles", Answer: func(*Server, http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"/", http.StatusFound) })
		}},
	}
}

func all(status int, media, text string) func(*Server, http.Handler) http.Handler {
	return func(*Server, http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, status, media, text) })
	}
}

// redirecting sends requests for the chosen paths to another origin, keeping their method (307), in the hope that their
// credential comes along.
func redirecting(chosen func(path string) bool) func(*Server, http.Handler) http.Handler {
	return func(s *Server, right http.Handler) http.Handler {
		elsewhere, err := s.elsewhere()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case err != nil:
				reply(w, http.StatusInternalServerError, "text/plain", err.Error())
			case chosen(r.URL.Path):
				http.Redirect(w, r, elsewhere+r.URL.RequestURI(), http.StatusTemporaryRedirect)
			default:
				right.ServeHTTP(w, r)
			}
		})
	}
}

// endless writes the same text for ever, as fast as it is taken.
func endless(ctx context.Context, s *Server, w http.ResponseWriter, first, then string) {
	_, err := w.Write([]byte(first))
	for err == nil && ctx.Err() == nil && s.closing.Err() == nil {
		_, err = w.Write([]byte(then))
	}
}

// trickle writes a byte at a time, for ever.
func trickle(ctx context.Context, s *Server, w http.ResponseWriter, first, then string) {
	control := http.NewResponseController(w)
	every(ctx, s, drip, func(n int) bool {
		text := then
		if n < len(first) {
			text = first[n : n+1]
		}
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	})
}

// bomb answers with a gigabyte of spaces, packed.
func bomb(w http.ResponseWriter) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "application/json")
	bombAfter(w, "")
}

// bombAfter writes a text and a gigabyte of spaces, packed as they go, so that only the receiver can run out of memory.
func bombAfter(w http.ResponseWriter, first string) {
	z := gzip.NewWriter(w)
	_, err := z.Write([]byte(first))
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for n := 0; n < 1<<10 && err == nil; n++ {
		_, err = z.Write(spaces)
	}
	_ = z.Close() // the receiver has gone, or has it all
}
