package verify

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify/strictjson"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Options are what whoever verifies brings. With neither HostKey nor Discovery the key is looked up in the document that
// stands in the bundle, which proves that the bundle is whole and not whose it is.
type Options struct {
	HostKey     ed25519.PublicKey
	Discovery   *Document         // nil where none was asked for
	VerifierKey ed25519.PublicKey // of the second signature
	// VerifierKeyID is the id that the verifier's key goes by; "" takes any. Nothing signs the id that the bundle gives.
	VerifierKeyID string
	Contract      string    // contractSha256 of this registry; "" leaves the comparison out
	Now           time.Time // when it is verified; zero leaves the comparison with generatedAt out
}

// Document is a discovery document that was to be read from outside the bundle. Problem says why there is none.
type Document struct {
	Body    []byte
	Problem string
}

// Bundle verifies the bytes of a bundle.
func Bundle(raw []byte, o Options) Report {
	c := &check{legs: registered(), now: o.Now, report: Report{
		Refusals: []Refusal{}, Notes: []Note{},
		Key:      Key{Outcome: KeyNotChecked, Source: o.source(), Says: "the bundle could not be read that far"},
		Verifier: Verifier{State: VerifierAbsent},
		Summary:  Summary{Certified: []string{}, Failed: []string{}},
	}}
	tree, ok := c.read(raw)
	if !ok {
		return c.conclude()
	}
	b, ok := c.decode(tree)
	if ok {
		c.own, c.foreign = o.Contract == b.Suite.ContractSha256, o.Contract != "" && o.Contract != b.Suite.ContractSha256
		c.summarize(b)
		c.rows(b)
		c.digests(tree, b)
		c.discovery(tree, b)
		c.profiles(b)
		c.contract(b, o.Contract)
		c.hidden(b)
		c.written(b)
	}
	// Signatures are over canonical JSON, so they can be checked on a bundle that breaks other rules.
	c.signatures(tree, b, o)
	return c.conclude()
}

// Content gives the refusals of a bundle that was never meant to leave its maker: what it lacks in signatures or build is
// no contradiction, everything else is. Signatures that are there are checked under the embedded key.
func Content(raw []byte) []Refusal {
	kept := []Refusal{}
	for _, r := range Bundle(raw, Options{}).Refusals {
		switch r.Code {
		case AttestationMissing, SignatureMissing, BuildMissing, IndependentUnsigned, IndependentUnverifiable:
		default:
			kept = append(kept, r)
		}
	}
	return kept
}

// Ambiguities gives the refusals for which two readers could see two bundles in the same bytes. It says nothing of whether
// the bundle is true.
func Ambiguities(raw []byte) []Refusal {
	kept := []Refusal{}
	for _, r := range Bundle(raw, Options{}).Refusals {
		switch r.Code {
		case DuplicateMember, NumberForm, LoneSurrogate, NotUTF8, TooLarge, TooDeep, UnknownMember, DuplicateRow, DuplicateProfile:
			kept = append(kept, r)
		}
	}
	return kept
}

// read gives the members of the root, false where the bytes are not a bundle of this version at all.
func (c *check) read(raw []byte) (map[string]any, bool) {
	if len(raw) == 0 {
		c.refuse(NotJSON, "", "the file is empty")
		return nil, false
	}
	v, err := strictjson.Read(raw, strictjson.Limits{Bytes: maxBytes, Depth: maxDepth, Values: maxValues})
	var problem *strictjson.Problem
	if errors.As(err, &problem) {
		c.refuse(Code(problem.Kind), problem.Path, "%s", problem.Says)
		return nil, false
	}
	tree, ok := v.(map[string]any)
	if !ok {
		c.refuse(WrongType, "", "expected an object, not %s", typeOf(v))
		return nil, false
	}
	if isEnvelope(tree) {
		c.refuse(WrongType, "", "this is an attestation (a DSSE envelope) and no bundle: verify takes the bundle beside it, as bundle-v2.json for attestation-v2.json")
		return nil, false
	}
	if version, ok := tree["bundleVersion"]; ok && version != bundle.Version {
		c.refuse(WrongVersion, "/bundleVersion", "expected %q; a bundle of another version means other things by its members", bundle.Version)
		return nil, false
	}
	return tree, true
}

// isEnvelope says whether the members are those of a DSSE envelope (the DSSE protocol, JSON serialization), which is
// written beside every signed bundle.
func isEnvelope(tree map[string]any) bool {
	for _, member := range []string{"payloadType", "payload", "signatures"} {
		if _, ok := tree[member]; !ok {
			return false
		}
	}
	_, isBundle := tree["bundleVersion"]
	return !isBundle
}

