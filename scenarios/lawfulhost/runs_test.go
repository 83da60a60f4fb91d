package lawfulhost

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
)

const exhaustFixture = "conformance-deadletter-exhaust"

// onMajor gives a major-2 path as the major has it.
func onMajor(major int, path string) string {
	switch {
	case major == 2:
		return path
	case strings.HasPrefix(path, "/conformance/seams/sample"):
		return "/v1/host" + strings.TrimPrefix(path, "/conformance/seams")
	}
	return "/v1" + path
}

// make creates a run of a fixture and gives its path.
func (c caller) make(major int, fixture string) (path string, created got) {
	c.t.Helper()
	created = c.do("POST", onMajor(major, "/runs"), KeyA, `{"workflowId":"`+fixture+`"}`)
	var body struct{ RunID string }
	if err := json.Unmarshal([]byte(created.body), &body); err != nil || body.RunID == "" {
		c.t.Fatalf("creating a run of %s: %d %s", fixture, created.status, created.body)
	}
	segment := strings.NewReplacer("/", "~2F").Replace(body.RunID)
	if major == 1 {
		segment = strings.ReplaceAll(url.PathEscape(body.RunID), ":", "%3A")
	}
	return onMajor(major, "/runs/") + segment, created
}

// transcript is everything that the host shows of one dead run on a major.
func (c caller) transcript(major int) string {
	c.t.Helper()
	path, created := c.make(major, exhaustFixture)
	all := created.body
	for _, tail := range []string{"", "/events/poll", "/events"} {
		all += "\n" + c.do("GET", path+tail, KeyA, "").body
	}
	all += "\n" + c.do("POST", path+":fork", KeyA, `{"mode":"replay"}`).body
	all += "\n" + c.do("GET", onMajor(major, "/conformance/seams/sample/deadletter/entries?limit=10"), KeyA, "").body
	return all + "\n" + c.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version", map[int]string{1: "1.0", 2: "2.0"}[major]).body
}

func deadOptions(set func(*Options)) Options {
	var o Options
	o.Sink, o.Seams, o.Entries, o.NoHostEvents = true, true, true, true
	if set != nil {
		set(&o)
	}
	return o
}

