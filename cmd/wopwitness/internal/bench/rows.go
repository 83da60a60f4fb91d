package bench

import "context"

// entry is a row before it is measured.
type entry struct {
	name, what, limit string
	unit              string
	slow              bool // measured only when asked for
	measure           func(*bench, context.Context, *Row) error
}

func entries() []entry {
	return []entry{
		{
			name: "append-1", what: "durable append, 1 writer, 200-byte payload", unit: perSecond,
			limit:   "a handler that does the same INSERT and nothing else",
			measure: func(b *bench, ctx context.Context, r *Row) error { return b.append(ctx, r, 1) },
		},
		{
			name: "append-32", what: "durable append, 32 writers, 200-byte payload", unit: perSecond,
			limit:   "a handler over a bare group committer",
			measure: func(b *bench, ctx context.Context, r *Row) error { return b.append(ctx, r, 32) },
		},
		{
			name: "latency", what: "emit to one live subscriber at 200/s, median", unit: milliseconds,
			limit:   "a hub in memory, without a store",
			measure: (*bench).latency,
		},
		{
			name: "fanout", what: "live fan-out to 1,000 subscribers, deliveries", unit: perSecond,
			limit:   "the same bytes from a hub in memory",
			measure: (*bench).fanout,
		},
		{
			name: "resume", what: "resume of 100,000 events, first byte to last", unit: perSecond,
			limit:   "an ordered scan of the same rows in the store",
			measure: (*bench).resume,
		},
		{
			name: "intercept", what: "the record of an agent's call, durable before the call goes out, 1 writer", unit: perSecond,
			limit:   "a bare insert of the same payload into the same store",
			measure: (*bench).intercept,
		},
		{
			name: "suite", what: "the suite against the mock host, all majors", unit: seconds,
			limit:   "round trips × the loopback round-trip time (quiet windows left out)",
			measure: (*bench).suite,
		},
		{name: "verify", what: "verify a bundle of 10,000 rows", unit: seconds, measure: (*bench).verify},
		{name: "selfcheck", what: "the self-check over every defect", unit: seconds, slow: true, measure: (*bench).selfcheck},
	}
}

// Names lists every row.
func Names() []string {
	var names []string
	for _, e := range entries() {
		names = append(names, e.name)
	}
	return names
}

func find(name string) (entry, bool) {
	for _, e := range entries() {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// chosen are the named rows in the table's order, or all where none is named.
func chosen(names []string, full bool) []entry {
	named := map[string]bool{}
	for _, n := range names {
		named[n] = true
	}
	var out []entry
	for _, e := range entries() {
		if named[e.name] || len(names) == 0 && (full || !e.slow) {
			out = append(out, e)
		}
	}
	return out
}