// decode holds the tree against the closed form and gives the bundle, false where some member is not what its type says.
// What is merely missing or unknown doesn't keep the rest from being checked, so that all that applies is reported.
func (c *check) decode(tree map[string]any) (bundle.Bundle, bool) {
	root()(c, "", tree)
	var b bundle.Bundle
	if c.confusable || c.report.Has(WrongType) {
		return b, false
	}
	encoded, err := encode(tree)
	if err != nil {
		c.refuse(NotJSON, "", "it cannot be written again: %v", err)
		return b, false
	}
	if err := json.Unmarshal(encoded, &b); err != nil {
		c.refuse(WrongForm, "", "%v", err)
		return b, false
	}
	return b, true
}

func (c *check) summarize(b bundle.Bundle) {
	s := &c.report.Summary
	s.HostName, s.HostVersion = b.Host.Name, b.Host.Version
	s.SuiteVersion, s.TargetMajor, s.GeneratedAt, s.Totals = b.Suite.Version, b.Suite.TargetMajor, b.GeneratedAt, b.Results.Totals
	if b.Host.Build != nil {
		s.Build = b.Host.Build.Kind + ":" + b.Host.Build.ID
	}
	for _, r := range b.Results.Requirements {
		if r.Result == registry.Fail {
			s.Failed = append(s.Failed, r.ID)
		}
	}
	for _, p := range b.ClaimedProfiles {
		if _, known := bundle.Required(p.ID); known && p.Certified {
			s.Certified = append(s.Certified, p.ID)
			s.Tier = weakest(s.Tier, p.EvidenceTier)
		}
	}
	if len(s.Certified) == 0 {
		c.note(NoteNothingCertified, "the bundle certifies nothing: what is checked here is who signed it, and that it is as it was signed")
	}
	if len(b.Host.Relaxations) > 0 {
		c.note(NoteRelaxed, "the operator declared relaxations: %q", strings.Join(b.Host.Relaxations, ", "))
	}
}

// weakest is the tier of the two that says less, so that a summary in one word never says more than each profile does.
func weakest(a, b string) string {
	for _, tier := range []string{bundle.TierSelf, bundle.TierSteward} {
		if a == tier || b == tier {
			return tier
		}
	}
	return b
}

// clockSkew is how far two clocks that are both right may be apart.
const clockSkew = 10 * time.Minute

// written notes a bundle that was written later than now: somebody's clock is wrong, or it was dated ahead to look fresh.
func (c *check) written(b bundle.Bundle) {
	at, err := time.Parse(time.RFC3339, b.GeneratedAt)
	if err == nil && !c.now.IsZero() && at.After(c.now.Add(clockSkew)) {
		c.note(NoteFromTheFuture, "it says that it was written at %s, which is not yet", b.GeneratedAt)
	}
}

func (c *check) contract(b bundle.Bundle, ours string) {
	if ours != "" && b.Suite.ContractSha256 != ours {
		c.note(NoteOtherContract, "it rests on another registry (contractSha256 %s; this build has %s), so what its requirement ids mean is for that build to say", b.Suite.ContractSha256, ours)
	}
}

// hidden notes texts that a person can't read as they are: a name may be meant to look like another.
func (c *check) hidden(b bundle.Bundle) {
	texts := []string{b.Host.Name, b.Host.Version, b.Host.Vendor, b.Suite.Version}
	if b.Host.Build != nil {
		texts = append(texts, b.Host.Build.ID)
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool {
			return unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
		}) {
			c.note(NoteHiddenText, "%+q holds characters that can't be seen", text)
		} else if mixesScripts(text) {
			c.note(NoteHiddenText, "%+q mixes letters of scripts that look alike", text)
		}
	}
}

// mixesScripts says whether a text has Latin letters beside Cyrillic or Greek ones.
func mixesScripts(text string) bool {
	latin, other := false, false
	for _, r := range text {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek)
	}
	return latin && other
}

// conclude settles the verdict. A refused bundle certifies nothing.
func (c *check) conclude() Report {
	r := c.report
	switch {
	case len(r.Refusals) > 0:
		r.Verdict = Refused
		r.Summary.Certified = []string{}
	case r.Key.Outcome == KeyVerified:
		r.Verdict = Verified
	case r.Key.Outcome == KeyEmbedded:
		r.Verdict = IntegrityOnly
	default:
		r.Verdict = Unresolved
	}
	return r
}

// encode writes a value of the tree; numbers keep their text.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}

// canonical is the RFC 8785 form of a value of the tree.
func canonical(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return bundle.Canonical(raw)
}
