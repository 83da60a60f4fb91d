package defects

import (
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// asker is a parts.Asker that is a function.
type asker func(r *http.Request) (parts.StreamRequest, error)

func (f asker) Ask(r *http.Request) (parts.StreamRequest, error) { return f(r) }

func replayValueStrict(p *parts.Parts) {
	right := p.Asker
	p.Asker = asker(func(r *http.Request) (parts.StreamRequest, error) {
		if !r.URL.Query().Has("replay") {
			return right.Ask(r)
		}
		q := r.URL.Query()
		q.Set("replay", "required")
		r = r.Clone(r.Context())
		r.URL.RawQuery = q.Encode()
		return right.Ask(r)
	})
}

func replayValueFails(p *parts.Parts) {
	right := p.Asker
	p.Asker = asker(func(r *http.Request) (parts.StreamRequest, error) {
		s, err := right.Ask(r)
		if err != nil && r.URL.Query().Has("replay") {
			return s, &parts.Problem{
				Status: http.StatusInternalServerError, Code: "internal_error", Message: "no such replay mode",
			}
		}
		return s, err
	})
}
