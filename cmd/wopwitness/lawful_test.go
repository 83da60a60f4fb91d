package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// lawful is one lawful difference, or several at once, and what it changes in the rows. A row that isn't named must be
// what the host's listing and the operator's means alone make of it.
type lawful struct {
	lawfulhost.Options
	volume int               // events behind the cursor in the volume leg; 0 is few, for speed
	rows   map[string]string // leg on major → what is expected in place of a pass
	exit   int
	peer   bool // its address is that of a second instance as well, as behind one that shares requests out
}

func lawfulHosts() map[string]lawful {
	host := func(set func(*lawfulhost.Options)) lawful {
		var l lawful
		set(&l.Options)
		return l
	}
	all := map[string]lawful{
		"plain":                              {},
		"seams":                              host(func(o *lawfulhost.Options) { o.Seams = true }),
		"runs with owners":                   host(func(o *lawfulhost.Options) { o.Runs = true }),
		"keys reversed":                      host(func(o *lawfulhost.Options) { o.Keys = lawfulhost.KeysReversed }),
		"keys sorted":                        host(func(o *lawfulhost.Options) { o.Keys = lawfulhost.KeysSorted }),
		"crlf":                               host(func(o *lawfulhost.Options) { o.LineEnds = lawfulhost.EndsCRLF }),
		"cr":                                 host(func(o *lawfulhost.Options) { o.LineEnds = lawfulhost.EndsCR }),
		"mixed line ends":                    host(func(o *lawfulhost.Options) { o.LineEnds = lawfulhost.EndsMixed }),
		"comments":                           host(func(o *lawfulhost.Options) { o.Comments = true }),
		"retry lines":                        host(func(o *lawfulhost.Options) { o.Retry = true }),
		"several data lines":                 host(func(o *lawfulhost.Options) { o.SplitData = true }),
		"tight colons":                       host(func(o *lawfulhost.Options) { o.TightColons, o.DataFirst = true, true }),
		"unknown fields":                     host(func(o *lawfulhost.Options) { o.UnknownFields = true }),
		"byte order mark":                    host(func(o *lawfulhost.Options) { o.ByteOrderMark = true }),
		"json escapes":                       host(func(o *lawfulhost.Options) { o.Escapes = true }),
		"byte by byte":                       host(func(o *lawfulhost.Options) { o.ByteByByte = true }),
		"heartbeats":                         host(func(o *lawfulhost.Options) { o.Heartbeat = 5 * time.Millisecond }),
		"microseconds":                       host(func(o *lawfulhost.Options) { o.Microseconds = true }),
		"offsets":                            host(func(o *lawfulhost.Options) { o.Offset, o.Microseconds = true, true }),
		"reserialised":                       host(func(o *lawfulhost.Options) { o.Reserialised = true }),
		"long ids":                           host(func(o *lawfulhost.Options) { o.LongIDs = true }),
		"media parameter":                    host(func(o *lawfulhost.Options) { o.MediaParameter = true }),
		"slow delivery":                      host(func(o *lawfulhost.Options) { o.Delivery = 300 * time.Millisecond }),
		"late commit":                        host(func(o *lawfulhost.Options) { o.Commit = 100 * time.Millisecond }),
		"slow answer to streams":             host(func(o *lawfulhost.Options) { o.LiveFirst = 400 * time.Millisecond }),
		"busy tenant":                        host(func(o *lawfulhost.Options) { o.Busy = 3 * time.Millisecond }),
		"rate limit":                         host(func(o *lawfulhost.Options) { o.Rate = 20 }),
		"bounded life":                       host(func(o *lawfulhost.Options) { o.Life = 150 * time.Millisecond }),
		"bounded life, reset":                host(func(o *lawfulhost.Options) { o.Life, o.End = 150*time.Millisecond, lawfulhost.EndReset }),
		"constant details":                   host(func(o *lawfulhost.Options) { o.Details = true }),
		"resumes expired":                    host(func(o *lawfulhost.Options) { o.Seams, o.ResumesExpired = true, true }),
		"hidden workspaces":                  host(func(o *lawfulhost.Options) { o.HidesWorkspaces = true }),
		"own 401 code":                       host(func(o *lawfulhost.Options) { o.UnauthorizedCode = "credential_invalid" }),
		"refuses unknown replay":             host(func(o *lawfulhost.Options) { o.ReplayValue = true }),
		"legacy replays all":                 host(func(o *lawfulhost.Options) { o.LegacyReplays = true }),
		"pretty bodies":                      host(func(o *lawfulhost.Options) { o.PrettyBodies = true }),
		"early hints":                        host(func(o *lawfulhost.Options) { o.EarlyHints = true }),
		"version 2.1":                        host(func(o *lawfulhost.Options) { o.Version = "2.1" }),
		"more types":                         host(func(o *lawfulhost.Options) { o.MoreTypes = true }),
		"extra metadata":                     host(func(o *lawfulhost.Options) { o.ExtraMetadata = true }),
		"longest retention":                  host(func(o *lawfulhost.Options) { o.Retention = 1 << 30 }),
		"lower-case headers":                 host(func(o *lawfulhost.Options) { o.Headers = "lower" }),
		"upper-case headers":                 host(func(o *lawfulhost.Options) { o.Headers = "upper" }),
		"tls":                                host(func(o *lawfulhost.Options) { o.TLS = true }),
		"http2":                              host(func(o *lawfulhost.Options) { o.HTTP2 = true }),
		"buffering proxy":                    host(func(o *lawfulhost.Options) { o.Buffers = 4 << 10 }),
		"buffering proxy, busy":              host(func(o *lawfulhost.Options) { o.Buffers, o.Busy = 4<<10, 5*time.Millisecond }),
		"always buffering proxy":             host(func(o *lawfulhost.Options) { o.Buffers, o.BuffersOn = 1<<10, true }),
		"50 ms away, jitter":                 host(func(o *lawfulhost.Options) { o.Distance, o.Jitter = 50*time.Millisecond, 30*time.Millisecond }),
		"integers with a fraction of nought": host(func(o *lawfulhost.Options) { o.Floats, o.Seams = true, true }),
		"instants in lower case":             host(func(o *lawfulhost.Options) { o.Instants, o.Seams = lawfulhost.InstantsLower, true }),
		"instants elsewhere":                 host(func(o *lawfulhost.Options) { o.Instants, o.Seams = lawfulhost.InstantsEast, true }),
		"closed connections":                 host(func(o *lawfulhost.Options) { o.Closes = true }),
		"gzip":                               host(func(o *lawfulhost.Options) { o.Gzip = true }),
		"puts every request off":             host(func(o *lawfulhost.Options) { o.PutsOff, o.Seams = 7, true }),
		"delivers before it answers":         host(func(o *lawfulhost.Options) { o.Answer = 150 * time.Millisecond }),
		"ephemeral events come last":         host(func(o *lawfulhost.Options) { o.Ephemeral = 250 * time.Millisecond }),
		"a short life":                       host(func(o *lawfulhost.Options) { o.Life = 40 * time.Millisecond }),
		"retained for ever":                  host(func(o *lawfulhost.Options) { o.Seams, o.Retention = true, 1<<53-1 }),
		"events, a clock that ticks":         host(func(o *lawfulhost.Options) { o.Seams, o.ClockTick = true, time.Second }),
		"major 2 alone":                      host(func(o *lawfulhost.Options) { o.Majors = []int{2} }),
		"no reserved type":                   host(func(o *lawfulhost.Options) { o.NoTrigger = true }),
		"durable trigger alone":              host(func(o *lawfulhost.Options) { o.Only = "durable" }),
		"ephemeral trigger alone":            host(func(o *lawfulhost.Options) { o.Only = "ephemeral" }),
		"no replay facet":                    host(func(o *lawfulhost.Options) { o.NoReplay = true }),
		"http2, cr, slow, busy": host(func(o *lawfulhost.Options) {
			o.HTTP2, o.LineEnds, o.Delivery, o.Busy = true, lawfulhost.EndsCR, 60*time.Millisecond, 10*time.Millisecond
		}),
		"reset, heartbeats, late": host(func(o *lawfulhost.Options) {
			o.Life, o.End, o.Heartbeat, o.Commit = 300*time.Millisecond, lawfulhost.EndReset, 9*time.Millisecond, 20*time.Millisecond
		}),
		"far, bounded, rate limit": host(func(o *lawfulhost.Options) {
			o.Distance, o.Life, o.Rate = 20*time.Millisecond, 300*time.Millisecond, 60
		}),
		"everything of the framing": host(everyFraming),
		"everything of the answers": host(func(o *lawfulhost.Options) {
			o.Details, o.HidesWorkspaces, o.UnauthorizedCode, o.ReplayValue, o.LegacyReplays, o.PrettyBodies, o.EarlyHints = true, true, "no_key", true, true, true, true
			o.Seams, o.Runs, o.ResumesExpired, o.ExtraMetadata, o.MoreTypes, o.Version = true, true, true, true, true, "2.1"
		}),
	}
	for name, l := range map[string]lawful{
		"major 1 alone":              host(func(o *lawfulhost.Options) { o.Majors = []int{1} }),
		"major 1 alone, in http 1.0": host(func(o *lawfulhost.Options) { o.Majors, o.ClosesAlways = []int{1}, true }),
		"no host events":             host(func(o *lawfulhost.Options) { o.NoHostEvents = true }),
	} {
		l.exit = 3 // nothing that the host does could be observed
		all[name] = l
	}
	all["plain, whole volume"] = lawful{volume: 1200}
	// At ten a second the volume leg would take two minutes: it goes by the emit seam, or not at all.
	slow := host(func(o *lawfulhost.Options) { o.Rate = 10 })
	slow.volume, slow.rows = 1200, map[string]string{onMajor("0250.volume", 2): "inapplicable rate-too-low"}
	all["low rate"] = slow
	slow.Seams, slow.rows = true, nil
	all["low rate, seams"] = slow
	return all
}

