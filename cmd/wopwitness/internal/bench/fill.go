package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// filled is a database with a backlog, as the mock host would have written it.
type filled struct {
	path, tenant string
	first        string // id of the oldest event
	events       int
}

// perCommit is how many events share a transaction while a database is filled.
const perCommit = 2000

// fill writes n events through the host's own store, which is much faster than asking the host for each.
func (b *bench) fill(ctx context.Context, n int) (_ filled, err error) {
	f := filled{path: b.file("backlog.db"), events: n}
	host, err := mockhost.New(ctx, mockhost.Config{Store: "sqlite:" + f.path})
	if err != nil {
		return f, err
	}
	f.tenant = host.Credentials().TenantA
	if err := host.Shutdown(ctx); err != nil {
		return f, err
	}
	s, err := sqlite.Open(ctx, f.path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for left := n; left > 0; left -= perCommit {
		err := s.Write(ctx, func(tx store.Tx) error { return f.add(tx, min(left, perCommit)) })
		if err != nil {
			return f, fmt.Errorf("fill the log: %w", err)
		}
	}
	return f, nil
}

func (f *filled) add(tx store.Tx, n int) error {
	payload := json.RawMessage(`{"note":"` + strings.Repeat("x", 189) + `"}`)
	for range n {
		slot, err := tx.NextSlot(f.tenant, time.Now().Truncate(time.Millisecond))
		if err != nil {
			return err
		}
		if slot.Unswept {
			w := store.Work{Kind: eventlog.SweepWork, Key: f.tenant, Due: slot.At.Add(time.Hour)}
			if err := tx.PutWork(w); err != nil {
				return err
			}
		}
		id, err := ulid.New(ulid.Timestamp(slot.At), rand.Reader)
		if err != nil {
			return err
		}
		e := store.Event{Tenant: f.tenant, Seq: slot.Seq, ID: id.String(), Type: "inventory.item-changed", At: slot.At}
		if e.Envelope, err = (conforming.Encoder{}).Encode(e, parts.Durable, payload); err != nil {
			return err
		}
		if err := tx.InsertEvent(e); err != nil {
			return err
		}
		if f.first == "" {
			f.first = e.ID
		}
	}
	return nil
}
