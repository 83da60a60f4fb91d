package verify_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func withHostKey() verify.Options { return verify.Options{HostKey: hostKey().Public()} }

func codes(r verify.Report) []verify.Code {
	found := []verify.Code{}
	for _, refusal := range r.Refusals {
		found = append(found, refusal.Code)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestAGoodBundleIsVerifiedAsFarAsItsKeyCarries(t *testing.T) {
	good := signedBundle(t, nil)
	unpublished := signedBundle(t, func(b *bundle.Bundle) {
		b.Discovery.Document = []byte(`{"preferredVersion":"2.0","protocolVersions":["1.0","2.0"]}`)
		b.Discovery.Sha256 = sha(b.Discovery.Document)
	})
	without := signedBundle(t, func(b *bundle.Bundle) { b.Discovery = nil })
	other := keyOf("host-1", 9)
	for _, c := range []struct {
		name    string
		raw     []byte
		options verify.Options
		verdict verify.Verdict
		outcome verify.Outcome
	}{
		{"the host's key as a file", good, withHostKey(), verify.Verified, verify.KeyVerified},
		{"its discovery document", good, verify.Options{Discovery: &verify.Document{Body: document(hostKey())}}, verify.Verified, verify.KeyVerified},
		{"nothing but the bundle", good, verify.Options{}, verify.IntegrityOnly, verify.KeyEmbedded},
		{"a bundle without a document", without, verify.Options{}, verify.Unresolved, verify.KeyNoDocument},
		{"a bundle without a document, and the key", without, withHostKey(), verify.Verified, verify.KeyVerified},
		{"a document inside that doesn't publish the key", unpublished, verify.Options{}, verify.Unresolved, verify.KeyUnpublished},
		{"a document outside that doesn't publish the key", good, verify.Options{Discovery: &verify.Document{Body: []byte(`{}`)}}, verify.Unresolved, verify.KeyUnpublished},
		{"a document that could not be read", good, verify.Options{Discovery: &verify.Document{Problem: "connection refused"}}, verify.Unresolved, verify.KeyNoDocument},
		{"a document that is a page", good, verify.Options{Discovery: &verify.Document{Body: []byte(`<html>`)}}, verify.Unresolved, verify.KeyNoDocument},
		{"another key as a file", good, verify.Options{HostKey: other.Public()}, verify.Refused, verify.KeyDisproved},
		{"another key under the same id", good, verify.Options{Discovery: &verify.Document{Body: document(other)}}, verify.Refused, verify.KeyDisproved},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(c.raw, c.options)
			if r.Verdict != c.verdict || r.Key.Outcome != c.outcome {
				t.Fatalf("got %s, %s (%s); refusals %v", r.Verdict, r.Key.Outcome, r.Key.Says, r.Refusals)
			}
			certified := []string{registry.ProfileReplay}
			if c.verdict == verify.Refused {
				certified = []string{}
			}
			if !slices.Equal(r.Summary.Certified, certified) {
				t.Errorf("certified %q, want %q", r.Summary.Certified, certified)
			}
		})
	}
}

