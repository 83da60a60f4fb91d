package hosthttp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	discoveryPath = "/.well-known/openwop"
	versionHeader = "OpenWOP-Version"
)

// discovery holds each major's document encoded, since nothing in it changes while the host runs.
type discovery struct {
	server *server
	docs   map[int]representation
}

type representation struct {
	body []byte
	etag string
}

func newDiscovery(s *server) *discovery {
	d := &discovery{server: s, docs: map[int]representation{}}
	for _, m := range s.Majors {
		b, err := json.Marshal(s.parts.Discovery.Document(m))
		if err != nil {
			panic(fmt.Sprintf("the discovery document of major %d can't be encoded: %v", m, err))
		}
		sum := sha256.Sum256(b)
		d.docs[m] = representation{body: b, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
	}
	return d
}

// serve answers with the major asked for; a client that names none is an old one, and gets major 1 where it is served.
func (d *discovery) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", versionHeader)
	major := slices.Min(d.server.Majors)
	if asked := r.Header.Values(versionHeader); len(asked) > 0 {
		var ok bool
		if major, ok = d.server.asked(asked); !ok {
			d.server.problem(w, d.server.unsupported())
			return
		}
	}
	doc := d.docs[major]
	h.Set(versionHeader, strconv.Itoa(major)+".0")
	h.Set("ETag", doc.etag)
	h.Set("Cache-Control", "no-cache")
	if matches(r.Header.Values("If-None-Match"), doc.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(doc.body)))
	_, _ = w.Write(doc.body)
}

// matches compares as RFC 9110 §13.1.2 does for If-None-Match: weakly, and "*" matches what exists.
func matches(given []string, etag string) bool {
	for _, line := range given {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
