package verify

import (
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Limits on a bundle from a stranger.
const (
	maxBytes  = 64 << 20 // 10,000 rows are about 4 MiB, and a discovery document is at most 8
	maxDepth  = 64
	maxValues = 3_000_000 // the most rows have under a million, and a discovery document has thousands
	maxRows   = 100_000
	maxCount  = 1_000_000_000
	maxList   = 1_000
	maxText   = 1_024
)

// The alphabets of ids and encodings.
const (
	lower     = "abcdefghijklmnopqrstuvwxyz"
	letters   = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	base64URL = letters + digits + "-_"
)

// signatureText says whether a text is 64 bytes in unpadded base64url: the last of 86 characters carries two bits.
func signatureText(s string) bool {
	return of(86, 86, base64URL)(s) && strings.ContainsAny(s[85:], "AQgw")
}

// instant says whether a text is a time in UTC to the second, written in the one way that New writes it.
func instant(s string) bool {
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && t.UTC().Format(time.RFC3339) == s
}

// forms are the grammars of a bundle's texts (evidence contract; ids as on the wire).
func forms() map[string]shape {
	sig := text(Base64Form, signatureText, "64 bytes in unpadded base64url: 86 characters, the last without stray bits")
	digest := text(WrongForm, of(64, 64, digits+"abcdef"), "a SHA-256 in 64 lower-case hex digits")
	keyID := text(WrongForm, of(1, 128, letters+digits+"._~-"), "a key id of 1 to 128 letters, digits, dots, underscores, tildes or hyphens")
	algorithm := oneOf(bundle.Algorithm)
	signature := closed(map[string]field{"alg": need(algorithm), "keyId": need(keyID), "sig": need(sig)})
	return map[string]shape{
		"digest":    digest,
		"keyId":     keyID,
		"signature": signature,
		"attestation": closed(map[string]field{
			"alg": need(algorithm), "keyId": need(keyID), "sig": need(sig),
			"over": need(list(maxList, free(maxText))),
		}),
		"row": closed(map[string]field{
			"id":                need(text(WrongForm, of(1, 200, letters+digits+".-"), "a requirement id of letters, digits, dots and hyphens")),
			"scenario":          need(free(maxText)),
			"result":            need(oneOf(results()...)),
			"assertions":        need(whole(0, maxCount)),
			"detail":            may(free(maxText)),
			"cause":             may(oneOf("production", "seam", "operator")),
			"observationSha256": may(digest),
		}),
		"nonPass": closed(map[string]field{
			"id": need(free(maxText)), "result": need(oneOf(results()...)), "reason": need(free(maxText)),
		}),
		"claim": closed(map[string]field{
			"id":           need(text(WrongForm, of(1, 128, letters+digits+".-"), "a profile id of letters, digits, dots and hyphens")),
			"evidenceTier": need(oneOf(bundle.TierSelf, bundle.TierSteward, bundle.TierIndependent)),
			"witnessCount": need(whole(0, maxCount)),
			"certified":    need(truth),
		}),
		"totals": closed(map[string]field{
			"executedPass": need(whole(0, maxCount)), "executedFail": need(whole(0, maxCount)), "skipped": need(whole(0, maxCount)),
			"inapplicable": need(whole(0, maxCount)), "blocked": need(whole(0, maxCount)),
		}),
	}
}

func results() []string {
	return []string{
		string(registry.Pass), string(registry.Fail), string(registry.Skipped), string(registry.Inapplicable), string(registry.Blocked),
	}
}

// root is the whole bundle. Members whose absence has a meaning of its own have their own code for it.
func root() shape {
	f := forms()
	return closed(map[string]field{
		"bundleVersion": need(free(maxText)), // the version itself was checked before
		"generatedAt":   need(text(WrongForm, instant, "a time in UTC to the second, as 2026-01-31T08:00:00Z")),
		"suite": need(closed(map[string]field{
			"name": need(oneOf("wopwitness")), "version": need(free(maxText)), "targetMajor": need(whole(1, 2)), "contractSha256": need(f["digest"]),
		})),
		"host": need(closed(map[string]field{
			"name": need(free(maxText)), "version": need(free(maxText)), "vendor": may(free(maxText)),
			"build": needAs(BuildMissing, closed(map[string]field{
				"kind": need(oneOf("image-digest", "commit", "artifact-sha256")), "id": need(free(maxText)),
			})),
			"signingKeyId": may(f["keyId"]),
			"relaxations":  may(list(maxList, free(maxText))),
		})),
		"discovery": may(closed(map[string]field{
			"url": need(free(maxText * 8)), "sha256": need(f["digest"]),
			"protocolVersions": need(list(maxList, free(maxText))), "preferredVersion": need(anyText), "document": need(anyObject),
		})),
		"claimedProfiles": need(list(maxList, f["claim"])),
		"results": need(closed(map[string]field{
			"totals": need(f["totals"]), "requirements": need(list(maxRows, f["row"])),
		})),
		"witnessSha256":     need(f["digest"]),
		"assertionCount":    need(whole(0, maxCount)),
		"detail":            may(closed(map[string]field{"nonPass": need(list(maxRows, f["nonPass"]))})),
		"attestation":       needAs(AttestationMissing, f["attestation"]),
		"signature":         needAs(SignatureMissing, f["signature"]),
		"verifierSignature": may(f["signature"]),
	})
}

// anyText is a string of a host's own, which may be empty.
func anyText(c *check, path string, v any) {
	if _, ok := v.(string); !ok {
		c.refuse(WrongType, path, "expected a string, not %s", typeOf(v))
	}
}
