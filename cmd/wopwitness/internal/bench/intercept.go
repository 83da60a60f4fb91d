package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// benchTenant is the tenant whose records are written.
const benchTenant = "bench"

// intercept measures what stands between an agent's decision and its call: the record that must be durable first.
func (b *bench) intercept(ctx context.Context, row *Row) (err error) {
	host, err := sqlite.Open(ctx, b.file("invocations.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	limit, err := sqlite.Open(ctx, b.file("records.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limit.Close()) }()
	written := func(s store.Store, write func(tx store.Tx, i parts.Invocation) error) side {
		n := 0
		return func(ctx context.Context) (float64, error) {
			begun, first := time.Now(), n
			for time.Since(begun) < b.Time/rateSlices {
				n++
				call := parts.Invocation{
					Tenant: benchTenant, ID: fmt.Sprintf("inv-%012d", n), Agent: "agent-worker", Message: "m", Run: "ar-1", Tool: "ledger",
					Payload: json.RawMessage(`{"order":1042,"customer":"4711","amount":"129.90","currency":"EUR"}`), TraceID: "0af7651916cd43dd8448eb211c80319c",
					MaxAttempts: 3, At: begun.UTC(),
				}
				if err := s.Write(ctx, func(tx store.Tx) error { return write(tx, call) }); err != nil {
					return 0, err
				}
			}
			return float64(n-first) / time.Since(begun).Seconds(), nil
		}
	}
	interceptor := agent.Interceptor{Store: host}
	intercepted := written(host, func(tx store.Tx, i parts.Invocation) error { return interceptor.Write(tx, &i, i.At) })
	bare := written(limit, func(tx store.Tx, i parts.Invocation) error {
		_, err := tx.InsertRecord(&store.Record{Tenant: i.Tenant, Kind: "bare", ID: i.ID, Tool: i.Tool, Trace: i.TraceID, At: i.At, Body: i.Payload})
		return err
	})
	if err := b.pairs(ctx, row, rateSlices, intercepted, bare); err != nil {
		return err
	}
	row.mustReach("of the limit", row.Ratio, 0.8, "")
	return nil
}
