package hostilehost

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// triggerAttacks are those of the answer to the test trigger.
func triggerAttacks() []Attack {
	accepted := func(eventID string) func(*Server, http.Handler) http.Handler {
		id, err := json.Marshal(eventID)
		if err != nil {
			id = []byte(`""`)
		}
		return body(triggerPath, http.StatusAccepted, "application/json", `{"eventId":`+string(id)+`,"type":"host-test.durable-triggered"}`)
	}
	limited := func(retryAfter string) func(*Server, http.Handler) http.Handler {
		return on(triggerPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", retryAfter)
			reply(w, http.StatusTooManyRequests, "application/json", `{"error":"rate_limited","message":"later"}`)
		})
	}
	return []Attack{
		{Name: "long-event-id", Says: "an event id of a mebibyte", Answer: accepted(strings.Repeat("A", 1<<20))},
		{Name: "event-id-with-lines", Says: "an event id that would end a header line", Answer: accepted("abcdefghijklmnop\r\nX-Injected: yes\r\n\r\nGET / HTTP/1.1")},
		{Name: "event-id-with-nul", Says: "an event id with NUL and escapes", Answer: accepted("abcdefgh\x00\x1b[31mijklmnop")},
		{Name: "event-id-not-text", Says: "an event id that is an object", Answer: body(triggerPath, http.StatusAccepted, "application/json", `{"eventId":{"$ne":null},"type":["x"]}`)},
		{Name: "event-id-empty", Says: "an empty event id", Answer: accepted("")},
		{Name: "event-id-of-markup", Says: "an event id that is markup", Answer: accepted(`"><script>alert(1)</script>`)},
		{Name: "event-id-never-delivered", Says: "accepts every event and delivers none", Answer: accepted("never-delivered-0123456789")},
		{Name: "trigger-echo-of-nothing", Says: "202 with an HTML page", Answer: body(triggerPath, http.StatusAccepted, "text/html", "<html>ok</html>")},
		{Name: "limited-for-ever", Says: "429 always, to be tried at once", Answer: limited("0")},
		{Name: "limited-for-centuries", Says: "429 with a wait of centuries", Answer: limited("999999999999999999999")},
		{Name: "limited-for-decades", Says: "429 with a wait of decades", Answer: limited("999999999")},
		{Name: "limited-negative", Says: "429 with a negative wait", Answer: limited("-5")},
		{Name: "limited-until-yesterday", Says: "429 until a date that is past", Answer: limited("Thu, 01 Jan 1970 00:00:00 GMT")},
		{Name: "limited-until-doomsday", Says: "429 until the last year that a date can name", Answer: limited("Fri, 31 Dec 9999 23:59:59 GMT")},
		{Name: "limited-nonsense", Says: "429 with a wait that is markup", Answer: limited("<script>1</script>")},
		{Name: "trickling-answer", Says: "a 202 that comes a byte at a time", Answer: on(triggerPath, func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusAccepted)
			trickle(r.Context(), s, w, `{"eventId":"`, "a")
		})},
		{Name: "endless-answer", Says: "a 202 without end", Answer: on(triggerPath, func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusAccepted)
			endless(r.Context(), s, w, `{"eventId":"`, strings.Repeat("a", 64<<10))
		})},
		{Name: "silent-trigger", Says: "never answers the trigger", Answer: on(triggerPath, func(s *Server, _ http.ResponseWriter, r *http.Request) { hold(r.Context(), s) })},
		{Name: "trigger-cut", Says: "cuts the connection of every trigger", Answer: on(triggerPath, func(*Server, http.ResponseWriter, *http.Request) { abort() })},
		{Name: "trigger-cut-in-body", Says: "cuts a 202 in the middle of its body", Answer: on(triggerPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "400")
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"eventId":"abcdefghijklmnop","type":"host-test.durable-triggered"}`))
			_ = http.NewResponseController(w).Flush()
			abort()
		})},
		{Name: "switches-protocols", Says: "101 in answer to the trigger", Answer: on(triggerPath, func(s *Server, w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				abort()
			}
			defer func() { _ = c.Close() }()
			_, _ = c.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"))
			timer := time.NewTimer(time.Minute)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-s.closing.Done():
			}
		})},
		{Name: "unasked-answers", Says: "sends answers that nobody asked for on idle connections", Answer: func(_ *Server, right http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != triggerPath {
					right.ServeHTTP(w, r)
					return
				}
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					abort()
				}
				defer func() { _ = c.Close() }()
				answer := `{"eventId":"abcdefghijklmnop","type":"host-test.durable-triggered"}`
				_, _ = c.Write([]byte("HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: " +
					strconv.Itoa(len(answer)) + "\r\n\r\n" + answer + "HTTP/1.1 200 \x1b[31m<script>" + keyOf(r) + "\r\n\r\n"))
				readRequest(c)
			})
		}},
	}
}