func TestPublishedKeysMustBeFitForTheUse(t *testing.T) {
	good := signedBundle(t, nil)
	key := hostKey()
	entry := func(member, value string) []byte {
		e := map[string]any{"keyId": key.ID, "alg": "ed25519", "publicKey": key.Published(), "use": "certification-bundle"}
		e[member] = value
		return encode(t, map[string]any{"signingKeys": []any{e}})
	}
	whole := entry("alg", "ed25519")
	for _, c := range []struct {
		name     string
		document []byte
		verdict  verify.Verdict
	}{
		{"as it should be", whole, verify.Verified},
		{"another id", entry("keyId", "host-2"), verify.Unresolved},
		{"another algorithm", entry("alg", "rsa"), verify.Unresolved},
		{"another use", entry("use", "webhooks"), verify.Unresolved},
		{"padded", entry("publicKey", key.Published()+"="), verify.Unresolved},
		{"with a line end", entry("publicKey", key.Published()[:20]+"\n"+key.Published()[20:]), verify.Unresolved},
		{"too short", entry("publicKey", key.Published()[:40]), verify.Unresolved},
		{"twice", []byte(`{"signingKeys":[` + strings.TrimSuffix(strings.TrimPrefix(string(whole), `{"signingKeys":[`), `]}`) + `,` +
			strings.TrimPrefix(string(whole), `{"signingKeys":[`)), verify.Unresolved},
		{"a key under which anybody can sign", entry("publicKey", base64url(append([]byte{1}, make([]byte, 31)...))), verify.Refused},
		{"no list", []byte(`{"signingKeys":{"host-1":"x"}}`), verify.Unresolved},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(good, verify.Options{Discovery: &verify.Document{Body: c.document}})
			if r.Verdict != c.verdict {
				t.Fatalf("got %s: %+v, %v", r.Verdict, r.Key, r.Refusals)
			}
		})
	}
}