func everyFraming(o *lawfulhost.Options) {
	o.Keys, o.LineEnds, o.Comments, o.Retry, o.SplitData = lawfulhost.KeysReversed, lawfulhost.EndsMixed, true, true, true
	o.TightColons, o.UnknownFields, o.ByteOrderMark, o.DataFirst, o.Escapes = true, true, true, true, true
	o.Heartbeat, o.Microseconds, o.Offset, o.Reserialised, o.LongIDs, o.MediaParameter = 7*time.Millisecond, true, true, true, true, true
}

// A wrong conviction is as bad as a wrong pass: every leg acquits every lawful host, and says nothing but what the
// host's listing makes it say.
func TestLawfulHostsAreAcquitted(t *testing.T) {
	hosts := lawfulHosts()
	judged(t, atOnce, slices.Sorted(maps.Keys(hosts)), func(ctx context.Context, dir, name string) (visit, error) {
		return visitLawful(ctx, dir, hosts[name])
	}, func(v visit, name string) []string {
		l := hosts[name]
		want := expectedRows(l.Options)
		maps.Copy(want, l.rows)
		return unlike(v, want, l.exit)
	})
}

func visitLawful(ctx context.Context, dir string, l lawful, more ...string) (visit, error) {
	s, err := lawfulhost.Start(l.Options)
	if err != nil {
		return visit{}, err
	}
	defer s.Close()
	args := []string{"--key", lawfulhost.KeyA, "--key-b", lawfulhost.KeyB, "--key-low", lawfulhost.KeyLow,
		"--workspace", lawfulhost.Workspace, "--key-ws", lawfulhost.KeyWS, "--timeout", "4m",
		"--volume", strconv.Itoa(cmp.Or(l.volume, 150))}
	args = append(args, more...)
	if l.peer {
		args = append(args, "--peer-url", s.PeerURL)
	}
	if s.CA != nil {
		ca := filepath.Join(dir, "ca.pem")
		if err := os.WriteFile(ca, s.CA, 0o600); err != nil {
			return visit{}, fmt.Errorf("write the CA file: %w", err)
		}
		args = append(args, "--ca", ca)
	}
	return visitHost(ctx, dir, s.URL, args...)
}