// Each option shows itself: something is there that a host without it doesn't show, or the other way round. An option
// that changed nothing would make its acquittal worthless.
func TestEachLawfulDifferenceOfADeadRunShows(t *testing.T) {
	for name, c := range map[string]struct {
		set         func(*Options)
		major       int
		shows, less string
	}{
		"retried":        {func(o *Options) { o.Retried = true }, 2, `"type":"node.retried"`, ""},
		"starts once":    {func(o *Options) { o.StartedOnce = true }, 2, "id: 3\nevent: node.failed", "id: 3\nevent: node.started"},
		"fails once":     {func(o *Options) { o.FailedOnce = true }, 2, "id: 2\nevent: node.started", "id: 2\nevent: node.failed"},
		"letter after":   {func(o *Options) { o.LetterAfter = true }, 2, "", "event: run.dead-lettered"},
		"attempt named":  {func(o *Options) { o.NamesAttempt = true }, 2, `"attempt":3`, ""},
		"own attempts":   {func(o *Options) { o.Attempts = 5 }, 2, `"attempts":5`, `"attempts":3`},
		"run letter":     {func(o *Options) { o.RunLetter = true }, 2, `a step of it is dead`, ""},
		"no node":        {func(o *Options) { o.OnlyRunLetter = true }, 2, "", `"nodeId":"poison","reason"`},
		"camel":          {func(o *Options) { o.CamelNames = true }, 1, `"run.deadLettered"`, `"run.dead_lettered"`},
		"more events":    {func(o *Options) { o.MoreEvents = true }, 2, `audit.record-sealed`, ""},
		"own errors":     {func(o *Options) { o.OwnErrors = true }, 2, `E-4711`, `"node_failed"`},
		"more members":   {func(o *Options) { o.MoreMembers = true }, 1, `"x-trace"`, ""},
		"nulls":          {func(o *Options) { o.Nulls = true }, 1, `"payload":null`, `"payload":{`},
		"seq":            {func(o *Options) { o.Seq = true }, 1, `"seq":2,"sequence":2`, ""},
		"seq alone":      {func(o *Options) { o.OnlySeq = true }, 1, `"seq":2`, `"sequence"`},
		"no schema":      {func(o *Options) { o.NoSchema = true }, 1, "", `"schemaVersion":`},
		"numbers as ids": {func(o *Options) { o.NumberIDs = true }, 1, `"eventId":"1"`, `"eventId":"re.`},
		"odd ids":        {func(o *Options) { o.OddIDs = true }, 1, `"runId":"Läufe/`, `"runId":"r-`},
		"no address":     {func(o *Options) { o.NoEventsURL = true }, 1, "", `"eventsUrl"`},
		"no source":      {func(o *Options) { o.NoSourceID = true }, 1, "", `"sourceRunId"`},
		"bare list":      {func(o *Options) { o.BareList = true }, 1, "", `"isComplete"`},
		"status named":   {func(o *Options) { o.SaysStatus = "running" }, 2, `"status":"running"`, ""},
		"no error":       {func(o *Options) { o.NoError = true }, 2, "", `"error":{"code":"node_failed","message":"the node failed as it was told to"},"owner"`},
		"no days":        {func(o *Options) { o.NoDays = true }, 2, "", `"expiresAt"`},
		"root seat":      {func(o *Options) { o.Seats = []string{SeatRoot} }, 1, `"deadLetter":{"retentionDays":7,"supported":true},"fixtures"`, ""},
		"experimental":   {func(o *Options) { o.Experimental = true }, 2, `"until":"2.4"`, ""},
		"own facet":      {func(o *Options) { o.OwnFacet = true }, 2, `"sinkName"`, ""},
		"lists runs":     {func(o *Options) { o.ListsRuns = true }, 2, `"runList"`, ""},
		"replay only":    {func(o *Options) { o.ReplayOnly = true }, 2, `"modes":["replay"]`, `"branch"`},
		"other sinks":    {func(o *Options) { o.OtherSinks = true }, 1, `"deadLetterSupported":true`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			with, without := start(t, deadOptions(c.set)).transcript(c.major), start(t, deadOptions(nil)).transcript(c.major)
			if c.shows != "" && (!strings.Contains(with, c.shows) || strings.Contains(without, c.shows)) {
				t.Errorf("%s is to be shown with the option and not without it; with:\n%s", c.shows, with)
			}
			if c.less != "" && (strings.Contains(with, c.less) || !strings.Contains(without, c.less)) {
				t.Errorf("%s is to be shown without the option and not with it; with:\n%s\nwithout:\n%s", c.less, with, without)
			}
		})
	}
}

// The engine does what docs/fixtures.md says of each workflow.
func TestEachFixtureEndsAsItIsCatalogued(t *testing.T) {
	for fixture, want := range map[string]struct {
		status, letter string
		fails          int
	}{
		noopWorkflow:                        {"completed", "", 0},
		exhaustFixture:                      {"failed", `"attempts":3,"nodeId":"poison"`, 3},
		"conformance-deadletter-recovers":   {"completed", "", 2},
		"conformance-deadletter-downstream": {"failed", `"attempts":3,"nodeId":"poison"`, 3},
		"conformance-deadletter-secret":     {"failed", `"attempts":3,"nodeId":"poison"`, 3},
		"conformance-deadletter-fixable":    {"failed", `"attempts":3,"nodeId":"poison"`, 3},
	} {
		t.Run(fixture, func(t *testing.T) {
			c := start(t, deadOptions(nil))
			path, _ := c.make(2, fixture)
			if got := c.do("GET", path, KeyA, "").body; !strings.Contains(got, `"status":"`+want.status+`"`) {
				t.Errorf("snapshot %s, want the status %s", got, want.status)
			}
			log := c.do("GET", path+"/events/poll", KeyA, "").body
			if n := strings.Count(log, `"node.failed"`); n != want.fails {
				t.Errorf("%d failures, want %d: %s", n, want.fails, log)
			}
			if dead := strings.Contains(log, "run.dead-lettered"); dead != (want.letter != "") || !strings.Contains(log, want.letter) {
				t.Errorf("dead letter: %v, want %q: %s", dead, want.letter, log)
			}
			if strings.Contains(log, `"after"`) {
				t.Errorf("the node behind the dead one was started: %s", log)
			}
		})
	}
}

