package hostilehost

import (
	"net/http"
	"sync/atomic"
)

// deathAttacks are right hosts that die at a certain moment and stay dead.
func deathAttacks() []Attack {
	return []Attack{
		{Name: "dies-at-start", Says: "dies at the first request", Answer: dying(1, func(*http.Request) bool { return true })},
		{Name: "dies-after-discovery", Says: "dies at the first request that brings a key", Answer: dying(1, func(r *http.Request) bool { return r.Header.Get("Authorization") != "" })},
		{Name: "dies-in-a-leg", Says: "dies when the sixth event is triggered", Answer: dying(6, func(r *http.Request) bool { return r.URL.Path == triggerPath })},
		{Name: "dies-with-streams", Says: "dies at the fourth stream that is opened", Answer: dying(4, func(r *http.Request) bool { return r.URL.Path == streamPath })},
	}
}

// dying dies at the n-th request of a kind, from inside its handler.
func dying(n int64, kind func(*http.Request) bool) func(*Server, http.Handler) http.Handler {
	return func(s *Server, right http.Handler) http.Handler {
		var seen atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if kind(r) && seen.Add(1) >= n {
				s.Die()
				abort()
			}
			right.ServeHTTP(w, r)
		})
	}
}
