package mockhost_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestATransientFailureIsReplayedWhenItIsDue(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", `,"sideEffect":true`, "server_error", "server_error", "ok")
	if got := a.ended("m", call("pay", `{}`)); got != "tool_failed" {
		t.Fatalf("it ended %s", got)
	}
	e := a.classified("pay")
	a.advance(45 * time.Second)
	if n, _ := a.calls("pay"); n != 1 {
		t.Errorf("called %d times before it was due at %s", n, e["nextReplayAt"])
	}
	a.advance(45 * time.Second) // a minute, a fifth of it, and the interval
	if n, _ := a.calls("pay"); n != 2 {
		t.Errorf("called %d times once it was due", n)
	}
	a.advance(24 * time.Hour)
	if n, effects := a.calls("pay"); n != 3 || effects != 1.0 || a.status("m") != "completed" {
		t.Errorf("a day later: %d calls, %v effects, message %s", n, effects, a.status("m"))
	}
	if got, want := a.trail(e["entryId"]), []string{"worker enqueued", "classifier classified", "recovery replay", "recovery replay"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the trail is %v, want %v", got, want)
	}
}

func TestRecoveryGivesUpAfterSoManyReplays(t *testing.T) {
	a := playAgents(t, mockhost.Config{Agent: mockhost.AgentNumbers{AutomaticReplays: 2}})
	a.tool("down", "", "server_error")
	a.ended("m", call("down", `{}`))
	e := a.classified("down")
	a.advance(30 * 24 * time.Hour / 3)
	if n, _ := a.calls("down"); n != 3 {
		t.Errorf("called %d times, want once and two replays", n)
	}
	if a.waiting("human")["down"] == nil || a.entry(e["entryId"])["nextReplayAt"] != nil {
		t.Errorf("nobody is asked about %v", a.entry(e["entryId"]))
	}
}

// TestOnlyRecoverysReplaysAreCountedAgainstItsLimit has a drain and a person fail as often as recovery may, before it begins.
func TestOnlyRecoverysReplaysAreCountedAgainstItsLimit(t *testing.T) {
	a := playAgents(t, mockhost.Config{Agent: mockhost.AgentNumbers{AutomaticReplays: 2}})
	a.tool("down", "", "server_error")
	a.ended("m", call("down", `{}`))
	id := fmt.Sprint(a.classified("down")["entryId"])
	for i := range 2 {
		drain := a.ask("POST", "/drains", `{"tool":"down","batch":1,"perSecond":1}`, http.StatusAccepted)["drainId"]
		a.advance(time.Second)
		a.until(func() bool { return a.drain(drain)["state"] == "done" }, "the drain")
		a.ask("POST", "/queues/tool/"+id+"/replay", `{"by":"ana"}`, http.StatusAccepted)
		a.until(func() bool {
			e := a.entry(id)
			return e["attempts"] == float64(3+2*i) && e["nextReplayAt"] != nil
		}, "the replay that a person asked for")
	}
	if e := a.entry(id); e["attempts"] != 5.0 || e["nextReplayAt"] == nil || len(a.waiting("human")) != 0 {
		t.Errorf("after four replays that weren't recovery's, the entry is %v", e)
	}
	a.advance(10 * 24 * time.Hour)
	if n, _ := a.calls("down"); n != 7 || a.waiting("human")["down"] == nil {
		t.Errorf("called %d times, want seven: once, four times, and recovery's two; waiting: %v", n, a.waiting("human"))
	}
}