func TestABranchThatMendsTheCauseCompletes(t *testing.T) {
	c := start(t, deadOptions(nil))
	path, _ := c.make(2, "conformance-deadletter-fixable")
	for overlay, want := range map[string]string{
		`{"version":1,"extensions":{"example":{"conformanceFixed":true}}}`:  "completed",
		`{"version":1,"extensions":{"example":{"conformanceFixed":false}}}`: "failed",
	} {
		got := c.do("POST", path+":fork", KeyA, `{"mode":"branch","fromSeq":1,"runOptionsOverlay":{"configurable":`+overlay+`}}`)
		if got.status != 201 || !strings.Contains(got.body, `"status":"`+want+`"`) {
			t.Errorf("%s: %d %s, want a child that %s", overlay, got.status, got.body, want)
		}
	}
	for body, want := range map[string]int{
		`{"mode":"branch","fromSeq":999}`: 422, `{"mode":"branch"}`: 400, `{"mode":"sideways"}`: 400,
		`{"mode":"replay","runOptionsOverlay":{"configurable":{"a":1}}}`: 400,
	} {
		if got := c.do("POST", path+":fork", KeyA, body); got.status != want {
			t.Errorf("%s: %d %s, want %d", body, got.status, got.body, want)
		}
	}
}

// What is purged is gone from every door, at its time and not before, and in the way that the options say.
func TestADeadRunIsPurgedAtItsTime(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		set           func(*Options)
		fixture       string
		after         time.Duration
		door, forking int
	}{
		"before its days are over":     {nil, exhaustFixture, 7*day - time.Minute, 200, 201},
		"after them":                   {nil, exhaustFixture, 7*day + time.Minute, 404, 404},
		"as 410":                       {func(o *Options) { o.Purged, o.PurgedFork = 410, 422 }, exhaustFixture, 7*day + time.Minute, 410, 422},
		"no days":                      {func(o *Options) { o.NoDays = true }, exhaustFixture, 700 * day, 200, 201},
		"a run that is well":           {nil, noopWorkflow, 700 * day, 200, 201},
		"a run that is well, alike":    {func(o *Options) { o.PurgesAll = true }, noopWorkflow, 7*day + time.Minute, 404, 404},
		"by a daily sweep":             {func(o *Options) { o.DailySweep = true }, exhaustFixture, 8*day + time.Minute, 404, 404},
		"not before the daily sweep":   {func(o *Options) { o.DailySweep = true }, exhaustFixture, 7*day - time.Minute, 200, 201},
		"by the clock that was moved":  {func(o *Options) { o.StillClock = true }, exhaustFixture, 7 * day, 404, 404},
		"the real clock does not move": {func(o *Options) { o.RealClock = true }, exhaustFixture, 8 * day, 200, 201},
	} {
		t.Run(name, func(t *testing.T) {
			host := start(t, deadOptions(c.set))
			path, _ := host.make(2, c.fixture)
			host.do("POST", "/conformance/seams/sample/clock/advance", KeyA, `{"seconds":`+jsonOf(int64(c.after/time.Second))+`}`)
			for _, tail := range []string{"", "/events/poll", "/events"} {
				if got := host.do("GET", path+tail, KeyA, ""); got.status != c.door {
					t.Errorf("GET %s: %d, want %d", tail, got.status, c.door)
				}
			}
			if got := host.do("POST", path+":fork", KeyA, `{"mode":"replay"}`); got.status != c.forking {
				t.Errorf("fork: %d, want %d", got.status, c.forking)
			}
		})
	}
}

func TestAnotherTenantsRunStaysItsOwners(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*Options)
		major int
		want  int
	}{
		"told":    {nil, 2, 403},
		"hidden":  {func(o *Options) { o.HidesForeign = true }, 2, 404},
		"major 1": {nil, 1, 404},
	} {
		t.Run(name, func(t *testing.T) {
			host := start(t, deadOptions(c.set))
			path, _ := host.make(c.major, exhaustFixture)
			if got := host.do("GET", path, KeyB, ""); got.status != c.want {
				t.Errorf("read: %d, want %d", got.status, c.want)
			}
			if got := host.do("POST", path+":fork", KeyB, `{"mode":"replay"}`); got.status != c.want {
				t.Errorf("fork: %d, want %d", got.status, c.want)
			}
			if got := host.do("GET", onMajor(c.major, "/conformance/seams/sample/deadletter/entries"), KeyB, ""); !strings.Contains(got.body, `"entries":[]`) {
				t.Errorf("the sink shows another tenant's run: %s", got.body)
			}
		})
	}
}

