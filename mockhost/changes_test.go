package mockhost_test

import "slices"

var (
	// replays is the subjects that show a backlog.
	replays = []string{
		"large resumed", "legacy resume", "other instance", "resumable again", "resume", "resume again", "tenant resumed",
	}
	// refusals is the subjects that show a refused cursor.
	refusals = []string{
		"refusal: ephemeral", "refusal: expired", "refusal: foreign", "refusal: hostile", "refusal: removed", "refusal: unknown",
	}
	// frames is the subjects that show a triggered event.
	frames = []string{
		"large live", "large resumed", "legacy resume", "legacy unknown", "live after idempotent", "live durable", "live ephemeral", "live start", "other instance", "resumable", "resumable again", "resume", "resume again", "resume at the last", "resumed before the removed", "resumed within the promise", "tenant live", "tenant resumed",
	}
)

func with(subjects []string, more ...string) []string {
	return slices.Sorted(slices.Values(slices.Concat(subjects, more)))
}

// changes is, for each defect, the subjects of the script in which its host differs from the right one.
var changes = map[string][]string{
	"backlog-consumed":             {"legacy resume", "replayed as it was sent", "resume again"},
	"backlog-first-dropped":        with(replays, "replayed as it was sent"),
	"backlog-last-dropped":         replays,
	"backlog-last-twice":           replays,
	"backlog-newest-first":         {"large resumed", "legacy resume", "resume", "resume again"},
	"bounded-stream-forgets":       {"resumable again"},
	"class-changed":                {"live after idempotent", "tenant live"},
	"refusal-cursor-encoded":       refusals,
	"refusal-extra-member":         refusals,
	"refusal-without-message":      refusals,
	"cursor-event-repeated":        with(replays, "resume at the last", "resumed before the removed", "resumed within the promise"),
	"durable-without-id":           with(replays, "large live", "legacy unknown", "live after idempotent", "live durable", "live start", "resumable", "resume at the last", "resumed before the removed", "resumed within the promise", "tenant live"),
	"envelope-no-payload":          frames,
	"envelope-run-id":              frames,
	"envelope-sequence":            frames,
	"envelope-timestamp-epoch":     frames,
	"ephemeral-cursor-message":     {"refusal: ephemeral"},
	"ephemeral-cursor-resumed":     {"refusal: ephemeral"},
	"ephemeral-redelivered":        {"legacy resume"},
	"ephemeral-replayed":           {"legacy resume", "resume", "resume again"},
	"ephemeral-with-id":            {"legacy resume", "live ephemeral", "resume", "resume again"},
	"expired-cursor-gone":          {"refusal: expired"},
	"expired-cursor-loses-younger": {"refusal: expired"},
	"facet-empty":                  {"advertised replay"},
	"facet-extra-member":           {"advertised replay"},
	"facet-fraction":               {"advertised replay"},
	"facet-text":                   {"advertised replay"},
	"facet-zero":                   {"advertised replay"},
	"foreign-cursor-forbidden":     {"refusal: foreign"},
	"foreign-cursor-message":       {"refusal: foreign"},
	"foreign-cursor-resumed":       {"refusal: foreign"},
	"heartbeat-own-id":             {"large live", "large resumed", "legacy resume", "live after idempotent", "live ephemeral", "other instance", "resumable again", "resume", "resume again", "tenant live", "tenant resumed"},
	"hostile-cursor-500":           {"refusal: hostile"},
	"hostile-cursor-live":          {"refusal: hostile"},
	"idempotency-body-ignored":     {"idempotent with another body"},
	"idempotency-ignored":          {"idempotent again", "idempotent with another body", "live after idempotent"},
	"idempotency-second-effect":    {"live after idempotent"},
	"idempotency-unmarked":         {"idempotent again"},
	"last-cursor-refused":          {"resume at the last", "resumed within the promise"},
	"legacy-cursor-refused":        {"legacy unknown"},
	"live-start-replays":           {"live start", "resumable"},
	"one-process-ring":             {"other instance"},
	"oversize-cut":                 {"large resumed"},
	"oversize-not-notified":        {"large live"},
	"oversize-not-stored":          {"large resumed"},
	"peer-live-deaf":               {"other instance"},
	"refusal-before-key":           {"a wrong key at an unknown cursor", "no scope at an unknown cursor"},
	"refusal-before-scope":         {"no scope at an unknown cursor"},
	"refusal-cursor-header":        refusals,
	"refusal-echoes-cursor":        refusals,
	"refusal-in-stream":            refusals,
	"refusal-names-tenant":         refusals,
	"refusal-not-found":            refusals,
	"refusal-tells-event":          {"refusal: ephemeral", "refusal: expired", "refusal: foreign", "refusal: removed"},
	"removed-cursor-message":       {"refusal: removed"},
	"removed-cursor-resumed":       {"refusal: removed"},
	"removed-event-replayed":       {"resumed before the removed"},
	"removed-place-reused":         {"resumed before the removed"},
	"replay-value-500":             {"replay=sometimes"},
	"replay-value-strict":          {"replay=sometimes"},
	"replayed-event-name-lost":     with(replays, "replayed as it was sent"),
	"replayed-id-line-differs":     with(replays, "replayed as it was sent"),
	"replayed-timestamp-new":       {"replayed as it was sent"},
	"resumed-without-ephemerals":   {"legacy resume", "resume", "resume again"},
	"retention-sweeps-young":       {"resumed within the promise"},
	"silent-after-backlog":         with(replays, "resume at the last", "resumed before the removed", "resumed within the promise"),
	"tenant-leak-backlog":          {"tenant resumed"},
	"tenant-leak-live":             {"tenant live"},
	"trigger-body-open":            {"trigger with a wrong type", "trigger with an unknown member"},
	"trigger-foreign-workspace":    {"trigger into a foreign workspace"},
	"trigger-unknown-workspace":    {"trigger into an unknown workspace"},
	"trigger-unlisted-served":      {"advertised types"},
	"trigger-wrong-type-taken":     {"trigger with a wrong type"},
	"types-without-class":          {"advertised types"},
	"unknown-cursor-live":          refusals,
	"unlisted-type-emitted":        with(replays, "live after idempotent", "live ephemeral", "resume at the last", "resumed before the removed", "resumed within the promise", "tenant live"),
	"workspace-ignored":            {"live durable", "tenant live", "tenant resumed"},
	"workspace-leak":               {"tenant live", "tenant resumed"},
	"workspace-leak-backlog":       {"tenant resumed"},
}

