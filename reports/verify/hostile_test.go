package verify_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// recounted makes totals, counts, details and the digest those of the rows, as an author does who wants to be believed.
func recounted(t testing.TB, b *bundle.Bundle) {
	t.Helper()
	slices.SortFunc(b.Results.Requirements, func(x, y registry.Row) int { return strings.Compare(x.ID, y.ID) })
	b.AssertionCount, b.Results.Totals, b.Detail = 0, ledger.Totals{}, nil
	for _, r := range b.Results.Requirements {
		b.AssertionCount += r.Assertions
		b.Results.Totals.Add(r.Result)
		if r.Result != registry.Pass {
			if b.Detail == nil {
				b.Detail = &bundle.Detail{}
			}
			b.Detail.NonPass = append(b.Detail.NonPass, bundle.NonPass{ID: r.ID, Result: r.Result, Reason: r.Detail})
		}
	}
	var err error
	if b.WitnessSha256, err = bundle.WitnessDigest(b.Results.Requirements, b.Host.Relaxations); err != nil {
		t.Fatal(err)
	}
}

// end makes the row of a leg end in another way.
func end(b *bundle.Bundle, leg registry.LegID, result registry.Result, detail string) {
	for i := range b.Results.Requirements {
		if r := &b.Results.Requirements[i]; r.ID == leg.RequirementID() {
			r.Result, r.Detail = result, detail
		}
	}
}

// TestABundleThatAgreesWithItselfIsStillHeldAgainstTheRegistry: its host counts and signs everything anew, so that only what
// the rows mean gives it away.
func TestABundleThatAgreesWithItselfIsStillHeldAgainstTheRegistry(t *testing.T) {
	own := withHostKey()
	own.Contract = facts().ContractSha256
	other := withHostKey()
	other.Contract = strings.Repeat("0", 64)
	deadLetter := func(b *bundle.Bundle, leg registry.LegID) { // a row of a leg that both majors have
		found, _ := registry.Find(leg)
		b.Results.Requirements = append(b.Results.Requirements, registry.Row{ID: leg.RequirementID(), Scenario: found.Title,
			Result: registry.Pass, Assertions: 1, Observation: observed})
	}
	fewer := func(b *bundle.Bundle) { // nothing but what must have passed
		required, _ := bundle.Required(registry.ProfileReplay)
		b.Results.Requirements = slices.DeleteFunc(b.Results.Requirements, func(r registry.Row) bool {
			return !slices.ContainsFunc(required, func(id registry.LegID) bool { return id.RequirementID() == r.ID })
		})
		b.ClaimedProfiles[0].WitnessCount = len(required)
	}
	for _, c := range []struct {
		name    string
		change  func(*bundle.Bundle)
		options verify.Options
		codes   []verify.Code
	}{
		{"nothing changed", func(*bundle.Bundle) {}, own, []verify.Code{}},
		{"a row of both majors beside them", func(b *bundle.Bundle) { deadLetter(b, "0053.exhaustion.event") }, own, []verify.Code{}},
		{"said to be of the major that has no such requirement", func(b *bundle.Bundle) { b.Suite.TargetMajor = 1 }, own,
			[]verify.Code{verify.OtherMajorRow, verify.UnprovenCertified}},
		{"the same under another registry", func(b *bundle.Bundle) { b.Suite.TargetMajor = 1 }, other, []verify.Code{verify.UnprovenCertified}},
		{"only what must have passed was run", fewer, own, []verify.Code{verify.UnprovenCertified}},
		{"the same under another registry, which may have no more", fewer, other, []verify.Code{}},
		{"the same and not certified", func(b *bundle.Bundle) { fewer(b); b.ClaimedProfiles[0].Certified = false }, own, []verify.Code{}},
		{"no row at all", func(b *bundle.Bundle) {
			b.Results.Requirements, b.ClaimedProfiles = []registry.Row{}, []bundle.Claim{}
		}, own, []verify.Code{verify.NoRows}},
		{"an opt-out that is said not to apply", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Inapplicable, "opted-out")
			b.ClaimedProfiles[0].WitnessCount--
		}, own, []verify.Code{verify.ReasonMismatch}},
		{"a failure that is said not to apply", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Inapplicable, "convicted:status")
			b.ClaimedProfiles[0].WitnessCount--
		}, own, []verify.Code{verify.ReasonMismatch}},
		{"a measurement that was stopped and is said not to apply", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Inapplicable, "timeout")
			b.ClaimedProfiles[0].WitnessCount--
		}, own, []verify.Code{verify.ReasonMismatch}},
		{"what strict mode makes of what the host leaves out", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Fail, "class-not-listed")
			b.ClaimedProfiles[0].WitnessCount--
			b.ClaimedProfiles[0].Certified = false
		}, own, []verify.Code{}},
		{"a failure for want of a cause", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Fail, "no-cause")
			b.ClaimedProfiles[0].WitnessCount--
			b.ClaimedProfiles[0].Certified = false
		}, own, []verify.Code{verify.ReasonMismatch}},
		{"a reason of a later suite", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Inapplicable, "moon-phase")
			b.ClaimedProfiles[0].WitnessCount--
		}, own, []verify.Code{}},
		{"a pass of which nobody has the observation", func(b *bundle.Bundle) {
			b.Results.Requirements[0].Observation = ""
		}, own, []verify.Code{verify.NoObservation}},
		{"a stranger's row that lets nobody count", func(b *bundle.Bundle) {
			b.Results.Requirements = append(b.Results.Requirements, registry.Row{ID: "openwop.requirement.9999.later", Scenario: "-",
				Result: registry.Pass, Assertions: 1})
			b.ClaimedProfiles[0].WitnessCount += 2
		}, own, []verify.Code{verify.WitnessCountMismatch}},
		{"one that may be the profile's", func(b *bundle.Bundle) {
			b.Results.Requirements = append(b.Results.Requirements, registry.Row{ID: "openwop.requirement.9999.later", Scenario: "-",
				Result: registry.Pass, Assertions: 1})
			b.ClaimedProfiles[0].WitnessCount++
		}, own, []verify.Code{}},
		{"a stranger's profile, certified beside something blocked", func(b *bundle.Bundle) {
			end(b, "0250.legacy-unchanged", registry.Blocked, "timeout")
			b.ClaimedProfiles = []bundle.Claim{{ID: "later", EvidenceTier: bundle.TierSelf, Certified: true}}
		}, own, []verify.Code{verify.BlockedCertified}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(signedBundle(t, func(b *bundle.Bundle) { c.change(b); recounted(t, b) }), c.options)
			if got := codes(r); !slices.Equal(got, c.codes) {
				t.Errorf("got %v, want %v:\n%v", got, c.codes, r.Refusals)
			}
		})
	}
}

