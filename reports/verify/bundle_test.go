package verify_test

import (
	"crypto/ed25519"
	"encoding/json"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// hostKey and verifierKey are made from fixed seeds, so that a failing case can be looked at again.
func hostKey() bundle.Key     { return keyOf("host-1", 1) }
func verifierKey() bundle.Key { return keyOf("verifier-1", 2) }

func keyOf(id string, seed byte) bundle.Key {
	raw := make([]byte, ed25519.SeedSize)
	raw[0] = seed
	return bundle.Key{ID: id, Private: ed25519.NewKeyFromSeed(raw)}
}

const observed = "3f786850e387550fdab836ed7e6dc881de23001b0f786850e387550fdab836ed"

// rows gives a row for every replay leg and two prerequisites: all passed, but one that does not apply.
func rows() []ledger.Row {
	var all []ledger.Row
	for _, leg := range registry.Legs() {
		if leg.Profile != registry.ProfileReplay && leg.Profile != registry.ProfileHostEvents {
			continue
		}
		row := ledger.Row{Leg: leg, Major: 2, Row: registry.Row{
			ID: leg.ID.RequirementID(), Scenario: leg.Title, Result: registry.Pass, Assertions: 2, Cause: "production", Observation: observed,
		}}
		if leg.ID == "0241.trigger.workspace-scope" {
			row.Result, row.Assertions, row.Detail, row.Reason, row.Observation = registry.Inapplicable, 0, string(registry.NoCause), registry.NoCause, ""
		}
		all = append(all, row)
	}
	return all
}

func document(key bundle.Key) []byte {
	return []byte(`{"protocolVersions":["1.0","2.0"],"preferredVersion":"2.0","implementation":{"name":"acme","version":"1.2"},` +
		`"hostEvents":{"status":"stable","since":"2.0","replay":{"minRetentionSeconds":3600}},"ratio":0.5,"greeting":"h\u00e9llo <&>\u2028",` +
		`"signingKeys":[{"keyId":"` + key.ID + `","alg":"ed25519","publicKey":"` + key.Published() + `","use":"certification-bundle"}]}`)
}

func facts() bundle.Facts {
	return bundle.Facts{
		Major: 2, GeneratedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), SuiteVersion: "0.1.0",
		ContractSha256: observed, HostVendor: "ACME", Build: &bundle.Build{Kind: "commit", ID: "3f2a91c"},
		DiscoveryURL: "http://127.0.0.1:4321/.well-known/openwop", DiscoveryBody: document(hostKey()),
	}
}

// signedBundle makes a bundle, lets change alter it before it is signed, and gives its file.
func signedBundle(t testing.TB, change func(*bundle.Bundle)) []byte {
	t.Helper()
	b, err := bundle.New(rows(), facts())
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&b)
	}
	if err := b.Sign(hostKey()); err != nil {
		t.Fatal(err)
	}
	return file(t, b)
}

func file(t testing.TB, b bundle.Bundle) []byte {
	t.Helper()
	raw, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// resigned seals a bundle anew after a change to its tree: what an author with the host's key could write.
func resigned(t testing.TB, raw []byte, change func(tree map[string]any)) []byte {
	t.Helper()
	tree := treeOf(t, raw)
	change(tree)
	key := hostKey()
	seal(t, tree, key, "attestation", attestedOf(tree))
	unsigned := map[string]any{}
	for name, v := range tree {
		if name != "signature" && name != "verifierSignature" {
			unsigned[name] = v
		}
	}
	seal(t, tree, key, "signature", unsigned)
	return encode(t, tree)
}

func attestedOf(tree map[string]any) map[string]any {
	member := func(name, inner string) any {
		m, _ := tree[name].(map[string]any)
		return m[inner]
	}
	return map[string]any{
		"witnessSha256": tree["witnessSha256"], "host.build": member("host", "build"),
		"suite.version": member("suite", "version"), "discovery.sha256": member("discovery", "sha256"),
	}
}

func seal(t testing.TB, tree map[string]any, key bundle.Key, name string, over map[string]any) {
	t.Helper()
	member, ok := tree[name].(map[string]any)
	if !ok {
		return
	}
	canonical, err := bundle.Canonical(encode(t, over))
	if err != nil {
		t.Fatal(err)
	}
	member["sig"] = base64url(ed25519.Sign(key.Private, canonical))
}

func treeOf(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
