package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// mostPages bounds a listing of the sink. A host that gives cursors for ever is told from one that has many entries by
// the judge: the listing was not read to its end.
const mostPages = 100

// entries reads the sink's pages until one shows the run, or there are no more.
func (d *Drive) entries(ctx context.Context, credential, runID string) []observe.Exchange {
	var pages []observe.Exchange
	cursor := ""
	for range mostPages {
		x := cause.Entries(ctx, d.Session, credential, cursor, d.Major)
		pages = append(pages, x)
		if cursor = deadletter.NextCursor(x); x.Status() != 200 || cursor == "" || deadletter.EntryOf(pages[len(pages)-1:], runID) != nil {
			break
		}
	}
	return pages
}

// sink makes a run die and reads the owner's listing until it shows the run.
func (d *Drive) sink(ctx context.Context) (deadletter.Sink, error) {
	o := deadletter.Sink{Major: d.Major, Days: d.days()}
	if x := cause.Entries(ctx, d.Session, observe.CredentialA, "", d.Major); !cause.SeamMounted(x) {
		if x.Failure != nil && x.Response == nil {
			return o, blocked(failureReason(x.Failure.Kind), "the seam deadletter/entries: %s", x.Failure.Text)
		}
		return o, inapplicable(registry.NoCause, "the host mounts no seam that shows its sink (GET %s answered %d)", x.Request.Target, x.Status())
	}
	var err error
	if o.Run, err = d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries}); err != nil {
		return o, err
	}
	o.Owner, _ = d.listed(ctx, o.Run.RunID)
	return o, nil
}

// listed reads the owner's listing until it shows the run, for as long as an event may take.
func (d *Drive) listed(ctx context.Context, runID string) (pages []observe.Exchange, shown bool) {
	for deadline := time.Now().Add(d.run.config.eventTimeout()); ; {
		pages = d.entries(ctx, observe.CredentialA, runID)
		shown = deadletter.EntryOf(pages, runID) != nil
		if shown || time.Now().After(deadline) || !d.Sleep(ctx, 20*time.Millisecond) {
			return pages, shown
		}
	}
}

// younger makes a second run die once the first is listed, and waits until it is listed as well: between the two a page of
// one entry ends.
func (d *Drive) younger(ctx context.Context, o *deadletter.Sink) error {
	if deadletter.EntryOf(o.Owner, o.Run.RunID) == nil {
		return nil
	}
	r, err := d.Die(ctx, death{label: "a younger dead run", fixtures: exhausting(), seam: exhaustRetries})
	if err != nil {
		return err
	}
	if _, shown := d.listed(ctx, r.RunID); shown {
		o.Younger = &r
	}
	return nil
}

// mostSmallPages bounds a listing by pages of one entry: the two runs are next to each other, and at one of its ends.
const mostSmallPages = 20

// sinkInspectable drives 0053.sink.inspectable: a run dies and is listed, another one dies, and both are looked for by
// pages of one entry.
func sinkInspectable(ctx context.Context, d *Drive) (any, error) {
	o, err := d.sink(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.younger(ctx, &o); err != nil || o.Younger == nil {
		return o, err
	}
	for cursor := ""; len(o.Paged) < mostSmallPages; {
		x := cause.EntriesPage(ctx, d.Session, observe.CredentialA, cursor, 1, d.Major)
		o.Paged = append(o.Paged, x)
		both := deadletter.EntryOf(o.Paged, o.Run.RunID) != nil && deadletter.EntryOf(o.Paged, o.Younger.RunID) != nil
		if cursor = deadletter.NextCursor(x); x.Status() != 200 || cursor == "" || both {
			break
		}
	}
	return o, nil
}

// sinkScoped drives 0053.sink.scoped: the owner's listing first, then another tenant's, and another tenant's that goes on
// where a page of the owner's ended.
func sinkScoped(ctx context.Context, d *Drive) (any, error) {
	o, err := d.sink(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.twoOwners(ctx, o.Run); err != nil {
		return nil, err
	}
	o.Other = d.entries(ctx, observe.CredentialB, o.Run.RunID)
	if err := d.younger(ctx, &o); err != nil {
		return nil, err
	}
	page := cause.EntriesPage(ctx, d.Session, observe.CredentialA, "", 1, d.Major)
	if cursor := deadletter.NextCursor(page); cursor != "" {
		o.OtherBehind = append(o.OtherBehind, cause.Entries(ctx, d.Session, observe.CredentialB, cursor, d.Major))
		o.Behind = &page
	}
	return o, nil
}

// deadLetterSpecs pairs the legs of RFC 0053 with their scenarios.
func deadLetterSpecs() []spec {
	return []spec{
		{"0053.shape.vectors", deadLetterVectors},
		{"0053.shape.advertisement", deadLetterAdvertisement},
		{"0053.shape.retention-days", deadLetterAdvertisement},
		{"0053.exhaustion.event", exhaustionEvent},
		{"0053.exhaustion.attempts", exhaustionAttempts},
		{"0053.exhaustion.status", exhaustionStatus},
		{"0053.exhaustion.retained", exhaustionRetained},
		{"0053.exhaustion.not-early", exhaustionNotEarly},
		{"0053.exhaustion.durable", exhaustionDurable},
		{"0053.exhaustion.other-instance", exhaustionOtherInstance},
		{"0053.exhaustion.redacted", exhaustionRedacted},
		{"0053.fork.replay", forkReplay},
		{"0053.fork.branch", forkBranch},
		{"0053.fork.source-unchanged", forkSourceUnchanged},
		{"0053.fork.tenant", forkTenant},
		{"0053.retention.floor", retentionFloor},
		{"0053.retention.purged", retentionPurged},
		{"0053.retention.no-oracle", retentionNoOracle},
		{"0053.retention.neighbour", retentionNeighbour},
		{"0053.retention.other-instance", retentionOtherInstance},
		{"0053.sink.inspectable", sinkInspectable},
		{"0053.sink.scoped", sinkScoped},
	}
}