func TestATierIsNeverMoreThanEachProfileHas(t *testing.T) {
	for _, c := range []struct {
		name  string
		tier  string
		want  string
		notes []string
	}{
		{"the host itself", bundle.TierSelf, bundle.TierSelf, nil},
		{"a steward, by the host's word", bundle.TierSteward, bundle.TierSteward, []string{verify.NoteSteward}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(signedBundle(t, func(b *bundle.Bundle) { b.ClaimedProfiles[0].EvidenceTier = c.tier }), withHostKey())
			var notes []string
			for _, n := range r.Notes {
				notes = append(notes, n.Code)
			}
			if r.Summary.Tier != c.want || !slices.Equal(notes, c.notes) {
				t.Errorf("tier %s, notes %q; want %s, %q", r.Summary.Tier, notes, c.want, c.notes)
			}
		})
	}
	// Two profiles of different tiers: what is said of both is what holds for both.
	all := rows()
	for _, leg := range registry.Legs() {
		if leg.Profile == registry.ProfileDeadLetter && slices.Contains(leg.Majors, 2) {
			all = append(all, ledger.Row{Leg: leg, Major: 2, Row: registry.Row{ID: leg.ID.RequirementID(), Scenario: leg.Title,
				Result: registry.Pass, Assertions: 1, Observation: observed}})
		}
	}
	b, err := bundle.New(all, facts())
	if err != nil {
		t.Fatal(err)
	}
	if len(b.ClaimedProfiles) != 2 {
		t.Fatalf("%d profiles", len(b.ClaimedProfiles))
	}
	b.ClaimedProfiles[1].EvidenceTier = bundle.TierIndependent
	if err := b.Sign(hostKey()); err != nil {
		t.Fatal(err)
	}
	raw, r, err := verify.Countersign(file(t, b), verifierKey(), withHostKey())
	if err != nil || raw == nil || len(r.Summary.Certified) != 2 || r.Summary.Tier != bundle.TierSelf {
		t.Errorf("%v: %q certified as %q", err, r.Summary.Certified, r.Summary.Tier)
	}
}