// expectedRows is what a right host with this listing gets: a pass, or the reason of the first gate that is shut or the
// first need that nothing meets.
func expectedRows(o lawfulhost.Options) map[string]string {
	majors := o.Majors
	if majors == nil {
		majors = []int{1, 2}
	}
	rows, elsewhere := map[string]string{}, map[string]string{}
	for _, leg := range registry.Legs() {
		on := leg.Majors
		if leg.OneMajor {
			on = []int{slices.Max(majors)}
		}
		for _, major := range on {
			if slices.Contains(majors, major) {
				rows[onMajor(string(leg.ID), major)] = expectedOf(leg, major, o)
			}
			elsewhere[onMajor(string(leg.ID), major)] = string(registry.Inapplicable) + " " + string(registry.NotAdvertised)
		}
	}
	if len(rows) == 0 { // each leg says that the host lacks its major
		return elsewhere
	}
	return rows
}

func expectedOf(leg registry.Leg, major int, o lawfulhost.Options) string {
	events := major == 2 && !o.NoHostEvents
	lists := func(class string) bool { return events && !o.NoTrigger && (o.Only == "" || o.Only == class) }
	for _, g := range leg.Gates {
		open, reason := false, registry.NotAdvertised
		switch g {
		case registry.GateHostEvents:
			open = events
		case registry.GateReplay:
			open = events && !o.NoReplay
		case registry.GateTrigger:
			open, reason = lists("durable") || lists("ephemeral"), registry.ClassNotListed
		case registry.GateTriggerDurable:
			open, reason = lists("durable"), registry.ClassNotListed
		case registry.GateTriggerEphemeral:
			open, reason = lists("ephemeral"), registry.ClassNotListed
		}
		if !open {
			return string(registry.Inapplicable) + " " + string(reason)
		}
	}
	if leg.ID == "0250.bounded-stream" && (o.Life == 0 || o.Life > 500*time.Millisecond) {
		return string(registry.Inapplicable) + " " + string(registry.NoCause) // no stream ends while the leg watches
	}
	for _, n := range leg.Needs {
		met := false
		switch n {
		case registry.NeedSecondTenant, registry.NeedLowScope, registry.NeedWorkspace:
			met = true // the test gives them
		case registry.NeedClock, registry.NeedEmitSeam, registry.NeedRemoveSeam:
			met = o.Seams
		}
		if !met {
			return string(registry.Inapplicable) + " " + string(registry.NoCause)
		}
	}
	return string(registry.Pass)
}
