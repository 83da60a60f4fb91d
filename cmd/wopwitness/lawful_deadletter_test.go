package main

import (
	"time"

	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// lawfulDead is a host of dead letters with lawful differences, and what it changes in the rows beside what its listing
// and its seams alone make of them.
type lawfulDead struct {
	lawfulhost.Options
	legs string            // the legs that are run; "" is all of RFC 0053
	args []string          // more of the command line
	rows map[string]string // leg on major → what is expected in place of what expectedDead says
	exit int
}

func deadHost(set func(*lawfulhost.Options)) lawfulDead {
	var l lawfulDead
	l.Sink, l.Seams, l.Entries, l.NoHostEvents = true, true, true, true
	set(&l.Options)
	return l
}

const inapplicableNoCause = string(registry.Inapplicable) + " " + string(registry.NoCause)

// onBoth is one expectation on both majors.
func onBoth(result string, legs ...string) map[string]string {
	rows := map[string]string{}
	for _, leg := range legs {
		rows[onMajor(leg, 1)], rows[onMajor(leg, 2)] = result, result
	}
	return rows
}

func lawfulDeadHosts() map[string]lawfulDead {
	all := map[string]lawfulDead{}
	for _, table := range []map[string]func(*lawfulhost.Options){promises(), policies(), logs(), logsOfMajorOne(), runAnswers(), causes()} {
		for name, set := range table {
			all[name] = deadHost(set)
		}
	}
	change := func(name string, edit func(*lawfulDead)) {
		l := all[name]
		edit(&l)
		all[name] = l
	}
	change("no run sink", func(l *lawfulDead) { l.exit = 3 })
	change("sinks of messages only", func(l *lawfulDead) { l.exit = 3 })
	change("neither fixtures nor seams", func(l *lawfulDead) { l.exit = 3 })
	change("the no-op fixture alone", func(l *lawfulDead) { l.exit = 3 })
	change("gives up after two tries", func(l *lawfulDead) { l.rows = onBoth(inapplicableNoCause, "0053.exhaustion.not-early") })
	change("never retries", func(l *lawfulDead) { l.rows = onBoth(inapplicableNoCause, "0053.exhaustion.not-early") })
	gone := map[string]string{onMajor("0053.retention.no-oracle", 2): inapplicableNoCause}
	change("purged forks are 410", func(l *lawfulDead) { l.rows = gone })
	change("purged forks are 422", func(l *lawfulDead) { l.rows = gone })
	change("slow exhaustion", func(l *lawfulDead) { l.legs = "0053.exhaustion.[ae]*" })
	change("slow exhaustion by a still clock", func(l *lawfulDead) { l.legs = "0053.exhaustion.[ae]*" })
	change("own canary", func(l *lawfulDead) { l.args = []string{"--canary-value", "correct horse battery"} })
	return all
}

func promises() map[string]func(*lawfulhost.Options) {
	return map[string]func(*lawfulhost.Options){
		"plain dead letters":     func(*lawfulhost.Options) {},
		"no run sink":            func(o *lawfulhost.Options) { o.Unsupported = true },
		"sinks of messages only": func(o *lawfulhost.Options) { o.Sink, o.OtherSinks = false, true },
		"sinks of messages too":  func(o *lawfulhost.Options) { o.OtherSinks = true },
		"family at the root":     func(o *lawfulhost.Options) { o.Seats = []string{lawfulhost.SeatRoot} },
		"family under host":      func(o *lawfulhost.Options) { o.Seats = []string{lawfulhost.SeatHost} },
		"family in all seats": func(o *lawfulhost.Options) {
			o.Seats = []string{lawfulhost.SeatHost, lawfulhost.SeatRoot, lawfulhost.SeatCapabilities}
		},
		"no retention days":       func(o *lawfulhost.Options) { o.NoDays = true },
		"one retention day":       func(o *lawfulhost.Options) { o.Days = 1 },
		"ten years":               func(o *lawfulhost.Options) { o.Days = 3650 },
		"experimental record":     func(o *lawfulhost.Options) { o.Experimental = true },
		"own facet":               func(o *lawfulhost.Options) { o.OwnFacet = true },
		"lists runs":              func(o *lawfulhost.Options) { o.ListsRuns = true },
		"no fork operation":       func(o *lawfulhost.Options) { o.NoFork = true },
		"forks by replay only":    func(o *lawfulhost.Options) { o.ReplayOnly, o.Majors = true, []int{2} },
		"dead letters, major 1":   func(o *lawfulhost.Options) { o.Majors = []int{1} },
		"dead letters, major 2":   func(o *lawfulhost.Options) { o.Majors = []int{2} },
		"major 1, http 1.0":       func(o *lawfulhost.Options) { o.Majors, o.ClosesAlways = []int{1}, true },
		"dead letters, far away":  func(o *lawfulhost.Options) { o.Distance, o.Jitter = 20*time.Millisecond, 10*time.Millisecond },
		"dead letters over http2": func(o *lawfulhost.Options) { o.HTTP2, o.Majors = true, []int{2} },
	}
}

func policies() map[string]func(*lawfulhost.Options) {
	return map[string]func(*lawfulhost.Options){
		"never retries":                    func(o *lawfulhost.Options) { o.Attempts = 1 },
		"gives up after two tries":         func(o *lawfulhost.Options) { o.Attempts = 2 },
		"tries five times":                 func(o *lawfulhost.Options) { o.Attempts = 5 },
		"short back-off":                   func(o *lawfulhost.Options) { o.Backoff, o.Start = 15*time.Millisecond, 20*time.Millisecond },
		"slow exhaustion":                  func(o *lawfulhost.Options) { o.Backoff, o.Seams = 1500*time.Millisecond, false },
		"slow exhaustion by a still clock": func(o *lawfulhost.Options) { o.Backoff, o.StillClock = 2*time.Second, true },
		"still clock":                      func(o *lawfulhost.Options) { o.StillClock = true },
		"goes on behind the dead node":     func(o *lawfulhost.Options) { o.GoesOn = true },
		"daily sweep":                      func(o *lawfulhost.Options) { o.DailySweep = true },
		"purges all runs alike":            func(o *lawfulhost.Options) { o.PurgesAll = true },
		"snapshot lags":                    func(o *lawfulhost.Options) { o.SnapshotLag = 40 * time.Millisecond },
	}
}

func logs() map[string]func(*lawfulhost.Options) {
	return map[string]func(*lawfulhost.Options){
		"node.retried before each retry":      func(o *lawfulhost.Options) { o.Retried = true },
		"node.failed once":                    func(o *lawfulhost.Options) { o.FailedOnce = true },
		"one try shown":                       func(o *lawfulhost.Options) { o.FailedOnce, o.StartedOnce = true, true },
		"retries alone shown":                 func(o *lawfulhost.Options) { o.FailedOnce, o.StartedOnce, o.Retried = true, true, true },
		"attempts in payloads":                func(o *lawfulhost.Options) { o.NamesAttempt, o.Retried = true, true },
		"dead letter after run.failed":        func(o *lawfulhost.Options) { o.LetterAfter = true },
		"dead letter late":                    func(o *lawfulhost.Options) { o.LetterAfter, o.LetterLate = true, 150*time.Millisecond },
		"second dead letter for the run":      func(o *lawfulhost.Options) { o.RunLetter = true },
		"dead letter without a node":          func(o *lawfulhost.Options) { o.OnlyRunLetter = true },
		"camel names on major 1":              func(o *lawfulhost.Options) { o.CamelNames = true },
		"more event types":                    func(o *lawfulhost.Options) { o.MoreEvents = true },
		"own error codes":                     func(o *lawfulhost.Options) { o.OwnErrors = true },
		"no error in the snapshot":            func(o *lawfulhost.Options) { o.NoError = true },
		"more members":                        func(o *lawfulhost.Options) { o.MoreMembers = true },
		"microseconds of runs":                func(o *lawfulhost.Options) { o.Micros = true },
		"names the secret":                    func(o *lawfulhost.Options) { o.NamesSecret = true },
		"own canary":                          func(o *lawfulhost.Options) { o.NamesSecret = true },
		"everything of the log":               everyLog,
		"everything of the log, letter after": func(o *lawfulhost.Options) { everyLog(o); o.LetterAfter = true },
	}
}

func everyLog(o *lawfulhost.Options) {
	o.Retried, o.FailedOnce, o.NamesAttempt, o.RunLetter, o.MoreEvents, o.OwnErrors = true, true, true, true, true, true
	o.NamesSecret, o.NoError, o.MoreMembers, o.Micros, o.CamelNames, o.GoesOn = true, true, true, true, true, true
}

func logsOfMajorOne() map[string]func(*lawfulhost.Options) {
	one := func(set func(*lawfulhost.Options)) func(*lawfulhost.Options) {
		return func(o *lawfulhost.Options) {
			o.Majors = []int{1}
			set(o)
		}
	}
	return map[string]func(*lawfulhost.Options){
		"payload null, data beside":   one(func(o *lawfulhost.Options) { o.Nulls = true }),
		"seq beside sequence":         one(func(o *lawfulhost.Options) { o.Seq = true }),
		"seq alone":                   one(func(o *lawfulhost.Options) { o.OnlySeq = true }),
		"no schema version":           one(func(o *lawfulhost.Options) { o.NoSchema = true }),
		"event ids that are numbers":  one(func(o *lawfulhost.Options) { o.NumberIDs = true }),
		"creation answered 200":       one(func(o *lawfulhost.Options) { o.Created = 200 }),
		"no events url":               one(func(o *lawfulhost.Options) { o.NoEventsURL = true }),
		"run ids of any characters":   one(func(o *lawfulhost.Options) { o.OddIDs = true }),
		"poll by since":               one(func(o *lawfulhost.Options) { o.PollName = "since" }),
		"poll answers a bare list":    one(func(o *lawfulhost.Options) { o.BareList = true }),
		"no poll":                     one(func(o *lawfulhost.Options) { o.NoPoll = true }),
		"source not named":            one(func(o *lawfulhost.Options) { o.NoSourceID = true }),
		"no fork route on major 1":    one(func(o *lawfulhost.Options) { o.NoFork = true }),
		"no fork, own not-found code": one(func(o *lawfulhost.Options) { o.NoFork, o.NotFoundCode = true, "gone_fishing" }),
		"everything of major 1": one(func(o *lawfulhost.Options) {
			o.Nulls, o.Seq, o.NoSchema, o.NumberIDs, o.Created, o.NoEventsURL, o.OddIDs, o.PollName = true, true, true, true, 200, true, true, "since"
			o.NoSourceID, o.Micros, o.CamelNames, o.OwnErrors, o.NotFoundCode, o.SaysStatus = true, true, true, true, "no_such_run", "completed"
		}),
	}
}

func runAnswers() map[string]func(*lawfulhost.Options) {
	says := func(status string) func(*lawfulhost.Options) {
		return func(o *lawfulhost.Options) { o.SaysStatus = status }
	}
	return map[string]func(*lawfulhost.Options){
		"created as pending":           says("pending"),
		"created as running":           says("running"),
		"created as failed":            says("failed"),
		"created as completed":         says("completed"),
		"unknown workflow is 422":      func(o *lawfulhost.Options) { o.UnknownFlow = 422 },
		"unknown workflow is 400":      func(o *lawfulhost.Options) { o.UnknownFlow = 400 },
		"unknown workflow is 404":      func(o *lawfulhost.Options) { o.UnknownFlow = 404 },
		"own not-found code":           func(o *lawfulhost.Options) { o.NotFoundCode = "run_unknown_here" },
		"foreign runs are 404":         func(o *lawfulhost.Options) { o.HidesForeign, o.ListsRuns = true, true },
		"purged runs are 410":          func(o *lawfulhost.Options) { o.Purged = 410 },
		"purged forks are 410":         func(o *lawfulhost.Options) { o.PurgedFork = 410 },
		"purged forks are 422":         func(o *lawfulhost.Options) { o.PurgedFork = 422 },
		"not-found names the run":      func(o *lawfulhost.Options) { o.OtherMessage = true },
		"polls are held":               func(o *lawfulhost.Options) { o.HoldsPolls, o.Backoff = true, 20*time.Millisecond },
		"polls are held, letter after": func(o *lawfulhost.Options) { o.HoldsPolls, o.LetterAfter, o.Backoff = true, true, 20*time.Millisecond },
		"pretty bodies of runs":        func(o *lawfulhost.Options) { o.PrettyBodies, o.MediaParameter = true, true },
	}
}

func causes() map[string]func(*lawfulhost.Options) {
	return map[string]func(*lawfulhost.Options){
		"fixtures and no seams":        func(o *lawfulhost.Options) { o.Seams, o.Entries = false, false },
		"fixtures and the clock alone": func(o *lawfulhost.Options) { o.Entries = false },
		"fixtures and a real clock":    func(o *lawfulhost.Options) { o.RealClock = true },
		"exhaust seam alone":           func(o *lawfulhost.Options) { o.NoFixtures, o.Exhaust, o.Seams, o.Entries = true, true, false, false },
		"exhaust seam, runs unreadable": func(o *lawfulhost.Options) {
			o.NoFixtures, o.Exhaust, o.ExhaustUnread, o.Seams, o.Entries = true, true, true, false, false
		},
		"exhaust seam and the other seams":                 func(o *lawfulhost.Options) { o.NoFixtures, o.Exhaust = true, true },
		"the downstream fixture alone":                     func(o *lawfulhost.Options) { o.Seeds = []string{"conformance-deadletter-downstream"} },
		"the no-op fixture alone":                          func(o *lawfulhost.Options) { o.Seeds = []string{"conformance-noop"} },
		"neither fixtures nor seams":                       func(o *lawfulhost.Options) { o.NoFixtures, o.Seams, o.Entries = true, false, false },
		"dead letters, integers with a fraction of nought": func(o *lawfulhost.Options) { o.Floats = true },
		"dead letters, instants in lower case":             func(o *lawfulhost.Options) { o.Instants = lawfulhost.InstantsLower },
		"dead letters, instants elsewhere":                 func(o *lawfulhost.Options) { o.Instants = lawfulhost.InstantsEast },
		"dead letters, closed connections":                 func(o *lawfulhost.Options) { o.Closes, o.Gzip = true, true },
		"dead letters, puts every request off":             func(o *lawfulhost.Options) { o.PutsOff = 7 },
		"timestamps to the second":                         func(o *lawfulhost.Options) { o.Seconds = true },
		"sequences with gaps":                              func(o *lawfulhost.Options) { o.Gaps = true },
		"sequences with gaps, no poll":                     func(o *lawfulhost.Options) { o.Gaps, o.NoPoll = true, true },
		"short pages of the poll":                          func(o *lawfulhost.Options) { o.PollPage = 2 },
		"short pages of the poll, letter after": func(o *lawfulhost.Options) {
			o.PollPage, o.LetterAfter, o.MoreEvents, o.Majors = 1, true, true, []int{2}
		},
		"a clock that ticks":        func(o *lawfulhost.Options) { o.ClockTick = time.Second },
		"runs and forks begin late": func(o *lawfulhost.Options) { o.Start = 700 * time.Millisecond },
		"small pages of the sink":   func(o *lawfulhost.Options) { o.EntriesPage = 2 },
	}
}
