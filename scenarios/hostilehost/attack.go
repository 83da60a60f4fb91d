package hostilehost

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
)

// Attack is one way of being hostile. Exactly one of Conn and Answer is set, or neither where nothing listens at all.
type Attack struct {
	Name string
	Says string // what the suite meets, in one line

	// Conn speaks on a raw connection, which is closed when it returns.
	Conn func(s *Server, c net.Conn)
	// Answer gives the handler; right is a host that does everything as it should.
	Answer func(s *Server, right http.Handler) http.Handler
	// Certificate makes the host speak TLS with it. The server's CA is "" then unless trusting it is the point.
	Certificate func() (tls.Certificate, []byte, error)
}

// Attacks lists every attack, each name once. The caller owns the slice.
func Attacks() []Attack {
	return slices.Concat(connectionAttacks(), certificateAttacks(), discoveryAttacks(), deathAttacks(), streamAttacks(),
		triggerAttacks(), textAttacks(), credentialAttacks())
}

// Named gives the attack of that name.
func Named(name string) (Attack, bool) {
	all := Attacks()
	i := slices.IndexFunc(all, func(a Attack) bool { return a.Name == name })
	if i < 0 {
		return Attack{}, false
	}
	return all[i], true
}

const (
	discoveryPath = "/.well-known/openwop"
	streamPath    = "/host/events"
	triggerPath   = "/host/events/test"
)

// on answers one path itself and leaves the rest to the right host.
func on(path string, answer func(s *Server, w http.ResponseWriter, r *http.Request)) func(*Server, http.Handler) http.Handler {
	return func(s *Server, right http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				answer(s, w, r)
				return
			}
			right.ServeHTTP(w, r)
		})
	}
}

// body answers a path with a status, a media type and a body.
func body(path string, status int, media, text string) func(*Server, http.Handler) http.Handler {
	return on(path, func(_ *Server, w http.ResponseWriter, _ *http.Request) { reply(w, status, media, text) })
}

func reply(w http.ResponseWriter, status int, media, text string) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("OpenWOP-Version", "2.0")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
