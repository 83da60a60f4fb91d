// Package cause is how the suite makes things happen at a host: events through the trigger (RFC 0241) and the emit seam,
// removal, and the clock. Each function does one thing over a session and returns what was sent and answered as
// recorded types.
//
// It holds no opinion: an answer that makes no sense leaves the read values empty and the exchange to be judged. Start
// with Trigger.
package cause

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// TriggerCall is one use of the trigger.
type TriggerCall struct {
	Label          string
	Credential     string
	Delivery       string         // "durable" or "ephemeral"
	Workspace      string         // sent as workspaceId where it isn't empty
	IdempotencyKey string         // a fresh one where it is empty
	ExtraBody      map[string]any // members added to the body, or put in the place of its own
	Body           []byte         // sent as it is in the place of a made one, where it isn't nil
	Major          int
	MaxWait        time.Duration // how long, in all, a 429 may make the suite wait; 30 s where it is zero
}

const (
	defaultMaxWait = 30 * time.Second
	// A host that says 429 and not for how long is asked again after this.
	unsaidWait = time.Second
	// A host that says 0 is not hammered.
	leastWait   = 50 * time.Millisecond
	maxAttempts = 100
)

// Trigger sends POST /host/events/test. Where the host answers 429 it waits as told, within MaxWait in all, and sends the
// same request with the same key again; every attempt is recorded, and Emit.Waited is the time it took. EventID and Type
// are read from a 202 only.
func Trigger(ctx context.Context, s *client.Session, t TriggerCall) observe.Emit {
	emit := observe.Emit{Label: t.Label, Credential: t.Credential, Delivery: t.Delivery, Workspace: t.Workspace}
	body := map[string]any{"delivery": t.Delivery}
	if t.Workspace != "" {
		body["workspaceId"] = t.Workspace
	}
	maps.Copy(body, t.ExtraBody)
	call := client.Call{
		Label: t.Label, Credential: t.Credential, Method: http.MethodPost, Path: client.TriggerPath(t.Major),
		Header: idempotent(t.IdempotencyKey), Body: encode(body), Major: t.Major,
	}
	if t.Body != nil {
		call.Body = t.Body
	}
	emit.Attempts = patiently(ctx, s, call, t.MaxWait)
	read := accepted(emit.Answer())
	emit.EventID, emit.Type = read.EventID, read.Type
	return emit
}

// EmitCall is one use of the emit seam.
type EmitCall struct {
	Label        string
	Credential   string
	Type         string
	Delivery     string // the class that the host lists for the type; recorded, not sent
	Workspace    string
	PayloadBytes int // asked for where it is greater than zero
	Major        int
	MaxWait      time.Duration
}

// EmitSeam sends POST …/host-events/emit, which emits any listed type, with a payload of about the size asked for.
func EmitSeam(ctx context.Context, s *client.Session, e EmitCall) observe.Emit {
	emit := observe.Emit{Label: e.Label, Credential: e.Credential, Delivery: e.Delivery, Workspace: e.Workspace, Type: e.Type}
	body := map[string]any{"type": e.Type}
	if e.Workspace != "" {
		body["workspaceId"] = e.Workspace
	}
	if e.PayloadBytes > 0 {
		body["payloadBytes"] = e.PayloadBytes
	}
	call := client.Call{
		Label: e.Label, Credential: e.Credential, Method: http.MethodPost, Path: client.SeamPath(e.Major, "host-events/emit"),
		Header: idempotent(""), Body: encode(body), Major: e.Major,
	}
	emit.Attempts = patiently(ctx, s, call, e.MaxWait)
	emit.EventID = accepted(emit.Answer()).EventID
	return emit
}

// Remove sends POST …/host-events/remove: the lawful deletion of one event of the first tenant. 204 says it is gone.
func Remove(ctx context.Context, s *client.Session, eventID string, major int) observe.Exchange {
	return s.Do(ctx, client.Call{
		Label: "remove", Credential: observe.CredentialA, Method: http.MethodPost, Path: client.SeamPath(major, "host-events/remove"),
		Header: idempotent(""), Body: encode(map[string]any{"eventId": eventID}), Major: major, Patience: defaultMaxWait,
	})
}

// SeamMounted says whether a seam's answer is that of one that is mounted. Unmounted ones answer 404; 403, 405 and 501
// are seen too. Without an answer nothing is mounted.
func SeamMounted(ex observe.Exchange) bool {
	switch ex.Status() {
	case 0, http.StatusNotFound, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return false
	}
	return true
}

// patiently sends the call until the answer is not 429, or waiting on would take longer than allowed.
func patiently(ctx context.Context, s *client.Session, call client.Call, maxWait time.Duration) []observe.Exchange {
	if maxWait <= 0 {
		maxWait = defaultMaxWait
	}
	var attempts []observe.Exchange
	left := maxWait
	for {
		ex := s.Do(ctx, call)
		attempts = append(attempts, ex)
		wait, is := client.PutOff(ex)
		if !is || len(attempts) == maxAttempts || wait > left || !s.Sleep(ctx, wait) {
			return attempts
		}
		left -= wait
	}
}

// longestID bounds what is taken for an id or a type and sent back to the host, well beyond any grammar's 128.
const longestID = 4 << 10

type acceptance struct{ EventID, Type string }

// accepted reads the whole answer of a 202. A member of another type is passed over, and so is one of absurd length.
func accepted(ex observe.Exchange) acceptance {
	if ex.Status() != http.StatusAccepted || ex.Failure != nil {
		return acceptance{}
	}
	var members map[string]any
	if json.Unmarshal(ex.Response.Body, &members) != nil {
		return acceptance{}
	}
	id, _ := members["eventId"].(string)
	eventType, _ := members["type"].(string)
	if len(id) > longestID || len(eventType) > longestID {
		return acceptance{}
	}
	return acceptance{id, eventType}
}

func idempotent(key string) []observe.Header {
	if key == "" {
		key = rand.Text()
	}
	return []observe.Header{{Name: "Idempotency-Key", Value: key}}
}

// encode writes a body made of strings, numbers and what a leg adds. A value that has no JSON form is a mistake in a leg.
func encode(body map[string]any) []byte {
	b, err := json.Marshal(body)
	if err != nil {
		panic("request body of a leg: " + err.Error())
	}
	return b
}
