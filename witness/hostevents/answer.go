package hostevents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// unanswered says whether an exchange holds no answer to the question that was asked, and undecides the verdict then:
// it failed on the way, was cut short, or was put off by an answer that may lawfully come before any other (a rate, a
// version, a service that is down for the moment).
func unanswered(v *witness.Verdict, what string, x observe.Exchange) bool {
	switch {
	case x.Response == nil:
		v.Undecide(unreachable(x.Failure), "%s: %s", what, failureText(x.Failure))
	case x.Status() == 429 && x.Request.Method == "POST":
		v.Undecide(registry.RateTooLow, "%s: the host kept answering 429", what)
	case busy(x) || x.Status() == 406:
		v.Undecide(registry.UnexpectedAnswer, "%s: the host answered %s", what, brief(x))
	case x.Failure != nil && !observe.IsEventStream(x.Response.Header("Content-Type")):
		v.Undecide(unreachable(x.Failure), "%s: the answer is incomplete: %s", what, failureText(x.Failure))
	default:
		return false
	}
	return true
}

// keyRefused undecides where the host refused the operator's key, which says nothing about what was asked with it.
func keyRefused(v *witness.Verdict, what string, x observe.Exchange) bool {
	switch x.Status() {
	case 401:
		v.Undecide(registry.Unauthorized, "%s: the host answered %s; it does not know the key that it was given", what, brief(x))
	case 403:
		v.Undecide(registry.Unauthorized, "%s: the host answered %s; the key needs the scope webhooks:manage", what, brief(x))
	default:
		return false
	}
	return true
}

// refusal is how the text says that a request is refused.
type refusal struct {
	status int
	code   string
}

func (r refusal) String() string { return fmt.Sprintf("%d %s", r.status, r.code) }

// isRefusal checks one refusal. The status decides; a code that is registered for something else convicts too, while
// one that the suite doesn't know is noted.
func isRefusal(v *witness.Verdict, check, what string, x observe.Exchange, want refusal, why, section string) {
	code := errorBody(x).Error
	held := x.Status() == want.status && (code == want.code || registeredStatus(code) == 0)
	v.Check(check, held, func() witness.Finding {
		return witness.Finding{
			Says: what + " was not refused as the text says", Expected: want.String(), Got: brief(x), Why: why, Section: section,
		}
	})
	if held && code != want.code {
		v.Note("error-code", "%s is refused with %d and the code %q", what, x.Status(), clip(code))
	}
}

// registeredStatus is the status of a registered error code, 0 for one that the suite doesn't know.
func registeredStatus(code string) int {
	switch code {
	case "validation_error", "unsupported_stream_mode", "protocol_version_mismatch", "idempotency_key_invalid":
		return 400
	case "unauthenticated":
		return 401
	case "forbidden", "id_tenant_mismatch":
		return 403
	case "not_found":
		return 404
	case "protocol_version_unsupported":
		return 406
	case "idempotency_key_mismatch", "idempotency_in_flight", "run_terminal", "run_state_conflict", resyncRequired:
		return 409
	case "run_expired":
		return 410
	case "payload_too_large":
		return 413
	case "unsupported_media_type":
		return 415
	case "fork_point_invalid":
		return 422
	case "rate_limited":
		return 429
	case "internal_error":
		return 500
	case "service_unavailable":
		return 503
	}
	return 0
}

// problem is an error body. Members that are missing or of another type are zero.
type problem struct {
	Error   string
	Message string
	Details json.RawMessage
}

func errorBody(x observe.Exchange) problem {
	var members map[string]json.RawMessage
	if x.Response == nil || json.Unmarshal(x.Response.Body, &members) != nil {
		return problem{}
	}
	p := problem{Details: members["details"]}
	_ = json.Unmarshal(members["error"], &p.Error)
	_ = json.Unmarshal(members["message"], &p.Message)
	return p
}

// brief is one exchange in one line: status, content type and the start of the body.
func brief(x observe.Exchange) string {
	if x.Response == nil {
		return failureText(x.Failure)
	}
	line := fmt.Sprintf("%d %s", x.Status(), x.Response.Header("Content-Type"))
	if body := clip(x.Response.Body.String()); body != "" {
		line += " " + body
	}
	return strings.TrimSpace(line)
}

// clip keeps the start of a text that a host chose the length of.
func clip(s string) string {
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

func failureText(f *observe.Failure) string {
	if f == nil {
		return "no answer"
	}
	return f.Text
}

// unreachable is the reason for an exchange that failed on the way.
func unreachable(f *observe.Failure) registry.Reason {
	if f != nil && f.Kind == observe.FailTimeout {
		return registry.Timeout
	}
	if f != nil && (f.Kind == observe.FailTooLarge || f.Kind == observe.FailMalformed) {
		return registry.Unreadable
	}
	return registry.Unreachable
}
