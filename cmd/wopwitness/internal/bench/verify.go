package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// The bounds of the verify row.
const (
	manyRows   = 10_000
	verifyTime = 0.5 // seconds
)

// verify measures the verification of a signed bundle from bytes to report.
func (b *bench) verify(ctx context.Context, row *Row) error {
	key, err := bundle.NewKey("bench")
	if err != nil {
		return err
	}
	raw, contract, err := largeBundle(key)
	if err != nil {
		return fmt.Errorf("make a bundle of %d rows: %w", manyRows, err)
	}
	for range b.Rounds {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		start := time.Now()
		report := verify.Bundle(raw, verify.Options{HostKey: key.Public(), Contract: contract})
		row.Rounds = append(row.Rounds, Pair{Host: time.Since(start).Seconds()})
		if report.Verdict != verify.Verified {
			return fmt.Errorf("the bundle was made to verify and did not: %s %v", report.Verdict, report.Refusals)
		}
	}
	row.settle()
	row.mustNotPass("in all", row.Host, verifyTime, seconds)
	row.Notes = append(row.Notes, fmt.Sprintf("the bundle has %d bytes", len(raw)))
	return nil
}

// largeBundle makes and signs a bundle whose rows are all passes of requirements that this build doesn't know.
func largeBundle(key bundle.Key) (raw []byte, contract string, err error) {
	if contract, err = runner.Contract(); err != nil {
		return nil, "", err
	}
	digest := strings.Repeat("0a", 32)
	rows := make([]ledger.Row, manyRows)
	for i := range rows {
		id := registry.LegID(fmt.Sprintf("9999.row-%05d", i))
		rows[i] = ledger.Row{Major: 2, Row: registry.Row{
			ID: id.RequirementID(), Scenario: "one of many rows", Result: registry.Pass, Assertions: 3, Observation: digest,
		}}
	}
	b, err := bundle.New(rows, bundle.Facts{
		Major: 2, GeneratedAt: time.Now(), SuiteVersion: "0.0.0-bench", ContractSha256: contract,
		HostName: "bench", HostVersion: "0", Build: &bundle.Build{Kind: "artifact-sha256", ID: digest}, SigningKeyKnown: key.ID,
	})
	if err != nil {
		return nil, "", err
	}
	if err := b.Sign(key); err != nil {
		return nil, "", err
	}
	raw, err = b.JSON()
	return raw, contract, err
}
