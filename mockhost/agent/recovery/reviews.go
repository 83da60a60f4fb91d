package recovery

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// pageOfReviews is how many entries are looked through at once for those in review.
const pageOfReviews = 200

// Reviews is what waits for a person.
type Reviews struct{ Recovery }

var _ parts.Reviews = Reviews{}

// List implements parts.Reviews.
func (r Reviews) List(ctx context.Context, p parts.Principal, review string, after int64, limit int) ([]parts.Entry, error) {
	from := r.Store.Reading(ctx)
	var out []parts.Entry
	for {
		page, err := keep.ToolEntries.List(from, p.Tenant, store.RecordQuery{
			States: []string{parts.Unresolved}, After: after, Limit: pageOfReviews,
		})
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			after = e.Seq
			if e.Review == review {
				out = append(out, e)
			}
			if len(out) == limit {
				return out, nil
			}
		}
		if len(page) < pageOfReviews {
			return out, nil
		}
	}
}

// Conversations implements parts.Conversations on the store.
type Conversations struct{ Recovery }

var _ parts.Conversations = Conversations{}

// Expire implements parts.Conversations. The entries that point to the conversation can't be replayed any more, and say so
// at once.
func (c Conversations) Expire(ctx context.Context, p parts.Principal, ref string) (known bool, err error) {
	err = c.Store.Write(ctx, func(tx store.Tx) error {
		var conversation parts.Conversation
		if conversation, known, err = keep.Conversations.Get(tx, p.Tenant, ref); err != nil || !known || conversation.Expired {
			return err
		}
		conversation.Expired = true
		if err := keep.Conversations.Put(tx, conversation); err != nil {
			return err
		}
		m, _, err := keep.Messages.Get(tx, p.Tenant, conversation.Message)
		if err != nil {
			return err
		}
		pointing, err := keep.ToolEntries.List(tx, p.Tenant, store.RecordQuery{States: []string{parts.Unresolved}, Trace: m.TraceID})
		if err != nil {
			return err
		}
		for _, before := range pointing {
			if before.Conversation != ref {
				continue
			}
			e := before
			e.Category = parts.ContextEviction
			e = keep.Audited(e, c.now(), p.Subject, parts.ActionExpire, "")
			e = reviewed(e, c.now(), parts.HumanReview, parts.ByClassifier)
			if err := c.Parts.Agent.Queues.Save(tx, before, e); err != nil {
				return err
			}
			if err := tx.MoveWork(store.Work{Kind: ReplayWork, Key: agent.EntryKey(e)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("expire conversation %s: %w", ref, err)
	}
	return known, nil
}