func TestAmbiguitiesAreToldApartFromWhatIsUntrue(t *testing.T) {
	good := signedBundle(t, nil)
	twice := func(b *bundle.Bundle) {
		b.Results.Requirements = append(b.Results.Requirements, b.Results.Requirements[0])
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want []verify.Code
	}{
		{"none", good, nil},
		{"untrue", bytes.Replace(good, []byte(`"acme"`), []byte(`"acmf"`), 1), nil},
		{"unsigned", resigned(t, good, func(b map[string]any) { delete(b, "signature") }), nil},
		{"a member twice", bytes.Replace(good, []byte(`"generatedAt"`), []byte(`"witnessSha256":"x","generatedAt"`), 1), []verify.Code{verify.DuplicateMember}},
		{"a member in another case", bytes.Replace(good, []byte(`"generatedAt"`), []byte(`"Results":{},"generatedAt"`), 1), []verify.Code{verify.UnknownMember}},
		{"a row twice", signedBundle(t, twice), []verify.Code{verify.DuplicateRow}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []verify.Code
			for _, r := range verify.Ambiguities(c.raw) {
				got = append(got, r.Code)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestADateThatIsNotYetIsNoted(t *testing.T) {
	raw := signedBundle(t, nil)
	at := facts().GeneratedAt
	for _, c := range []struct {
		name  string
		now   time.Time
		noted bool
	}{
		{"long ago", at.AddDate(1, 0, 0), false}, {"by a clock that is a little ahead", at.Add(-5 * time.Minute), false},
		{"tomorrow", at.AddDate(0, 0, -1), true}, {"by nobody's clock", time.Time{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := withHostKey()
			o.Now = c.now
			r := verify.Bundle(raw, o)
			noted := slices.ContainsFunc(r.Notes, func(n verify.Note) bool { return n.Code == verify.NoteFromTheFuture })
			if noted != c.noted || r.Verdict != verify.Verified {
				t.Errorf("noted %v, want %v; %s", noted, c.noted, r.Verdict)
			}
		})
	}
}

func TestAnotherKeyOfTheHostIsNoVerifier(t *testing.T) {
	second := keyOf("host-2", 5)
	both := []byte(strings.Replace(string(document(hostKey())), `"signingKeys":[`, `"signingKeys":[{"keyId":"`+second.ID+
		`","alg":"ed25519","publicKey":"`+second.Published()+`","use":"certification-bundle"},`, 1))
	forAnotherUse := bytes.Replace(both, []byte(`"use":"certification-bundle"`), []byte(`"use":"webhooks"`), 1)
	weak := ed25519.PublicKey(append([]byte{1}, make([]byte, 31)...))
	countersigned := func(inside []byte) []byte {
		f := facts()
		f.DiscoveryBody = inside
		b, err := bundle.New(rows(), f)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Sign(hostKey()); err != nil {
			t.Fatal(err)
		}
		if err := b.Countersign(second); err != nil {
			t.Fatal(err)
		}
		return file(t, b)
	}
	for _, c := range []struct {
		name    string
		inside  []byte
		options verify.Options
		codes   []verify.Code
	}{
		{"somebody else's key", document(hostKey()), verify.Options{HostKey: hostKey().Public(), VerifierKey: second.Public()}, []verify.Code{}},
		{"published in the bundle", both, verify.Options{HostKey: hostKey().Public(), VerifierKey: second.Public()}, []verify.Code{verify.IndependentSelfSigned}},
		{"published outside of it", document(hostKey()), verify.Options{Discovery: &verify.Document{Body: both}, VerifierKey: second.Public()},
			[]verify.Code{verify.IndependentSelfSigned}},
		{"published for another use", forAnotherUse, verify.Options{HostKey: hostKey().Public(), VerifierKey: second.Public()}, []verify.Code{}},
		{"a key under which anybody can sign", document(hostKey()), verify.Options{HostKey: hostKey().Public(), VerifierKey: weak}, []verify.Code{verify.WeakKey}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := codes(verify.Bundle(countersigned(c.inside), c.options)); !slices.Equal(got, c.codes) {
				t.Errorf("got %v, want %v", got, c.codes)
			}
		})
	}
}

// TestWhatIsVastIsAnswered: each of these kept a verifier busy for minutes, or took gigabytes, so that the test would end by
// its time limit.
func TestWhatIsVastIsAnswered(t *testing.T) {
	inside := func(document string) []byte {
		return fmt.Appendf(nil, `{"bundleVersion":"wopwitness-1","discovery":{"document":%s}}`, document)
	}
	name := strings.Repeat("n", 1<<20)
	list := "[0" + strings.Repeat(",0", 200_000) + "]"
	claims := func(b *bundle.Bundle) {
		b.ClaimedProfiles = slices.Repeat(b.ClaimedProfiles, 1_000)
		row := b.Results.Requirements[0]
		for i := range 50_000 {
			row.ID = fmt.Sprintf("openwop.requirement.9999.r%d", i)
			b.Results.Requirements = append(b.Results.Requirements, row)
		}
		recounted(t, b)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		o    verify.Options
		want verify.Code
	}{
		{"a long name over many values", inside(`{"` + name + `":` + list + `}`), withHostKey(), verify.MissingMember},
		{"more values than any bundle has", inside("[" + strings.Repeat("0,", 3_000_000) + "0]"), withHostKey(), verify.TooLarge},
		{"many claims over many rows", signedBundle(t, claims), withHostKey(), verify.DuplicateProfile},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := verify.Bundle(c.raw, c.o); !r.Has(c.want) {
				t.Errorf("got %v, want %s", codes(r), c.want)
			}
		})
	}
	deep := verify.Document{Body: bytes.Repeat([]byte("["), 9<<20)}
	if r := verify.Bundle(signedBundle(t, nil), verify.Options{Discovery: &deep}); r.Key.Outcome != verify.KeyNoDocument || !strings.Contains(r.Key.Says, "more than 8388608 bytes") {
		t.Errorf("a vast document: %s, %s", r.Key.Outcome, r.Key.Says)
	}
}
