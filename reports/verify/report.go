package verify

import (
	"github.com/wopwitness/wopwitness/reports/ledger"
)

// Report is what there is to say about one bundle.
type Report struct {
	Verdict  Verdict   `json:"verdict"`
	Refusals []Refusal `json:"refusals"` // all that apply, in the order of the bundle's members; never null
	Key      Key       `json:"key"`
	Verifier Verifier  `json:"verifier"`
	Summary  Summary   `json:"summary"`
	Notes    []Note    `json:"notes"` // what is worth knowing and refuses nothing; never null
}

// Verdict is the one word for the whole.
type Verdict string

// The verdicts.
const (
	Refused       Verdict = "refused"        // at least one refusal
	Verified      Verdict = "verified"       // nothing refused, and a key that came from outside the bundle signed it
	IntegrityOnly Verdict = "integrity-only" // nothing refused, and the key stands in the bundle itself
	Unresolved    Verdict = "unresolved"     // nothing refused, and no key to check the signatures with
)

// Refusal is one reason for which the bundle must not be relied on. Path is a JSON pointer into the bundle.
type Refusal struct {
	Code Code   `json:"code"`
	Path string `json:"path"`
	Says string `json:"says"`
}

// Note is something to know about a bundle that is no reason to refuse it.
type Note struct {
	Code string `json:"code"`
	Says string `json:"says"`
}

// The codes of notes.
const (
	NoteUnknownRequirement = "unknown-requirement"
	NoteUnknownProfile     = "unknown-profile"
	NoteOtherContract      = "other-contract"
	NoteNoDiscovery        = "no-discovery"
	NoteHiddenText         = "hidden-text"
	NoteCountersigned      = "countersigned"
	NoteNotRun             = "not-run" // a certified profile has no row of a leg that this build knows for it
	NoteNothingCertified   = "nothing-certified"
	NoteRelaxed            = "relaxed"     // the operator declared relaxations, so nothing of it can be certified
	NoteFromTheFuture      = "dated-ahead" // it says that it was written later than it was read
	NoteSteward            = "steward"     // nothing but the bundle says that a steward ran the suite
)

// Outcome is what became of the question whose key signed the bundle.
type Outcome string

// The outcomes. The last three are different facts, and a check for presence alone would make them one.
const (
	KeyVerified    Outcome = "verified"                    // both signatures verify under a key from outside the bundle
	KeyEmbedded    Outcome = "verified-by-embedded-key"    // they do under the key that the bundle's own document holds
	KeyNotChecked  Outcome = "not-checked"                 // the bundle could not be read that far
	KeyUnsigned    Outcome = "not-signed"                  // the bundle lacks its attestation, its signature or both
	KeyNoDocument  Outcome = "no-discovery-document"       // no document was read, so no key could be looked up
	KeyUnpublished Outcome = "key-not-published"           // a document was read, and the key isn't in it
	KeyDisproved   Outcome = "attestation-does-not-verify" // the key is known, and it did not sign this
)

// Source is where the key came from.
type Source string

// The sources, strongest first.
const (
	SourceHostKey   Source = "host-key"  // given as a file by whoever verifies
	SourceDiscovery Source = "discovery" // looked up in a document that whoever verifies brought
	SourceEmbedded  Source = "embedded"  // looked up in the document inside the bundle
)

// Key is whose key signed, as far as that can be known.
type Key struct {
	Outcome Outcome `json:"outcome"`
	Source  Source  `json:"source"`
	KeyID   string  `json:"keyId,omitempty"`
	Says    string  `json:"says"`
}

// Verifier is the state of the second signature, of somebody who is not the host.
type Verifier struct {
	State VerifierState `json:"state"`
	KeyID string        `json:"keyId,omitempty"`
}

// VerifierState is a closed set.
type VerifierState string

// The states of the verifier's signature.
const (
	VerifierAbsent     VerifierState = "absent"
	VerifierVerified   VerifierState = "verified"
	VerifierUnresolved VerifierState = "unresolved" // there is one, and no key to check it with
	VerifierDisproved  VerifierState = "disproved"
)

// Summary is what the bundle says of itself; it is worth what the verdict is worth. Texts are the bundle's own and are
// to be escaped where they are shown.
type Summary struct {
	HostName     string        `json:"hostName,omitempty"`
	HostVersion  string        `json:"hostVersion,omitempty"`
	Build        string        `json:"build,omitempty"` // "commit:3f2a91c"
	SuiteVersion string        `json:"suiteVersion,omitempty"`
	TargetMajor  int           `json:"targetMajor,omitempty"`
	GeneratedAt  string        `json:"generatedAt,omitempty"`
	Totals       ledger.Totals `json:"totals"`
	Certified    []string      `json:"certified"`      // profiles; empty where the bundle is refused; never null
	Tier         string        `json:"tier,omitempty"` // the weakest of the certified profiles'
	Failed       []string      `json:"failed"`         // requirement ids of the rows that failed, in the bundle's order; never null
}

// Has says whether the report refuses the bundle for the given reason.
func (r Report) Has(code Code) bool {
	for _, refusal := range r.Refusals {
		if refusal.Code == code {
			return true
		}
	}
	return false
}
