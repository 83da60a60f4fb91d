package main

import (
	"cmp"
	"slices"
)

// Rows that several attacks come to. A bar separates what may be seen of one attack: on a busy machine a limit passes
// before the host's answer is whole.
const (
	envelope, backlog, refused, reveals, closed = "0236.host-event.envelope", "0250.resume-backlog", "0250.cursor-refused",
		"0250.refusal-reveals-nothing", "0241.trigger.body-closed"

	timedOut    = "blocked timeout"
	unreachable = "blocked unreachable"
	unreadable  = "blocked unreadable"
	unexpected  = "blocked unexpected-answer"
	slowRate    = "inapplicable rate-too-low"
	opensAll    = "executed-fail convicted:error-code,not-an-event-stream,refused-with-409"
	takesAll    = "executed-fail convicted:body-of-another-type-refused,delivery-in-a-list-refused,delivery-missing-refused," +
		"delivery-of-another-type-refused,delivery-unknown-refused,payload-member-refused,type-member-refused,unknown-member-refused," +
		"workspace-of-another-type-refused"
	undelivered = "executed-fail convicted:durable-delivered,ephemeral-delivered|executed-fail convicted:ephemeral-delivered|" +
		"executed-fail convicted:durable-delivered|" + timedOut
)

// hostileRows is what each attack comes to.
func hostileRows() map[string]hostileCase {
	cases := map[string]hostileCase{}
	for row, names := range map[string][]string{
		unreachable: {"dead-port", "silent", "cuts-at-once", "cuts-after-request", "headers-byte-by-byte", "header-bomb",
			"header-line-bomb", "hints-for-ever", "status-garbage", "status-not-a-number", "http-0.9", "ssh", "two-lengths",
			"expired-certificate", "self-signed-certificate", "wrong-name-certificate", "dies-at-start", "dies-after-discovery"},
		unreadable: {"cut-in-body", "bad-chunks", "huge-length", "html-page", "server-errors", "busy-for-ever", "endless-document",
			"trickling-document", "gzip-bomb", "unknown-encoding", "invalid-utf8", "duplicate-keys", "deep-nesting", "empty-document",
			"trailing-document", "redirect", "redirect-loop", "live-text-as-problem", "echo-in-status-line"},
		"blocked unauthorized":        {"wrong-key"},
		"inapplicable not-advertised": {"future-major"},
	} {
		for _, name := range names {
			cases[name] = hostileCase{all: row, exit: 3}
		}
	}
	put := func(exit int, rows map[string]string, names ...string) {
		for _, name := range names {
			cases[name] = hostileCase{rows: rows, exit: exit}
		}
	}
	hostileFamilies(put)
	hostileStreams(put)
	hostileTriggers(put)
	return cases
}

// each gives the same row to several legs; without legs, to all of hostileLegs.
func each(row string, legs ...string) map[string]string {
	if len(legs) == 0 {
		legs = hostileLegs()
	}
	rows := map[string]string{}
	for _, leg := range legs {
		rows[leg] = row
	}
	return rows
}

// orTimedOut allows each row to have run out of time instead; a leg that isn't named passes otherwise.
func orTimedOut(rows map[string]string) map[string]string {
	late := map[string]string{}
	for _, leg := range hostileLegs() {
		late[leg] = cmp.Or(rows[leg], "executed-pass") + "|" + timedOut
	}
	return late
}

