package conforming

import (
	"context"
	"net/http"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// RunFinder implements parts.RunFinder: opaque ids on major 1, tenant-bound ones on major 2, where the bare opaque segment
// names a run of the caller's own tenant as well.
type RunFinder struct{ Parts *parts.Parts }

var _ parts.RunFinder = RunFinder{}

// Named implements parts.RunFinder. On major 2 an id of another tenant is refused before anything is looked up, so that the
// answer tells nothing of the run.
func (f RunFinder) Named(ctx context.Context, p parts.Principal, major int, _, segment string) (store.Run, error) {
	opaque := segment
	if major == 2 {
		if tenant, id, bound := boundID(segment); bound {
			if tenant != p.Tenant {
				return store.Run{}, &parts.Problem{
					Status: http.StatusForbidden, Code: "id_tenant_mismatch", Message: "the run's id belongs to another tenant",
				}
			}
			opaque = id
		}
	}
	r, ok, err := f.Parts.Runs.Find(ctx, p, opaque)
	if err == nil && !ok {
		err = parts.NoRun()
	}
	return r, err
}

// boundID reads a tenant-bound id from a decoded path segment: projected ("acme~2Fr-9"), or plain where the path had it as
// "acme%2Fr-9". A segment that is neither is a bare opaque id.
func boundID(segment string) (tenant, opaque string, bound bool) {
	id := segment
	if !strings.Contains(id, "/") {
		var ok bool
		if id, ok = unproject(segment); !ok {
			return "", "", false
		}
	}
	return strings.Cut(id, "/")
}

const upperHex = "0123456789ABCDEF"

// ProjectID makes one path segment of an id: each byte outside A-Z a-z 0-9 . _ - becomes "~" and two upper-case digits.
func ProjectID(id string) string {
	var b strings.Builder
	for _, c := range []byte(id) {
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('~')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	return b.String()
}

// unproject undoes ProjectID; false where the segment isn't a projection.
func unproject(segment string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		switch {
		case c == '~':
			if i+2 >= len(segment) {
				return "", false
			}
			high, low := strings.IndexByte(upperHex, segment[i+1]), strings.IndexByte(upperHex, segment[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			b.WriteByte(byte(high<<4 | low))
			i += 2
		case plain(c):
			b.WriteByte(c)
		default:
			return "", false
		}
	}
	return b.String(), true
}

func plain(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}
