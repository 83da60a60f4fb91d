package client

import (
	"net/http"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestASessionKeepsNoMoreThanItsShare(t *testing.T) {
	c := &Client{perLeg: 1 << 20}
	c.budget.left = 2<<20 + 100
	for i, want := range []int{1 << 20, 1 << 20, lastBudget, lastBudget} {
		s := &Session{client: c}
		s.budget.left = min(c.perLeg, max(c.budget.room(), lastBudget))
		got := 0
		for {
			n := s.Grant(1000)
			got += n
			if n < 1000 {
				break
			}
		}
		if got != want || s.Room() != 0 {
			t.Errorf("session %d was granted %d bytes, want %d; %d are left", i+1, got, want, s.Room())
		}
	}
}

func TestSwitchingProtocolsIsAFailureAndNoWait(t *testing.T) {
	_, s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"))
		_, _ = conn.Read(make([]byte, 1)) // until the client closes
		_ = conn.Close()
	})
	ex := s.Do(t.Context(), Call{Path: "/"})
	if ex.Status() != 101 || ex.Failure == nil || ex.Failure.Kind != observe.FailMalformed {
		t.Errorf("status %d, %+v", ex.Status(), ex.Failure)
	}
}
