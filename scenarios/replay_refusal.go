package scenarios

import (
	"context"
	"strings"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// cursorRefused drives 0250.cursor-refused: an unknown cursor, the same again, one on a stream that can be resumed, and
// where the trigger makes events the id of one with its end changed.
func cursorRefused(ctx context.Context, d *Drive) (any, error) {
	unknown := UnknownCursor("")
	o, err := d.besideLive(ctx, func() observe.Stream {
		return d.Refusal(ctx, "unknown", observe.CredentialA, unknown)
	})
	if err != nil {
		return nil, err
	}
	if o.Attempt.Response == nil {
		return o, nil // a host that doesn't answer once isn't waited for again and again
	}
	o.More = append(o.More, d.Refusal(ctx, "asked for again", observe.CredentialA, unknown))
	resumable := d.resumeCall("on a resumable stream", observe.CredentialA, UnknownCursor(""))
	resumable.Query.Set("resumable", "true")
	o.More = append(o.More, d.Ask(ctx, resumable))
	if !d.lists(typeDurable) {
		return o, nil
	}
	if e := d.Trigger(ctx, cause.TriggerCall{Label: "near", Credential: observe.CredentialA, Delivery: durable}); idCharacters(e.EventID) && NearMiss(e.EventID) != e.EventID {
		o.More = append(o.More, d.Refusal(ctx, "nearly an event's id", observe.CredentialA, NearMiss(e.EventID)))
	}
	return o, nil
}

// idCharacters says whether an id is made as ids are, so that one near it can be sent in a header.
func idCharacters(id string) bool {
	return id != "" && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-") == ""
}

// NearMiss is an id with every letter and digit of its last third changed for another of its kind: no event's, and to a
// host that reads only how an id begins, the event's own.
func NearMiss(id string) string {
	near := []byte(id)
	for i := len(near) - len(near)/3; i < len(near); i++ {
		switch c := near[i]; {
		case c >= '0' && c <= '9':
			near[i] = '0' + (c-'0'+5)%10
		case c >= 'a' && c <= 'f':
			near[i] = 'a' + (c-'a'+3)%6
		case c >= 'A' && c <= 'F':
			near[i] = 'A' + (c-'A'+3)%6
		case c >= 'g' && c <= 'z':
			near[i] = 'g' + (c-'g'+10)%20
		case c >= 'G' && c <= 'Z':
			near[i] = 'G' + (c-'G'+10)%20
		}
	}
	return string(near)
}

// legacyUnchanged drives 0250.legacy-unchanged.
func legacyUnchanged(ctx context.Context, d *Drive) (any, error) {
	o, err := d.besideLive(ctx, func() observe.Stream {
		return d.Ask(ctx, client.Call{
			Label: "unknown, legacy", Credential: observe.CredentialA,
			Header: []observe.Header{{Name: "Last-Event-ID", Value: UnknownCursor("")}},
		})
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// besideLive makes one attempt while an ordinary stream of the same key is open.
func (d *Drive) besideLive(ctx context.Context, attempt func() observe.Stream) (hostevents.Attempt, error) {
	live, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return hostevents.Attempt{}, err
	}
	tried := attempt()
	live.Close()
	return hostevents.Attempt{Live: live.Record(), Attempt: tried}, nil
}

// refusalUniform drives 0250.refusal-uniform: an ephemeral event's id, and a real durable id of the second tenant that
// the second tenant resumes first; and the same the other way round, where one tenant's events could be everybody's.
func refusalUniform(ctx context.Context, d *Drive) (any, error) {
	if err := d.TwoTenants(ctx); err != nil {
		return nil, err
	}
	own, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	other, err := d.Live(ctx, observe.CredentialB)
	if err != nil {
		return nil, err
	}
	e, err := d.Emit(ctx, own, "E", observe.CredentialA, ephemeral)
	if err != nil {
		return nil, err
	}
	foreign, err := d.Emit(ctx, other, "B1", observe.CredentialB, durable)
	if err != nil {
		return nil, err
	}
	owner := d.Resume(ctx, "the owner resumes", observe.CredentialB, foreign.EventID)
	owner.Close()
	home, err := d.Emit(ctx, own, "A1", observe.CredentialA, durable)
	if err != nil {
		return nil, err
	}
	first := d.Resume(ctx, "the first tenant resumes", observe.CredentialA, home.EventID)
	first.Close()
	return hostevents.Uniform{
		Back: &hostevents.UniformBack{
			OwnerResumed: first.Record(),
			Unknown:      d.Refusal(ctx, "unknown to the second tenant", observe.CredentialB, UnknownCursor(home.EventID)),
			Foreign:      d.Refusal(ctx, "the first tenant's", observe.CredentialB, home.EventID),
		},
		OwnerResumed: owner.Record(),
		Unknown:      d.Refusal(ctx, "unknown", observe.CredentialA, UnknownCursor(foreign.EventID)),
		Ephemeral:    d.Refusal(ctx, "ephemeral", observe.CredentialA, e.EventID),
		Foreign:      d.Refusal(ctx, "foreign", observe.CredentialA, foreign.EventID),
	}, nil
}
