package mockhost_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// The burst: what the host can take in a second is what its lanes for one tool let through, and it is offered ten times that.
const (
	burstDelay  = 100 * time.Millisecond // of each call
	burstLanes  = 8                      // calls of one tool at once
	burstTimes  = 10
	burstIntake = 16
	burstHands  = 32
)

// burstTime is how long the burst lasts: a second, or as the environment says.
func burstTime(t *testing.T) time.Duration {
	t.Helper()
	asked := os.Getenv("WOPWITNESS_TEST_BURST")
	if asked == "" {
		return time.Second
	}
	d, err := time.ParseDuration(asked)
	if err != nil {
		t.Fatalf("WOPWITNESS_TEST_BURST: %v", err)
	}
	return d
}

// TestOfABurstNothingIsLost offers ten times what the host can take. Every message is accepted or refused, and every one that
// was accepted ends in one place.
func TestOfABurstNothingIsLost(t *testing.T) {
	a := playAgents(t, mockhost.Config{Agent: mockhost.AgentNumbers{IntakeCapacity: burstIntake, QueueCapacity: 100_000}})
	script := strings.Repeat(fmt.Sprintf(`{"outcome":"ok","delayMs":%d},`, burstDelay.Milliseconds()), 6)
	a.ask("PUT", "/tools/slow", `{"script":[`+strings.Repeat(script+`{"outcome":"bad_request"},`, 100)+`{"outcome":"bad_request"}],"sideEffect":true}`, http.StatusOK)

	during := burstTime(t)
	offered := int(float64(burstTimes*burstLanes) * float64(during) / float64(burstDelay))
	pace := during / time.Duration(offered)
	turns := make(chan int)
	go func() {
		defer close(turns)
		begun := time.Now()
		for i := range offered {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * pace)))
			turns <- i
		}
	}()
	var mu sync.Mutex
	var accepted []string
	answers := map[int]int{}
	var wg sync.WaitGroup
	for range burstHands {
		wg.Go(func() {
			for i := range turns {
				body := `{"task":"book"}`
				if i%50 == 0 {
					body = "{not"
				}
				id := fmt.Sprint("m", i)
				got := a.do("POST", "/v1/host/sample/agent-dlq/messages", a.KeyA, fmt.Sprintf(
					`{"messageId":%q,"body":%q,"retryBudget":0,"workflow":{"steps":[{"tool":"slow","args":{}}]}}`, id, body), "Content-Type: application/json")
				mu.Lock()
				answers[got.status]++
				if got.status == http.StatusAccepted {
					accepted = append(accepted, id)
				} else if got.header.Get("Retry-After") == "" {
					t.Errorf("%d without Retry-After: %s", got.status, got.body)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	refused := answers[http.StatusTooManyRequests] + answers[http.StatusServiceUnavailable]
	if len(accepted)+refused != offered || len(accepted) < burstIntake || refused < offered/2 {
		t.Errorf("of %d offered, %d were accepted and %d refused: %v", offered, len(accepted), refused, answers)
	}
	ends := map[string]int{}
	for _, id := range accepted {
		a.until(func() bool { s := a.status(id); return s != "queued" && s != "running" }, "the end of "+id)
		ends[a.status(id)]++
	}
	_, effects := a.calls("slow")
	tool := a.ask("GET", "/queues/tool", "", http.StatusOK)["depth"]
	message := a.ask("GET", "/queues/message", "", http.StatusOK)["depth"]
	if tool != float64(ends["tool_failed"]) || message != float64(ends["message_dead_lettered"]) || effects != float64(ends["completed"]) ||
		ends["completed"]+ends["tool_failed"]+ends["message_dead_lettered"] != len(accepted) || ends["completed"] == 0 || ends["tool_failed"] == 0 {
		t.Errorf("of %d accepted: %v; tool queue %v, message queue %v, effects %v", len(accepted), ends, tool, message, effects)
	}
	t.Logf("offered %d in %s: %d accepted (%v), %d refused", offered, during, len(accepted), ends, refused)
}
