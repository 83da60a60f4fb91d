package defects

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

const (
	resyncCode    = "host_event_resync_required"
	resyncMessage = "resynchronize before you subscribe again"
)

// refusalDefects are wrong about a cursor that isn't resumed (RFC 0250 §C).
func refusalDefects() []Defect {
	d := func(name, says string, convicts []string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, wraps(apply)}
	}
	r := func(name, says string, convicts []string, apply func(*parts.Parts, *journal)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, remembering(apply)}
	}
	uniform, reveals := []string{"0250.refusal-uniform"}, []string{"0250.refusal-reveals-nothing"}
	return []Defect{
		d("unknown-cursor-live", "answers an unknown cursor with 200 and a live stream",
			[]string{"0250.cursor-refused", "0250.refusal-uniform", "0250.cursor-hostile", "0250.removed", "0250.expired"}, unknownLive),
		d("refusal-not-found", "refuses with 404 not_found", []string{"0250.cursor-refused"}, refusalNotFound),
		d("refusal-in-stream", "opens the stream with 200 and then sends the refusal as an SSE event",
			[]string{"0250.cursor-refused", "0250.refusal-uniform", "0250.cursor-hostile", "0250.removed", "0250.expired"}, refusalInStream),
		d("refusal-echoes-cursor", "names the cursor in the refusal's message",
			[]string{"0250.refusal-uniform", "0250.refusal-reveals-nothing", "0250.cursor-hostile", "0250.removed", "0250.expired",
				"0250.workspace-backlog"}, refusalEchoes),
		d("refusal-cursor-header", "repeats the cursor in a header of the refusal", reveals, refusalHeader),
		d("refusal-names-tenant", "names the caller's tenant in the refusal's message", reveals, refusalNamesTenant),
		r("refusal-tells-event", "puts the event that it refuses to resume from into the refusal's details",
			[]string{"0250.refusal-uniform", "0250.refusal-reveals-nothing", "0250.removed", "0250.expired", "0250.workspace-backlog"}, refusalTellsEvent),
		r("foreign-cursor-forbidden", "refuses another tenant's cursor with 403 id_tenant_mismatch", uniform, foreignForbidden),
		r("foreign-cursor-message", "says in the refusal that the event isn't the caller's", uniform, foreignMessage),
		r("foreign-cursor-resumed", "looks the cursor up among all tenants and resumes from another's", uniform, foreignResumed),
		r("ephemeral-cursor-message", "says in the refusal that the event was an ephemeral one", uniform, ephemeralMessage),
		r("ephemeral-cursor-resumed", "remembers ephemeral ids and resumes from one", uniform, ephemeralResumed),
		d("refusal-before-key", "refuses an unknown cursor before it looks at the key", []string{"0250.auth-first", "0250.workspace-backlog"}, refusalBeforeKey),
		d("refusal-before-scope", "looks at the cursor before it looks at the key's scopes", []string{"0250.auth-first"}, refusalBeforeScope),
		d("legacy-cursor-refused", "refuses an unknown cursor also where strict replay wasn't asked for",
			[]string{"0250.legacy-unchanged"}, legacyRefused),
		d("hostile-cursor-500", "fails with 500 on a cursor that isn't made of the characters of an id",
			[]string{"0250.cursor-hostile"}, hostileFails),
		d("hostile-cursor-live", "takes a cursor that can't be an id for none, and opens the stream live",
			[]string{"0250.cursor-hostile"}, hostileLive),
		d("replay-value-strict", "takes any value of replay for required", []string{"0250.replay-value"}, replayValueStrict),
		d("replay-value-500", "fails with 500 on a value of replay that it doesn't know", []string{"0250.replay-value"}, replayValueFails),
	}
}

func unknownLive(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			r.Strict = false
			return right.Start(ctx, pr, r)
		}
	})
}

func refusalNotFound(p *parts.Parts) {
	refuses(p, func(parts.Refuser) refuser {
		return func(w http.ResponseWriter, _ *http.Request, _ parts.Principal, _ parts.StreamRequest) {
			answer(w, http.StatusNotFound, "not_found", "no event has that id")
		}
	})
}

func refusalInStream(p *parts.Parts) {
	refuses(p, func(parts.Refuser) refuser {
		return func(w http.ResponseWriter, _ *http.Request, _ parts.Principal, _ parts.StreamRequest) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte("event: error\ndata: {\"error\":\"" + resyncCode + "\",\"message\":\"" + resyncMessage + "\"}\n\n"))
		}
	})
}

func refusalEchoes(p *parts.Parts) {
	refuses(p, func(parts.Refuser) refuser {
		return func(w http.ResponseWriter, _ *http.Request, _ parts.Principal, s parts.StreamRequest) {
			answer(w, http.StatusConflict, resyncCode, "cannot resume from "+s.Cursor)
		}
	})
}

func refusalHeader(p *parts.Parts) {
	refuses(p, func(right parts.Refuser) refuser {
		return func(w http.ResponseWriter, r *http.Request, pr parts.Principal, s parts.StreamRequest) {
			w.Header().Set("X-Refused-Event", url.QueryEscape(s.Cursor))
			right.Refuse(w, r, pr, s)
		}
	})
}

func refusalNamesTenant(p *parts.Parts) {
	refuses(p, func(parts.Refuser) refuser {
		return func(w http.ResponseWriter, _ *http.Request, pr parts.Principal, _ parts.StreamRequest) {
			answer(w, http.StatusConflict, resyncCode, "tenant "+pr.Tenant+" has no such position; "+resyncMessage)
		}
	})
}

