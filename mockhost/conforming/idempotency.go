package conforming

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// ForgetAnswersWork is the kind of the due work that forgets old answers; it has one key, "".
const ForgetAnswersWork = "idempotency.forget"

// answersKept is how long, in domain time, an idempotent request gets its first answer again.
const answersKept = 24 * time.Hour

// errAnswered undoes an effect whose answer another instance has kept meanwhile.
var errAnswered = errors.New("the request was answered already")

// Idempotency implements parts.Idempotency. The answer is kept in the effect's own transaction, so there is no moment
// at which one exists without the other.
type Idempotency struct {
	store store.Store
	parts *parts.Parts

	mu       sync.Mutex
	inFlight map[flight]bool
}

type flight struct{ tenant, operation, key string }

// NewIdempotency makes the port over a store.
func NewIdempotency(s store.Store, p *parts.Parts) *Idempotency {
	return &Idempotency{store: s, parts: p, inFlight: map[flight]bool{}}
}

// Run implements parts.Idempotency.
func (i *Idempotency) Run(ctx context.Context, p parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
	if !r.Given {
		a, err := effect(ctx, nil)
		return a, false, err
	}
	if !validKey(r.Key) {
		return parts.Answer{}, false, &parts.Problem{
			Status: http.StatusBadRequest, Code: "idempotency_key_invalid",
			Message: "Idempotency-Key must be 1 to 255 visible ASCII characters",
		}
	}
	f := flight{p.Tenant, r.Operation, r.Key}
	if !i.enter(f) {
		return parts.Answer{}, false, &parts.Problem{
			Status: http.StatusConflict, Code: "idempotency_in_flight",
			Message: "the first request with this key is still being answered",
		}
	}
	defer i.leave(f)
	if a, ok, err := i.store.Answer(ctx, p.Tenant, r.Operation, r.Key); err != nil || ok {
		return again(a, r, err)
	}
	a, err := effect(ctx, func(tx store.Tx, a parts.Answer) error { return i.keep(tx, p, r, a) })
	if errors.Is(err, errAnswered) {
		kept, _, err := i.store.Answer(ctx, p.Tenant, r.Operation, r.Key)
		return again(kept, r, err)
	}
	return a, false, err
}

func (i *Idempotency) keep(tx store.Tx, p parts.Principal, r parts.Request, a parts.Answer) error {
	_, ok, err := tx.Answer(p.Tenant, r.Operation, r.Key)
	switch {
	case err != nil:
		return err
	case ok:
		return errAnswered
	}
	now := i.parts.Clock.Now()
	if err := tx.PutWork(store.Work{Kind: ForgetAnswersWork, Due: now.Add(answersKept)}); err != nil {
		return err
	}
	return tx.PutAnswer(store.Answer{
		Tenant: p.Tenant, Operation: r.Operation, Key: r.Key,
		Fingerprint: r.Fingerprint, Status: a.Status, Body: a.Body, At: now,
	})
}

// Forget removes answers that are older than a day of domain time.
func (i *Idempotency) Forget(ctx context.Context, _ string, now time.Time) error {
	return i.store.Write(ctx, func(tx store.Tx) error {
		oldest, left, err := tx.ForgetAnswers(now.Add(-answersKept + 1))
		if err != nil {
			return err
		}
		w := store.Work{Kind: ForgetAnswersWork}
		if left {
			w.Due = later(oldest.Add(answersKept), now.Add(time.Minute))
		}
		return tx.MoveWork(w)
	})
}

func again(a store.Answer, r parts.Request, err error) (parts.Answer, bool, error) {
	switch {
	case err != nil:
		return parts.Answer{}, false, err
	case a.Fingerprint != r.Fingerprint:
		return parts.Answer{}, false, &parts.Problem{
			Status: http.StatusConflict, Code: "idempotency_key_mismatch",
			Message: "this key was used with another body",
		}
	}
	return parts.Answer{Status: a.Status, Body: a.Body}, true, nil
}

func (i *Idempotency) enter(f flight) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.inFlight[f] {
		return false
	}
	i.inFlight[f] = true
	return true
}

func (i *Idempotency) leave(f flight) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.inFlight, f)
}

func validKey(k string) bool {
	if len(k) < 1 || len(k) > 255 {
		return false
	}
	for _, c := range []byte(k) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