// Answers that differ in their status or their code alone.
func TestTheChoiceAmongAnswersAboutRuns(t *testing.T) {
	ask := func(method, path, body string) func(caller) got {
		return func(c caller) got { return c.do(method, path, KeyA, body) }
	}
	exhaust := `{"workflowId":"` + exhaustFixture + `"}`
	poll := func(query string) func(caller) got {
		return func(c caller) got {
			path, _ := c.make(1, exhaustFixture)
			return c.do("GET", path+"/events/poll"+query, KeyA, "")
		}
	}
	for name, c := range map[string]struct {
		set    func(*Options)
		ask    func(caller) got
		status int
		holds  string
	}{
		"created":                {nil, ask("POST", "/v1/runs", exhaust), 201, ""},
		"created as 200":         {func(o *Options) { o.Created = 200 }, ask("POST", "/v1/runs", exhaust), 200, ""},
		"unknown on major 1":     {nil, ask("POST", "/v1/runs", `{"workflowId":"x"}`), 400, "workflow_not_found"},
		"unknown on major 2":     {nil, ask("POST", "/runs", `{"workflowId":"x"}`), 404, "not_found"},
		"unknown as 422":         {func(o *Options) { o.UnknownFlow = 422 }, ask("POST", "/runs", `{"workflowId":"x"}`), 422, ""},
		"never was":              {nil, ask("GET", "/v1/runs/r-never", ""), 404, "run_not_found"},
		"never was, own code":    {func(o *Options) { o.NotFoundCode = "gone" }, ask("GET", "/v1/runs/r-never", ""), 404, `"gone"`},
		"never was, named":       {func(o *Options) { o.OtherMessage = true }, ask("GET", "/v1/runs/r-never", ""), 404, "r-never"},
		"no such verb":           {nil, ask("POST", "/v1/runs/r-never:mend", `{}`), 404, "no such route"},
		"no fork":                {func(o *Options) { o.NoFork = true }, ask("POST", "/v1/runs/r-never:fork", `{}`), 404, "no such route"},
		"poll":                   {nil, poll("?lastSequence=7"), 200, `"events":[{"eventId"`},
		"poll at its end":        {nil, poll("?lastSequence=8"), 200, `"events":[]`},
		"poll by another name":   {func(o *Options) { o.PollName = "since" }, poll("?since=8"), 200, `"events":[]`},
		"no poll":                {func(o *Options) { o.NoPoll = true }, poll(""), 404, "no such route"},
		"exhaust seam":           {func(o *Options) { o.Exhaust = true }, ask("POST", "/conformance/seams/sample/deadletter/exhaust", `{"scenario":"exhaust-retries"}`), 200, `"forkEligible":true`},
		"exhaust seam, unread":   {func(o *Options) { o.Exhaust, o.ExhaustUnread = true, true }, ask("POST", "/v1/host/sample/deadletter/exhaust", `{"scenario":"exhaust-retries"}`), 200, `"sample-run"`},
		"exhaust seam, nonsense": {func(o *Options) { o.Exhaust = true }, ask("POST", "/v1/host/sample/deadletter/exhaust", `{"scenario":"x"}`), 400, ""},
		"no exhaust seam":        {nil, ask("POST", "/v1/host/sample/deadletter/exhaust", `{"scenario":"exhaust-retries"}`), 404, ""},
		"no entries seam":        {func(o *Options) { o.Entries = false }, ask("GET", "/v1/host/sample/deadletter/entries", ""), 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.ask(start(t, deadOptions(c.set)))
			if got.status != c.status || !strings.Contains(got.body, c.holds) {
				t.Errorf("%d %s, want %d with %q", got.status, got.body, c.status, c.holds)
			}
		})
	}
}

func jsonOf(v any) string { return string(compact(v)) }