// sometimes is the subjects in which a defect may or may not show, as the timing of the script has it.
var sometimes = map[string][]string{
	"class-changed": with(slices.DeleteFunc(slices.Clone(frames), func(s string) bool {
		return s == "live after idempotent" || s == "tenant live"
	})),
}

// shownElsewhere is the defects that other tests, or the self-check's legs, show: they need many events, writers at once, a
// stream's end or a time without one, a workspace's cursor, another tenant's backlog or key, an ephemeral event of theirs,
// another process in the host's place, or no trigger.
var shownElsewhere = []string{
	"handoff-gap", "handoff-duplicate", "replay-queue-bounded", "ring-of-a-thousand", "cursor-search-capped",
	"cursor-search-from-oldest", "heartbeat-id-ahead", "last-event-cut", "sequence-before-commit", "retention-by-count", "trigger-listed-missing",
	"unwatched-lost", "retention-short", "removed-takes-next", "workspace-not-replayed", "workspace-key-refused",
	"workspace-cursor-forbidden", "unknown-cursor-second-time", "unknown-cursor-resumable", "cursor-by-beginning",
	"last-sequence-unread", "cursors-of-this-process", "notification-carries-event", "listener-without-catching-up",
	"ephemerals-of-one-instance", "idempotency-of-one-instance", "first-tenant-only", "tenant-leak-ephemeral",
	"workspace-leak-ephemeral", "first-tenant-public", "removed-until-restart", "idempotency-over-tenants", "idempotency-durable-only",
}
