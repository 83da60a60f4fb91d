package defects

import (
	"context"
	"encoding/base64"
	"net/http"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// unknownDefects refuse an unknown cursor in most cases, and not in each, or not as an error is written (RFC 0250 §C).
func unknownDefects() []Defect {
	refused, reveals := []string{"0250.cursor-refused"}, []string{"0250.refusal-reveals-nothing"}
	d := func(name, says string, convicts []string, prepare func() func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, prepare}
	}
	return []Defect{
		d("unknown-cursor-second-time", "refuses an unknown cursor once, and opens the stream live when it is asked for again", refused, unknownSecondTime),
		d("unknown-cursor-resumable", "forgets that strict replay was asked for where resumable=true is too", refused, wraps(unknownResumable)),
		d("cursor-by-beginning", "reads only how a cursor begins, and resumes at the event whose id begins so", refused, remembering(cursorByBeginning)),
		d("refusal-without-message", "refuses without a message", refused, wraps(refusalBody(`{"error":"`+resyncCode+`"}`))),
		d("refusal-extra-member", "has a member of its own in the refusal", refused,
			wraps(refusalBody(`{"error":"`+resyncCode+`","message":"`+resyncMessage+`","retriable":false}`))),
		d("refusal-cursor-encoded", "repeats the cursor, in base64, in a header of the refusal", reveals, wraps(refusalEncodes)),
	}
}

func unknownSecondTime() func(*parts.Parts) {
	var mu sync.Mutex
	refused := map[string]bool{}
	return func(p *parts.Parts) {
		resumes(p, func(right parts.Resumer) resumer {
			return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
				s, err := right.Start(ctx, pr, r)
				if err == nil || !r.Strict {
					return s, err
				}
				mu.Lock()
				again := refused[r.Cursor]
				refused[r.Cursor] = true
				mu.Unlock()
				if !again {
					return s, err
				}
				r.Strict = false
				return right.Start(ctx, pr, r)
			}
		})
	}
}

func unknownResumable(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			r.Strict = r.Strict && !r.Resumable
			return right.Start(ctx, pr, r)
		}
	})
}

// beginning is how much of a cursor such a host reads.
const beginning = 16

func cursorByBeginning(p *parts.Parts, j *journal) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil || !r.Strict || len(r.Cursor) < beginning {
				return s, err
			}
			e, ok := j.find(func(e entry) bool {
				return e.event.Durable() && e.event.Tenant == pr.Tenant && e.event.ID[:beginning] == r.Cursor[:beginning]
			})
			if !ok || e.event.ID == r.Cursor {
				return s, err
			}
			r.Cursor = e.event.ID
			return right.Start(ctx, pr, r)
		}
	})
}

func refusalBody(body string) func(*parts.Parts) {
	return func(p *parts.Parts) {
		refuses(p, func(parts.Refuser) refuser {
			return func(w http.ResponseWriter, _ *http.Request, _ parts.Principal, _ parts.StreamRequest) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusConflict)
				_, _ = w.Write([]byte(body))
			}
		})
	}
}

func refusalEncodes(p *parts.Parts) {
	refuses(p, func(right parts.Refuser) refuser {
		return func(w http.ResponseWriter, r *http.Request, pr parts.Principal, s parts.StreamRequest) {
			w.Header().Set("X-Refused-Event", base64.StdEncoding.EncodeToString([]byte(s.Cursor)))
			right.Refuse(w, r, pr, s)
		}
	})
}
