package cause

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// advanceTimeout bounds an advance: the host answers after all work that fell due has been done.
const advanceTimeout = 60 * time.Second

// ClockNow reads the host's clock through the clock seam: its time and whether it is "real" or "manual". The time is zero
// where the answer doesn't say it.
func ClockNow(ctx context.Context, s *client.Session, major int) (now time.Time, mode string, ex observe.Exchange) {
	ex = s.Do(ctx, client.Call{Label: "clock", Credential: observe.CredentialA, Path: client.SeamPath(major, "clock"), Major: major, Patience: defaultMaxWait})
	if ex.Status() != http.StatusOK {
		return time.Time{}, "", ex
	}
	var members map[string]any
	if json.Unmarshal(ex.Response.Body, &members) != nil {
		return time.Time{}, "", ex
	}
	mode, _ = members["mode"].(string)
	text, _ := members["now"].(string)
	now, _ = observe.Instant(text)
	return now, mode, ex
}

// Advance moves the host's clock on by whole seconds, one or more. It is sent once, since a second one would
// move it again; a 429 has moved nothing.
func Advance(ctx context.Context, s *client.Session, seconds int64, major int) observe.ClockMove {
	return observe.ClockMove{Seconds: seconds, Exchange: s.Do(ctx, client.Call{
		Label: "advance", Credential: observe.CredentialA, Method: http.MethodPost, Path: client.SeamPath(major, "clock/advance"),
		Header: idempotent(""), Body: encode(map[string]any{"seconds": seconds}), Major: major, Timeout: advanceTimeout, Patience: defaultMaxWait,
	})}
}
