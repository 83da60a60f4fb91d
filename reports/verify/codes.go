package verify

// Code names one reason to refuse. The set is closed.
type Code string

// The bytes are not one unambiguous document; nothing behind such a refusal is looked at.
const (
	TooLarge        Code = "too-large"
	TooDeep         Code = "too-deep"
	NotUTF8         Code = "not-utf-8"
	NotJSON         Code = "not-json"
	DuplicateMember Code = "duplicate-member"
	NumberForm      Code = "number-form"
	LoneSurrogate   Code = "lone-surrogate"
)

// The document is not a bundle of this form.
const (
	WrongVersion  Code = "wrong-version"
	UnknownMember Code = "unknown-member"
	MissingMember Code = "missing-member"
	WrongType     Code = "wrong-type"
	WrongForm     Code = "wrong-form" // a text or number outside of its member's grammar
	Base64Form    Code = "base64-form"
)

// The bundle contradicts itself.
const (
	DuplicateRow         Code = "duplicate-row"
	NoReason             Code = "non-pass-without-reason"
	NoAssertion          Code = "pass-without-assertion"
	PassWithReason       Code = "pass-with-reason"
	TotalsMismatch       Code = "totals-mismatch"
	WitnessMismatch      Code = "witness-digest-mismatch"
	AssertionMismatch    Code = "assertion-count-mismatch"
	DetailMissing        Code = "detail-missing"
	DetailMismatch       Code = "detail-mismatch"
	BuildMissing         Code = "build-missing"
	DiscoveryMismatch    Code = "discovery-digest-mismatch"
	DiscoveryMisquoted   Code = "discovery-misquoted"
	DuplicateProfile     Code = "duplicate-profile"
	WitnessCountMismatch Code = "witness-count-mismatch"
	NoRows               Code = "no-rows"                  // it says nothing of any requirement
	OtherMajorRow        Code = "row-of-another-major"     // a leg that is not of the bundle's major
	ReasonMismatch       Code = "reason-mismatch"          // a reason that cannot be the disposition's
	NoObservation        Code = "pass-without-observation" // nothing ties the pass to what was seen
)

// It certifies what its own rows don't carry.
const (
	BlockedCertified  Code = "blocked-certified"
	FailedCertified   Code = "failed-certified"
	OptedOutCertified Code = "opted-out-certified"
	RelaxedCertified  Code = "relaxed-certified"
	UnprovenCertified Code = "unproven-certified" // a row that must have passed is not there or did not
)

// It is not signed, or not by whom it says.
const (
	AttestationMissing      Code = "attestation-missing"
	SignatureMissing        Code = "signature-missing"
	OverChanged             Code = "over-changed"
	AttestationInvalid      Code = "attestation-invalid"
	SignatureInvalid        Code = "signature-invalid"
	TwoKeys                 Code = "two-keys"
	KeyIDMismatch           Code = "signing-key-id-mismatch"
	WeakKey                 Code = "weak-key"
	IndependentUnsigned     Code = "independent-without-verifier-signature"
	IndependentSelfSigned   Code = "independent-self-signed"
	IndependentUnverifiable Code = "independent-unverifiable"
	VerifierInvalid         Code = "verifier-signature-invalid"
	VerifierKeyIDMismatch   Code = "verifier-key-id-mismatch"
)
