package client

import "sync"

// What a run keeps of a host's answers is bounded, a leg and in all: a host that answers everything without end must not
// cost more memory and disk the longer it is listened to. An honest host comes nowhere near the bounds.
const (
	defaultLegBudget = 12 << 20
	defaultRunBudget = 36 << 20
	// Once the run's is spent a leg may still keep this much: enough for what an ordinary leg is answered.
	lastBudget = 256 << 10
)

// budget is a number of bytes that may still be kept. It is safe for concurrent use.
type budget struct {
	mu   sync.Mutex
	left int
}

func (b *budget) spend(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = max(b.left-n, 0)
}

func (b *budget) room() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// Grant says how many of n more bytes of the host's the session may keep, and counts them.
func (s *Session) Grant(n int) int {
	granted := min(n, s.budget.room())
	s.budget.spend(granted)
	s.client.budget.spend(granted)
	return granted
}

// Room is how many bytes Grant would still give.
func (s *Session) Room() int { return s.budget.room() }