// hostileFamilies are wrong documents, dead hosts, and text and keys where they should not be.
func hostileFamilies(put func(exit int, rows map[string]string, names ...string)) {
	put(0, nil, "huge-numbers", "wrong-types-of-family", "live-text-in-discovery") // other legs convict these
	put(3, each("inapplicable not-advertised"), "wrong-types")
	put(3, each(unexpected), "errors-after-discovery", "redirect-after-discovery", "echo-in-redirect", "echo-in-status-text")
	put(3, each(unreachable), "dies-in-a-leg")
	put(3, each(unreachable, backlog, refused, reveals), "dies-with-streams")
	put(1, each("executed-fail convicted:error-code", refused), "live-text-in-errors")
	put(1, each("executed-fail convicted:payload-empty", envelope), "live-text-in-events")
	put(1, each("executed-fail convicted:event-field", envelope), "live-text-in-types")
	put(3, each(unexpected, closed, envelope, backlog, reveals), "live-text-in-headers")
	put(1, map[string]string{closed: "executed-fail convicted:error-body", refused: "executed-fail convicted:error-body", reveals: "executed-fail convicted:no-key"}, "echo-in-body")
	put(1, each("executed-fail convicted:no-key", reveals), "echo-in-message", "echo-in-headers")
	put(1, map[string]string{refused: "executed-fail convicted:error-code", reveals: "executed-fail convicted:no-key"}, "echo-in-stream")
}

// hostileStreams are streams without an end, and refusals that are something else.
func hostileStreams(put func(exit int, rows map[string]string, names ...string)) {
	flood := map[string]string{envelope: undelivered + "|" + unexpected + "|" + unreadable, backlog: timedOut + "|" + unexpected,
		refused: opensAll + "|" + timedOut + "|" + unreadable, reveals: timedOut + "|" + unexpected}
	put(exitOneOrThree, flood, "endless-line", "endless-frame", "endless-frames", "endless-comments", "endless-empty-lines", "packed-stream",
		"stream-ends-at-once", "retry-for-ever")
	still := map[string]string{envelope: undelivered, backlog: timedOut, refused: opensAll, reveals: timedOut}
	put(1, still, "dripping-stream", "mute-stream", "stream-of-nonsense")
	put(3, each(timedOut, envelope, backlog, refused, reveals), "silent-stream-answer")
	put(1, map[string]string{backlog: "executed-fail convicted:cursor-resumed", refused: timedOut, reveals: timedOut}, "refusal-as-stream")
	put(1, map[string]string{backlog: "executed-fail convicted:cursor-resumed", refused: unreadable + "|" + timedOut,
		reveals: "executed-pass|" + timedOut + "|" + unreadable}, "endless-refusal", "bomb-refusal")
	put(1, map[string]string{backlog: "executed-fail convicted:cursor-resumed", refused: "executed-fail convicted:error-code"}, "refusal-twice-over")
}

// hostileTriggers are those of the answer to the trigger.
func hostileTriggers(put func(exit int, rows map[string]string, names ...string)) {
	nothing := each(unexpected, envelope, backlog, reveals)
	nothing[closed] = takesAll
	put(1, nothing, "event-id-not-text", "event-id-empty", "trigger-echo-of-nothing")
	// Megabytes for every event are work, and on a busy machine the run's limit passes meanwhile.
	put(1, orTimedOut(nothing), "long-event-id")
	never := map[string]string{closed: takesAll, envelope: undelivered, backlog: timedOut, reveals: timedOut}
	put(1, never, "event-id-with-lines", "event-id-with-nul", "event-id-of-markup", "event-id-never-delivered", "unasked-answers", "echo-as-event-id")
	put(0, each(slowRate, closed, envelope, backlog, reveals), "limited-for-decades", "limited-until-doomsday")
	put(3, each(timedOut), "limited-for-ever", "limited-for-centuries", "limited-negative", "limited-until-yesterday", "limited-nonsense",
		"trickling-answer", "silent-trigger")
	broken := each(unexpected, envelope, backlog, reveals)
	broken[closed] = unreadable
	put(3, broken, "switches-protocols")
	put(3, orTimedOut(broken), "endless-answer")
	put(3, each(unreachable, closed, envelope, backlog, reveals), "trigger-cut")
	cut := each(unexpected, envelope, backlog, reveals)
	cut[closed] = unreachable
	put(3, cut, "trigger-cut-in-body")
}

// exitOneOrThree is for attacks of which a busy machine may not see enough to convict.
const exitOneOrThree = -1

func exitFits(got, want int) bool {
	return got == want || want == exitOneOrThree && slices.Contains([]int{1, 3}, got)
}
