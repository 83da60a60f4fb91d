package scenarios

import (
	"context"
	"strings"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// refusalRevealsNothing drives 0250.refusal-reveals-nothing: an unknown cursor, and where the operator's means and the
// host's classes allow them, another tenant's and an ephemeral event's.
func refusalRevealsNothing(ctx context.Context, d *Drive) (any, error) {
	foreign, err := d.foreign(ctx)
	if err != nil {
		return nil, err
	}
	o := hostevents.Revealed{Tenants: d.TenantIDs()}
	ask := func(label, cursor string) {
		o.Refusals = append(o.Refusals, d.Refusal(ctx, label, observe.CredentialA, cursor))
	}
	if foreign != nil {
		o.Events = append(o.Events, foreign.data)
		ask("foreign", foreign.emit.EventID)
		other := d.Refusal(ctx, "unknown, other tenant", observe.CredentialB, UnknownCursor(foreign.emit.EventID))
		o.OtherTenant = &other
	}
	ask("unknown", UnknownCursor(""))
	if d.lists(typeEphemeral) {
		own, err := d.Live(ctx, observe.CredentialA)
		if err != nil {
			return nil, err
		}
		e, err := d.Emit(ctx, own, "E", observe.CredentialA, ephemeral)
		if err != nil {
			return nil, err
		}
		o.Events = append(o.Events, dataOf(own, e))
		ask("ephemeral", e.EventID)
	}
	return o, nil
}

// authFirst drives 0250.auth-first: a bad key, and where there is one a key without runs:read, at each kind of cursor.
func authFirst(ctx context.Context, d *Drive) (any, error) {
	_, good, err := d.backlog(ctx, "D1")
	if err != nil {
		return nil, err
	}
	foreign, err := d.foreign(ctx)
	if err != nil {
		return nil, err
	}
	cursors := [][2]string{{"good cursor", good[0].EventID}, {"unknown cursor", UnknownCursor(good[0].EventID)}}
	if foreign != nil {
		cursors = append(cursors, [2]string{"foreign cursor", foreign.emit.EventID})
	}
	credentials := []string{observe.CredentialBad}
	if d.Config().KeyLow != "" {
		credentials = append(credentials, observe.CredentialLow)
	}
	var o hostevents.AuthFirst
	for _, credential := range credentials {
		plain := d.resumeCall("no cursor", credential, "")
		plain.Header = nil
		o.Plain = append(o.Plain, d.Ask(ctx, plain))
		for _, c := range cursors {
			o.With = append(o.With, d.Refusal(ctx, c[0], credential, c[1]))
		}
	}
	return o, nil
}

// cursorHostile drives 0250.cursor-hostile. Every cursor is made of an id that no host issued, so that none becomes an
// issued one by trimming, unquoting, decoding or cutting.
func cursorHostile(ctx context.Context, d *Drive) (any, error) {
	fresh := func() string { return UnknownCursor("") }
	o := hostevents.Hostile{Unknown: d.Refusal(ctx, "unknown", observe.CredentialA, fresh())}
	for _, c := range [][2]string{
		{"overlong", strings.Repeat(fresh(), 8)},
		{"very long", strings.Repeat(fresh(), 200)},
		{"quoted", `"` + fresh() + `"`},
		{"half-quoted", "'" + fresh()},
		{"percent-encoded", "%" + "41" + fresh() + "%2F%00"},
		{"bad percent", fresh() + "%zz%"},
		{"wildcard", "%"},
		{"path", "../" + fresh()},
		{"UTF-8", fresh() + "é☃"},
		{"Latin-1", fresh() + "\xe9\xff"},
	} {
		o.Attempts = append(o.Attempts, d.Refusal(ctx, c[0], observe.CredentialA, c[1]))
	}
	return o, nil
}

// replayValue drives 0250.replay-value.
func replayValue(ctx context.Context, d *Drive) (any, error) {
	cursor := UnknownCursor("")
	other := d.resumeCall("replay=sometimes", observe.CredentialA, cursor)
	other.Query.Set("replay", "sometimes")
	return hostevents.OtherValue{
		Other: d.Ask(ctx, other),
		Legacy: d.Ask(ctx, client.Call{Label: "legacy", Credential: observe.CredentialA,
			Header: []observe.Header{{Name: "Last-Event-ID", Value: cursor}}}),
	}, nil
}

// shownEvent is an event with the envelope that its own tenant was shown.
type shownEvent struct {
	emit observe.Emit
	data string
}

// foreign emits a durable event of the second tenant, shown by that tenant's own stream. It is nil where the operator
// gave no second key.
func (d *Drive) foreign(ctx context.Context) (*shownEvent, error) {
	if d.Config().KeyB == "" {
		return nil, nil
	}
	if err := d.TwoTenants(ctx); err != nil {
		return nil, err
	}
	other, err := d.Live(ctx, observe.CredentialB)
	if err != nil {
		return nil, err
	}
	e, err := d.Emit(ctx, other, "B1", observe.CredentialB, durable)
	if err != nil {
		return nil, err
	}
	return &shownEvent{emit: e, data: dataOf(other, e)}, nil
}

// dataOf is the envelope with which a stream showed an event.
func dataOf(s *sse.Subscription, e observe.Emit) string {
	for _, f := range s.Frames() {
		if hostevents.EventOf(f) == e.EventID {
			return f.Data
		}
	}
	return ""
}

func (d *Drive) lists(eventType string) bool {
	events, _ := d.run.host.Discovery[d.Major].HostEvents()
	return events.Lists(eventType)
}