func refusalTellsEvent(p *parts.Parts, j *journal) {
	refuses(p, func(right parts.Refuser) refuser {
		return func(w http.ResponseWriter, r *http.Request, pr parts.Principal, s parts.StreamRequest) {
			e, ok := j.find(func(e entry) bool { return e.event.ID == s.Cursor })
			if !ok {
				right.Refuse(w, r, pr, s)
				return
			}
			body := `{"error":"` + resyncCode + `","message":"` + resyncMessage + `","details":{"payload":{},"emitted":"` +
				e.event.At.UTC().Format(envelopeTime) + `"}}`
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(body))
		}
	})
}

// refusesKnown answers otherwise for a refused cursor that the journal knows and match picks.
func refusesKnown(p *parts.Parts, j *journal, match func(pr parts.Principal, e entry) bool, status int, code, message string) {
	refuses(p, func(right parts.Refuser) refuser {
		return func(w http.ResponseWriter, r *http.Request, pr parts.Principal, s parts.StreamRequest) {
			if _, ok := j.find(func(e entry) bool { return e.event.ID == s.Cursor && match(pr, e) }); ok {
				answer(w, status, code, message)
				return
			}
			right.Refuse(w, r, pr, s)
		}
	})
}

// resumesKnown resumes a refused cursor that the journal knows and match picks, at the place that start names.
func resumesKnown(p *parts.Parts, j *journal, match func(pr parts.Principal, e entry) bool, place func(e entry, head int64) int64) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && (s.Resumed || r.Cursor == "") {
				return s, nil
			}
			e, ok := j.find(func(e entry) bool { return e.event.ID == r.Cursor && match(pr, e) })
			if !ok {
				return s, err
			}
			head, err := p.Log.Head(ctx, pr)
			return parts.Start{After: place(e, head), Head: head, Resumed: true}, err
		}
	})
}

func foreign(pr parts.Principal, e entry) bool {
	return e.event.Durable() && e.event.Tenant != pr.Tenant
}

func ephemeral(pr parts.Principal, e entry) bool {
	return !e.event.Durable() && e.event.Tenant == pr.Tenant
}

func atHead(_ entry, head int64) int64 { return head }

func foreignForbidden(p *parts.Parts, j *journal) {
	refusesKnown(p, j, foreign, http.StatusForbidden, "id_tenant_mismatch", "that event belongs to another tenant")
}

func foreignMessage(p *parts.Parts, j *journal) {
	refusesKnown(p, j, foreign, http.StatusConflict, resyncCode, "that event is not one of yours; "+resyncMessage)
}

func foreignResumed(p *parts.Parts, j *journal) { resumesKnown(p, j, foreign, atHead) }

func ephemeralMessage(p *parts.Parts, j *journal) {
	refusesKnown(p, j, ephemeral, http.StatusConflict, resyncCode, "that event was ephemeral; "+resyncMessage)
}

func ephemeralResumed(p *parts.Parts, j *journal) {
	resumesKnown(p, j, ephemeral, func(e entry, _ int64) int64 { return e.place })
}

// front is a parts.Front that is a function.
type front func(next http.Handler) http.Handler

func (f front) Wrap(next http.Handler) http.Handler { return f(next) }

func refusalBeforeKey(p *parts.Parts) {
	right := p.Front
	p.Front = front(func(next http.Handler) http.Handler {
		next = right.Wrap(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := p.Asker.Ask(r)
			if r.Method != http.MethodGet || r.URL.Path != "/host/events" || err != nil || !s.Strict || s.Cursor == "" {
				next.ServeHTTP(w, r)
				return
			}
			for _, tenant := range p.Directory.Tenants() {
				if _, ok, err := p.Log.Find(r.Context(), parts.Principal{Tenant: tenant}, s.Cursor); ok || err != nil {
					next.ServeHTTP(w, r)
					return
				}
			}
			p.Refuser.Refuse(w, r, parts.Principal{}, s)
		})
	})
}

// lateScope is a gate that leaves the reading scope to be asked for later.
type lateScope struct{ parts.Gate }

func (g lateScope) Require(p parts.Principal, scope string) error {
	if scope == parts.ScopeRunsRead {
		return nil
	}
	return g.Gate.Require(p, scope)
}

func refusalBeforeScope(p *parts.Parts) {
	right := p.Gate
	p.Gate = lateScope{right}
	resumes(p, func(inner parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := inner.Start(ctx, pr, r)
			if err != nil {
				return s, err
			}
			return s, right.Require(pr, parts.ScopeRunsRead)
		}
	})
}

func legacyRefused(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			r.Strict = true
			return right.Start(ctx, pr, r)
		}
	})
}

func looksLikeID(cursor string) bool {
	return len(cursor) <= 128 && strings.Trim(cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-") == ""
}

func hostileFails(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			if !looksLikeID(r.Cursor) {
				return parts.Start{}, &parts.Problem{
					Status: http.StatusInternalServerError, Code: "internal_error", Message: "unexpected character in id",
				}
			}
			return right.Start(ctx, pr, r)
		}
	})
}

func hostileLive(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			if !looksLikeID(r.Cursor) {
				r.Cursor = ""
			}
			return right.Start(ctx, pr, r)
		}
	})
}
