package cause

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// RunCall is the creation of one run.
type RunCall struct {
	Label        string
	Credential   string
	Workflow     string
	Inputs       map[string]any
	Configurable map[string]any
	Major        int
	MaxWait      time.Duration // how long, in all, a 429 may make the suite wait; 30 s where it is zero
}

// CreateRun sends POST to the collection of runs, and waits as a 429 tells. Every attempt is recorded.
func CreateRun(ctx context.Context, s *client.Session, r RunCall) []observe.Exchange {
	body := map[string]any{"workflowId": r.Workflow}
	if r.Inputs != nil {
		body["inputs"] = r.Inputs
	}
	if r.Configurable != nil {
		body["configurable"] = r.Configurable
	}
	return patiently(ctx, s, client.Call{
		Label: r.Label, Credential: r.Credential, Method: http.MethodPost, Path: client.RunsPath(r.Major),
		Header: idempotent(""), Body: encode(body), Major: r.Major,
	}, r.MaxWait)
}

// ReadRun reads a run's snapshot.
func ReadRun(ctx context.Context, s *client.Session, credential, runID string, major int) observe.Exchange {
	return ask(ctx, s, client.Call{Label: "run", Credential: credential, Path: client.RunPath(major, runID), Major: major})
}

// PollRun reads a page of a run's log. On major 2 it is the page after the sequence, the first one where it is below
// zero, and the host may hold the answer for a second. Major 1 hosts name that parameter in ways of their own, so there
// it is left out and the whole log is read.
func PollRun(ctx context.Context, s *client.Session, credential, runID string, after int64, major int) observe.Exchange {
	query := url.Values{}
	if major >= 2 {
		query.Set("timeout", "1")
		if after >= 0 {
			query.Set("afterSequence", strconv.FormatInt(after, 10))
		}
	}
	return ask(ctx, s, client.Call{
		Label: "poll", Credential: credential, Path: client.RunPath(major, runID) + "/events/poll", Query: query, Major: major,
	})
}

// RunStream is the call that opens the stream of a run's log, with every event of it.
func RunStream(credential, runID string, major int) client.Call {
	return client.Call{
		Label: "log", Credential: credential, Path: client.RunPath(major, runID) + "/events",
		Query: url.Values{"streamMode": {"debug"}}, Major: major, Patience: defaultMaxWait,
	}
}

// ForkCall is one fork. FromSeq is left out where it is nil, Overlay where it is nil.
type ForkCall struct {
	Label      string
	Credential string
	RunID      string
	Verb       string // "fork" where it is empty
	Mode       string
	FromSeq    *int64
	Overlay    map[string]any
	Major      int
}

// Fork sends POST to a run with the verb fork, and waits as a 429 tells. Every attempt is recorded.
func Fork(ctx context.Context, s *client.Session, f ForkCall) []observe.Exchange {
	body := map[string]any{"mode": f.Mode}
	if f.FromSeq != nil {
		body["fromSeq"] = *f.FromSeq
	}
	if f.Overlay != nil {
		body["runOptionsOverlay"] = f.Overlay
	}
	verb := f.Verb
	if verb == "" {
		verb = "fork"
	}
	return patiently(ctx, s, client.Call{
		Label: f.Label, Credential: f.Credential, Method: http.MethodPost, Path: client.RunPath(f.Major, f.RunID) + ":" + verb,
		Header: idempotent(""), Body: encode(body), Major: f.Major,
	}, 0)
}

// ListRuns reads the first page of the caller's runs.
func ListRuns(ctx context.Context, s *client.Session, label, credential string, major int) observe.Exchange {
	return ask(ctx, s, client.Call{Label: label, Credential: credential, Path: client.RunsPath(major), Major: major})
}

// Exhaust calls the seam deadletter/exhaust. The scenario is "exhaust-retries" or "fork-after-dead-letter".
func Exhaust(ctx context.Context, s *client.Session, scenario string, within time.Duration, major int) observe.Exchange {
	return last(patiently(ctx, s, client.Call{
		Label: "exhaust", Credential: observe.CredentialA, Method: http.MethodPost, Path: client.SeamPath(major, "deadletter/exhaust"),
		Header: idempotent(""), Body: encode(map[string]any{"scenario": scenario}), Major: major, Timeout: within,
	}, 0))
}

// Entries reads one page of the sink through the seam deadletter/entries. An empty cursor asks for the first.
func Entries(ctx context.Context, s *client.Session, credential, cursor string, major int) observe.Exchange {
	return EntriesPage(ctx, s, credential, cursor, 100, major)
}

// EntriesPage is Entries by pages of that many entries.
func EntriesPage(ctx context.Context, s *client.Session, credential, cursor string, limit, major int) observe.Exchange {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return ask(ctx, s, client.Call{
		Label: "entries", Credential: credential, Path: client.SeamPath(major, "deadletter/entries"), Query: query, Major: major,
	})
}

// ForceExpire uses the operator's own means of expiring a run: a URL with {runId} in it. The first tenant's key goes with
// it where the URL is the host's own, and nowhere else. The error is one of configuration.
func ForceExpire(ctx context.Context, s *client.Session, template, method, runID string, major int) (observe.Exchange, error) {
	if method == "" {
		method = http.MethodPost
	}
	segment := url.PathEscape(runID)
	if major >= 2 {
		segment = client.ProjectID(runID)
	}
	target := strings.ReplaceAll(template, "{runId}", segment)
	call := client.Call{Label: "force expiry", Method: method, Header: idempotent(""), Patience: defaultMaxWait}
	if path, own := strings.CutPrefix(target, s.Client().Base()); own && strings.HasPrefix(path, "/") {
		call.Credential = observe.CredentialA
		return withoutQuery(s.Do(ctx, atPath(call, path))), nil
	}
	scheme, rest, _ := strings.Cut(target, "://")
	authority, path, _ := strings.Cut(rest, "/")
	other, err := client.New(client.Config{BaseURL: scheme + "://" + authority})
	if err != nil {
		return observe.Exchange{}, err
	}
	defer other.Close()
	return withoutQuery(other.Begin().Do(ctx, atPath(call, "/"+path))), nil
}

// withoutQuery leaves the query of the operator's own URL out of the record: it may hold a secret that the suite does not
// know as one.
func withoutQuery(x observe.Exchange) observe.Exchange {
	x.Request.Target, _, _ = strings.Cut(x.Request.Target, "?")
	return x
}

// atPath sets a call's path and query from the tail of a URL.
func atPath(call client.Call, tail string) client.Call {
	path, query, _ := strings.Cut(tail, "?")
	call.Path = path
	call.Query, _ = url.ParseQuery(query)
	return call
}

// ask makes a reading call, patient with 429 answers.
func ask(ctx context.Context, s *client.Session, call client.Call) observe.Exchange {
	return last(patiently(ctx, s, call, 0))
}

func last(attempts []observe.Exchange) observe.Exchange { return attempts[len(attempts)-1] }