// TestABundleSignedByItsHostIsStillRefusedForWhatItSays: the key is good and the signatures verify, and the content
// contradicts itself or the rules.
func TestABundleSignedByItsHostIsStillRefusedForWhatItSays(t *testing.T) {
	row := func(tree map[string]any, i int) map[string]any {
		return tree["results"].(map[string]any)["requirements"].([]any)[i].(map[string]any)
	}
	claim := func(tree map[string]any) map[string]any { return tree["claimedProfiles"].([]any)[0].(map[string]any) }
	digested := func(tree map[string]any) {
		tree["witnessSha256"] = sha(encode(t, tree["results"].(map[string]any)["requirements"]))
	}
	find := func(tree map[string]any, id string) map[string]any {
		for _, r := range tree["results"].(map[string]any)["requirements"].([]any) {
			if r.(map[string]any)["id"] == registry.LegID(id).RequirementID() {
				return r.(map[string]any)
			}
		}
		t.Fatalf("no row %s", id)
		return nil
	}
	total := func(tree map[string]any, name string, by float64) {
		totals := tree["results"].(map[string]any)["totals"].(map[string]any)
		totals[name] = totals[name].(float64) + by
	}
	reasons := func(tree map[string]any, id, result, reason string) {
		r := find(tree, id)
		r["result"], r["detail"] = result, reason
		list := tree["detail"].(map[string]any)["nonPass"].([]any)
		tree["detail"].(map[string]any)["nonPass"] = append(list, map[string]any{"id": r["id"], "result": result, "reason": reason})
		total(tree, "executedPass", -1)
	}
	for _, c := range []struct {
		name   string
		change func(map[string]any)
		codes  []verify.Code
	}{
		{"nothing changed", func(map[string]any) {}, []verify.Code{}},
		{"another version", func(b map[string]any) { b["bundleVersion"] = "3" }, []verify.Code{verify.WrongVersion}},
		{"an unknown member", func(b map[string]any) { b["approvedBy"] = "me" }, []verify.Code{verify.UnknownMember}},
		{"an unknown member inside", func(b map[string]any) { b["host"].(map[string]any)["rank"] = 1 }, []verify.Code{verify.UnknownMember}},
		{"a member in another case", func(b map[string]any) { b["Signature"] = map[string]any{} }, []verify.Code{verify.UnknownMember}},
		{"a member that looks alike", func(b map[string]any) { b["hоst"] = b["host"] }, []verify.Code{verify.UnknownMember}},
		{"a member missing", func(b map[string]any) { delete(b, "generatedAt") }, []verify.Code{verify.MissingMember}},
		{"null for a member", func(b map[string]any) { b["detail"] = nil }, []verify.Code{verify.WrongType}},
		{"a duplicate row", func(b map[string]any) {
			results := b["results"].(map[string]any)
			results["requirements"] = slices.Insert(results["requirements"].([]any), 1, any(row(b, 0)))
			total(b, "executedPass", 1)
			b["assertionCount"] = b["assertionCount"].(float64) + 2
			digested(b)
		}, []verify.Code{verify.DuplicateRow}},
		{"a non-pass with no reason", func(b map[string]any) {
			delete(find(b, "0241.trigger.workspace-scope"), "detail")
			b["detail"].(map[string]any)["nonPass"].([]any)[0].(map[string]any)["reason"] = "-"
			digested(b)
		}, []verify.Code{verify.DetailMismatch, verify.NoReason}},
		{"a pass with no assertion", func(b map[string]any) {
			row(b, 0)["assertions"] = 0
			b["assertionCount"] = b["assertionCount"].(float64) - 2
			digested(b)
		}, []verify.Code{verify.NoAssertion}},
		{"a pass with a reason", func(b map[string]any) { row(b, 0)["detail"] = "opted-out"; digested(b) }, []verify.Code{verify.PassWithReason}},
		{"totals that don't match", func(b map[string]any) { total(b, "skipped", 1) }, []verify.Code{verify.TotalsMismatch}},
		{"a digest that doesn't match", func(b map[string]any) { b["witnessSha256"] = observed }, []verify.Code{verify.WitnessMismatch}},
		{"a count that doesn't match", func(b map[string]any) { b["assertionCount"] = 1 }, []verify.Code{verify.AssertionMismatch}},
		{"detail missing", func(b map[string]any) { delete(b, "detail") }, []verify.Code{verify.DetailMissing}},
		{"detail of another row", func(b map[string]any) {
			b["detail"].(map[string]any)["nonPass"].([]any)[0].(map[string]any)["id"] = "x"
		}, []verify.Code{verify.DetailMismatch}},
		{"build missing", func(b map[string]any) { delete(b["host"].(map[string]any), "build") }, []verify.Code{verify.BuildMissing}},
		{"over in another order", func(b map[string]any) {
			slices.Reverse(b["attestation"].(map[string]any)["over"].([]any))
		}, []verify.Code{verify.OverChanged}},
		{"over shortened", func(b map[string]any) {
			b["attestation"].(map[string]any)["over"] = []any{"witnessSha256"}
		}, []verify.Code{verify.OverChanged}},
		{"signatures under two ids", func(b map[string]any) { b["signature"].(map[string]any)["keyId"] = "host-2" }, []verify.Code{verify.TwoKeys}},
		{"another signing key named", func(b map[string]any) { b["host"].(map[string]any)["signingKeyId"] = "host-2" }, []verify.Code{verify.KeyIDMismatch}},
		{"no attestation", func(b map[string]any) { delete(b, "attestation") }, []verify.Code{verify.AttestationMissing}},
		{"no signature", func(b map[string]any) { delete(b, "signature") }, []verify.Code{verify.SignatureMissing}},
		{"another algorithm", func(b map[string]any) { b["signature"].(map[string]any)["alg"] = "none" }, []verify.Code{verify.WrongForm}},
		{"independent without a verifier", func(b map[string]any) { claim(b)["evidenceTier"] = "independent" }, []verify.Code{verify.IndependentUnsigned}},
		{"relaxed and certified", func(b map[string]any) {
			b["host"].(map[string]any)["relaxations"] = []any{"hostEvents.replay"}
			b["witnessSha256"] = sha(encode(t, map[string]any{"rows": b["results"].(map[string]any)["requirements"], "relaxations": []any{"hostEvents.replay"}}))
		}, []verify.Code{verify.RelaxedCertified}},
		{"opted out and certified", func(b map[string]any) {
			reasons(b, "0250.legacy-unchanged", "skipped", "opted-out")
			total(b, "skipped", 1)
			claim(b)["witnessCount"] = claim(b)["witnessCount"].(float64) - 1
			digested(b)
		}, []verify.Code{verify.OptedOutCertified}},
		{"failed and certified", func(b map[string]any) {
			reasons(b, "0250.legacy-unchanged", "executed-fail", "convicted")
			total(b, "executedFail", 1)
			claim(b)["witnessCount"] = claim(b)["witnessCount"].(float64) - 1
			digested(b)
		}, []verify.Code{verify.FailedCertified}},
		{"failed in what it leans on and certified", func(b map[string]any) {
			reasons(b, "0236.ephemeral.no-resume", "executed-fail", "convicted")
			total(b, "executedFail", 1)
			digested(b)
		}, []verify.Code{verify.FailedCertified}},
		{"opted out of what it leans on and certified", func(b map[string]any) {
			reasons(b, "0236.ephemeral.no-resume", "skipped", "opted-out")
			total(b, "skipped", 1)
			digested(b)
		}, []verify.Code{verify.OptedOutCertified}},
		{"blocked and certified", func(b map[string]any) {
			reasons(b, "0236.host-event.envelope", "blocked", "timeout")
			total(b, "blocked", 1)
			digested(b)
		}, []verify.Code{verify.BlockedCertified}},
		{"certified without a required row", func(b map[string]any) {
			reasons(b, "0250.refusal-uniform", "inapplicable", "no-cause")
			total(b, "inapplicable", 1)
			claim(b)["witnessCount"] = claim(b)["witnessCount"].(float64) - 1
			digested(b)
		}, []verify.Code{verify.UnprovenCertified}},
		{"more witnesses than rows", func(b map[string]any) { claim(b)["witnessCount"] = 99 }, []verify.Code{verify.WitnessCountMismatch}},
		{"a profile twice", func(b map[string]any) {
			b["claimedProfiles"] = append(b["claimedProfiles"].([]any), claim(b))
		}, []verify.Code{verify.DuplicateProfile}},
		{"another document", func(b map[string]any) {
			b["discovery"].(map[string]any)["document"].(map[string]any)["ratio"] = 0.25
		}, []verify.Code{verify.DiscoveryMismatch}},
		{"versions that the document doesn't have", func(b map[string]any) {
			b["discovery"].(map[string]any)["protocolVersions"] = []any{"2.0"}
		}, []verify.Code{verify.DiscoveryMisquoted}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(resigned(t, signedBundle(t, nil), c.change), withHostKey())
			slices.Sort(c.codes)
			if got := codes(r); !slices.Equal(got, c.codes) {
				t.Errorf("got %v, want %v:\n%v", got, c.codes, r.Refusals)
			}
			if refused := len(c.codes) > 0; refused != (r.Verdict == verify.Refused) || refused && len(r.Summary.Certified) > 0 {
				t.Errorf("verdict %s, certified %q", r.Verdict, r.Summary.Certified)
			}
		})
	}
}

func TestWhatAVerifierDoesNotKnowIsNotedAndNotRefused(t *testing.T) {
	raw := resigned(t, signedBundle(t, nil), func(b map[string]any) {
		results := b["results"].(map[string]any)
		results["requirements"] = append(results["requirements"].([]any), map[string]any{
			"id": "openwop.requirement.9999.later", "scenario": "of a later suite", "result": "executed-pass", "assertions": 3,
		})
		totals := results["totals"].(map[string]any)
		totals["executedPass"] = totals["executedPass"].(float64) + 1
		b["assertionCount"] = b["assertionCount"].(float64) + 3
		b["witnessSha256"] = sha(encode(t, results["requirements"]))
		b["host"].(map[string]any)["name"] = "аcme"
	})
	o := withHostKey()
	o.Contract = strings.Repeat("0", 64)
	r := verify.Bundle(raw, o)
	if r.Verdict != verify.Verified {
		t.Fatalf("%s: %v", r.Verdict, r.Refusals)
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, n.Code)
	}
	if want := []string{verify.NoteUnknownRequirement, verify.NoteOtherContract, verify.NoteHiddenText}; !slices.Equal(notes, want) {
		t.Errorf("notes %v, want %v", notes, want)
	}
}