// TestAMalformedMessageThatIsReplayedMakesAnotherEntry holds what the page says of it.
func TestAMalformedMessageThatIsReplayedMakesAnotherEntry(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.ask("POST", "/messages", `{"messageId":"m","body":"{not json","workflow":{"steps":[{"tool":"t","args":{}}]}}`, http.StatusAccepted)
	queue := func(resolution string) []any {
		return a.ask("GET", "/queues/message?resolution="+resolution, "", http.StatusOK)["entries"].([]any)
	}
	a.until(func() bool { return len(queue("unresolved")) == 1 }, "the entry")
	first := queue("unresolved")[0].(jsonObject)["entryId"]
	answer := a.ask("POST", fmt.Sprint("/queues/message/", first, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	if answer["resolution"] != "replayed" {
		t.Errorf("the replay answers %v", answer)
	}
	a.until(func() bool { return len(queue("unresolved")) == 1 }, "another entry")
	again := queue("unresolved")[0].(jsonObject)
	if again["entryId"] == first || again["reason"] != "malformed" || len(queue("replayed")) != 1 || a.status("m") != "message_dead_lettered" {
		t.Errorf("the message is %s, with %v after %v", a.status("m"), again, first)
	}
}

func TestAnEntryIsReplayedAfterTheProcessIsReplaced(t *testing.T) {
	file := "sqlite:" + filepath.Join(t.TempDir(), "kept.db")
	first, err := mockhost.New(t.Context(), mockhost.Config{Store: file, Seams: true, Clock: "manual", KeyA: "the key of tenant a"})
	if err != nil {
		t.Fatal(err)
	}
	a := agents{serve(t, first)}
	a.tool("pay", "", "server_error", "ok")
	a.tool("book", "", "server_error")
	a.ended("m", call("pay", `{}`))
	a.ended("n", call("book", `{}`))
	a.classified("pay")
	drain := a.ask("POST", "/drains", `{"tool":"book","batch":1,"perSecond":1}`, http.StatusAccepted)["drainId"]
	a.ask("POST", "/pause", `{"tool":"book"}`, http.StatusOK)
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := playAgents(t, mockhost.Config{Store: file, KeyA: "the key of tenant a"})
	b.advance(2 * time.Minute)
	if got := b.status("m"); got != "completed" {
		t.Errorf("the message is %s", got)
	}
	b.ask("POST", "/resume", `{}`, http.StatusOK)
	b.advance(time.Minute)
	if d := b.ask("GET", fmt.Sprint("/drains/", drain), "", http.StatusOK); d["state"] != "done" || d["remaining"] != 0.0 {
		t.Errorf("the drain is %v", d)
	}
}

func TestAReplayIntoAnOpenCircuitIsPutOff(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "server_error", "unauthorized", "ok")
	a.ended("m", call("pay", `{}`))
	transient := a.classified("pay")["entryId"]
	a.advance(100 * time.Second) // the replay of m finds the credential refused, and opens the circuit
	if got := a.entry(transient)["category"]; got != "AUTHORIZATION_FAILURE" {
		t.Fatalf("it is %v", got)
	}
	if a.waiting("security")["pay"] == nil {
		t.Error("nobody is asked about the credential")
	}
	a.advance(24 * time.Hour)
	if n, _ := a.calls("pay"); n != 2 {
		t.Errorf("it was called %d times", n)
	}
	a.ask("POST", fmt.Sprint("/queues/tool/", transient, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	if got := a.status("m"); got != "completed" {
		t.Errorf("a person replayed it, and it is %s", got)
	}
}

func TestWhatIsAMatterOfSecurityStaysOne(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "unauthorized", "server_error")
	a.ended("m", call("pay", `{}`))
	e := a.classified("pay")["entryId"]
	a.advance(2 * time.Minute)
	a.ask("POST", fmt.Sprint("/queues/tool/", e, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	a.advance(24 * time.Hour)
	if n, _ := a.calls("pay"); n != 2 || a.waiting("security")["pay"] == nil || a.waiting("human")["pay"] != nil {
		t.Errorf("%d calls; in security review: %v", n, a.waiting("security"))
	}
}

func TestASemanticFailureIsRepairedOnce(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("book", "", "semantic")
	a.ended("m", call("book", `{"start":"2026-05-09","end":"2026-05-02"}`))
	a.until(func() bool { return a.waiting("human")["book"] != nil }, "the review")
	e := a.waiting("human")["book"]
	if n, _ := a.calls("book"); n != 2 {
		t.Errorf("called %d times, want once and with the repair", n)
	}
	proposal, _ := e["proposal"].(jsonObject)
	if proposal["confidence"] != 0.9 || !reflect.DeepEqual(proposal["payload"], jsonObject{"start": "2026-05-02", "end": "2026-05-09"}) {
		t.Errorf("it was proposed %v", proposal)
	}
	if got, want := a.trail(e["entryId"]), []string{"worker enqueued", "classifier classified", "repairer repair", "repairer review"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the trail is %v, want %v", got, want)
	}
}

// TestARepairGoesOnAfterAPassingFailure has a repaired call meet a tool that is down for once: what is replayed then is the
// repair, and not the arguments that the tool refused.
func TestARepairGoesOnAfterAPassingFailure(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("book", `,"sideEffect":true`, "semantic", "server_error", "ok")
	a.ended("m", call("book", `{"start":9,"end":2}`))
	a.until(func() bool { n, _ := a.calls("book"); return n == 2 }, "the repair")
	a.classified("book")
	a.advance(10 * time.Minute)
	if got := a.status("m"); got != "completed" {
		t.Fatalf("it is %s", got)
	}
	if got := a.records("m")["book"]["payload"]; !reflect.DeepEqual(got, jsonObject{"start": 2.0, "end": 9.0}) {
		t.Errorf("done with %v", got)
	}
}

func TestARepairWaitsWhileItsToolIsPaused(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("book", "", "semantic", "ok")
	a.ask("POST", "/pause", `{}`, http.StatusOK)
	a.ended("m", call("book", `{"start":9,"end":2}`))
	a.classified("book")
	a.advance(time.Hour)
	if n, _ := a.calls("book"); n != 1 {
		t.Errorf("called %d times while it was paused", n)
	}
	a.ask("POST", "/resume", `{}`, http.StatusOK)
	a.advance(time.Second)
	if got := a.status("m"); got != "completed" {
		t.Errorf("resumed, it is %s", got)
	}
}

// TestAConversationGoesWithItsLastEntry has a run that fails at one step, is replayed, and fails at the next: two entries
// that point to one conversation.
func TestAConversationGoesWithItsLastEntry(t *testing.T) {
	a := playAgents(t, mockhost.Config{Agent: mockhost.AgentNumbers{EntryTTL: 48 * time.Hour}})
	a.tool("first", "", "bad_request", "ok")
	a.tool("second", "", "bad_request", "ok")
	a.ended("m", call("first", `{}`), call("second", `{}`))
	a.advance(24 * time.Hour)
	first := a.classified("first")["entryId"]
	a.ask("POST", fmt.Sprint("/queues/tool/", first, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	second := a.classified("second")["entryId"]
	a.advance(25 * time.Hour)
	a.ask("GET", fmt.Sprint("/queues/tool/", first), "", http.StatusNotFound)
	a.ask("POST", fmt.Sprint("/queues/tool/", second, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	if got := a.status("m"); got != "completed" {
		t.Errorf("it is %s", got)
	}
	ref := fmt.Sprint(a.entry(second)["conversationRef"])
	a.advance(24 * time.Hour)
	a.ask("GET", fmt.Sprint("/queues/tool/", second), "", http.StatusNotFound)
	a.ask("POST", "/conversations/"+ref+"/expire", `{}`, http.StatusNotFound)
}
