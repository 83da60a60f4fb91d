package scenarios

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Probe asks the host what it serves and whether it takes the operator's key, before any leg is chosen. A host that
// cannot be spoken to is one Problem, said once, instead of a failure a leg. The error is for a configuration that no
// host could meet.
func Probe(ctx context.Context, config Config) (HostFacts, *Problem, error) {
	c, err := config.client(config.BaseURL)
	if err != nil {
		return HostFacts{}, nil, err
	}
	s := c.Begin()
	facts := HostFacts{Discovery: map[int]client.Discovery{}, Loopback: isLoopback(config.BaseURL)}
	majors, v2, v1, problem := s.Majors(ctx)
	if problem != nil {
		return facts, &Problem{Reason: problemReason(problem.Kind), Says: problem.Text}, nil
	}
	facts.Majors = slices.Sorted(slices.Values(majors))
	for major, document := range map[int]client.Discovery{1: v1, 2: v2} {
		if slices.Contains(majors, major) {
			facts.Discovery[major] = document
		}
	}
	if len(facts.Majors) == 0 {
		return facts, nil, nil
	}
	first := askWithKey(ctx, s, facts, observe.CredentialA)
	if problem := refusedKey(first, config); problem != nil {
		return facts, problem, nil
	}
	// A host that keeps the first key waiting would keep the second one waiting as long.
	if first.Response != nil && config.KeyB != "" && config.KeyB != config.KeyA {
		if x := askWithKey(ctx, s, facts, observe.CredentialB); x.Status() == 401 {
			facts.KeyB = &Problem{Reason: registry.Unauthorized, Says: keyRefused(x, "")}
		}
	}
	return facts, nil, nil
}

// probePatience is how long 429 answers may put off a question about a key.
const probePatience = 5 * time.Second

// askWithKey asks for a protected resource with an operator's key. A host that says 401 to it says so to every leg.
func askWithKey(ctx context.Context, s *client.Session, facts HostFacts, credential string) observe.Exchange {
	major := facts.Majors[len(facts.Majors)-1]
	if _, ok := facts.Discovery[major].HostEvents(); ok && major >= 2 {
		st := sse.Open(ctx, s, client.Call{Label: "is the key taken", Credential: credential, Method: "GET",
			Path: client.HostEventsPath(major), Major: major, Patience: probePatience})
		st.Close()
		return st.Record().Exchange
	}
	return s.Do(ctx, client.Call{Label: "is the key taken", Credential: credential, Method: "GET",
		Path: client.RunPath(major, "wopwitness-probe-of-the-key"), Major: major, Patience: probePatience})
}

func refusedKey(x observe.Exchange, config Config) *Problem {
	switch {
	case x.Status() == 401 && config.KeyA == "":
		return &Problem{Reason: registry.Unauthorized, Says: "the host wants a key and none was given: use --key or OPENWOP_API_KEY"}
	case x.Status() == 401:
		return &Problem{Reason: registry.Unauthorized, Says: keyRefused(x, "")}
	case x.Response == nil && x.Failure != nil && x.Failure.Kind != observe.FailTimeout:
		return &Problem{Reason: failureReason(x.Failure.Kind), Says: x.Failure.Text}
	}
	return nil
}

// keyRefused says what a 401 or a 403 to an operator's key means: the host doesn't know the one, and knows the other
// without the scope that the request takes.
func keyRefused(x observe.Exchange, scope string) string {
	flag := "--key"
	switch x.Credential {
	case observe.CredentialB:
		flag = "--key-b"
	case observe.CredentialLow:
		flag = "--key-low"
	case observe.CredentialWorkspace:
		flag = "--key-ws"
	}
	if x.Status() == 401 {
		return fmt.Sprintf("the host refused %s: %s %s answered 401; check the key and that it belongs to this host", flag, x.Request.Method, x.Request.Target)
	}
	return fmt.Sprintf("%s %s answered %d to %s; that key needs the scope %s", x.Request.Method, x.Request.Target, x.Status(), flag, scope)
}

func problemReason(k client.ProblemKind) registry.Reason {
	switch k {
	case client.ProblemUnreachable:
		return registry.Unreachable
	case client.ProblemNoMajor:
		return registry.NotAdvertised
	}
	return registry.Unreadable
}
