package scenarios

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// A rate comes before any other answer, to the seam that ends the process too: whether it is mounted shows behind the 429.
func TestAPutOffKillIsAskedAgain(t *testing.T) {
	h, _ := newDeadHost(t)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/process/kill") {
			if asked.Add(1) == 1 {
				w.Header().Set("Retry-After", "0")
				refuse(w, http.StatusTooManyRequests, "rate_limited")
				return
			}
		}
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	host, problem, err := Probe(t.Context(), Config{BaseURL: server.URL, KeyA: "ka"})
	if err != nil || problem != nil {
		t.Fatal(err, problem)
	}
	r, err := newRun(t.Context(), Config{BaseURL: server.URL, KeyA: "ka"}, host)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.newDrive(registry.Case{Leg: registry.Leg{ID: "0053.exhaustion.durable"}, Major: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	_, err = d.Restart(t.Context())
	var s *stop
	if !errors.As(err, &s) || s.Reason != registry.NoCause || asked.Load() != 2 {
		t.Errorf("asked %d times, and it ended %v", asked.Load(), err)
	}
}
