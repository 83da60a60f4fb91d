package client

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestAPatientCallIsSentAgainAfterA429(t *testing.T) {
	for _, c := range []struct {
		name         string
		refusals     int
		after        string // Retry-After
		patience     time.Duration
		status, sent int
	}{
		{"no patience", 1, "0", 0, 429, 1},
		{"put off twice", 2, "0", time.Second, 200, 3},
		{"put off until a date that has come", 1, "Thu, 01 Jan 2026 00:00:00 GMT", time.Second, 200, 2},
		{"for longer than there is patience", 1, "60", time.Second, 429, 1},
		{"for longer in all than there is patience", 3, "0", 2 * leastWait, 429, 3},
		{"not told for how long", 1, "", leastWait, 429, 1},
	} {
		for stream, accepted := range map[bool]string{false: "application/json", true: eventStream} {
			t.Run(c.name+", "+accepted, func(t *testing.T) {
				sent, bodies := 0, ""
				_, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					bodies += string(body)
					w.Header().Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
					if sent++; sent <= c.refusals {
						if c.after != "" {
							w.Header().Set("Retry-After", c.after)
						}
						w.WriteHeader(http.StatusTooManyRequests)
						return
					}
					w.Header().Set("Content-Type", accepted)
				})
				call := Call{Method: http.MethodPost, Path: "/x", Body: []byte("b"), Patience: c.patience}
				var status int
				if stream {
					o := s.Open(context.Background(), call)
					if status = o.Exchange.Status(); o.Body != nil {
						_ = o.Body.Close()
					}
				} else {
					status = s.Do(context.Background(), call).Status()
				}
				if status != c.status || sent != c.sent || len(bodies) != c.sent {
					t.Errorf("answered %d after %d requests with %q, want %d after %d, each with its body", status, sent, bodies, c.status, c.sent)
				}
			})
		}
	}
}
