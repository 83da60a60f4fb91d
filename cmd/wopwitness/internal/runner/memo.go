package runner

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// memo keeps the verdicts that a run reached, by leg and observation, so that the live lines and the ledger at the end
// need not judge megabytes again. Judges are pure, so a verdict that is remembered is the one that would be reached.
type memo struct {
	mu    sync.Mutex
	known map[memoKey]witness.Verdict
}

type memoKey struct {
	leg         registry.LegID
	observation [sha256.Size]byte
}

func keyOf(leg registry.LegID, observation json.RawMessage) memoKey {
	return memoKey{leg, sha256.Sum256(observation)}
}

// remember takes the verdict of an entry that has one.
func (m *memo) remember(e scenarios.Entry) {
	if e.Verdict == nil || e.Record.Stop != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[memoKey]witness.Verdict{}
	}
	m.known[keyOf(e.Record.Leg, e.Record.Observation)] = *e.Verdict
}

// over is the table with what is remembered in front of each judge.
func (m *memo) over(table ledger.Table) ledger.Table {
	front := ledger.Table{}
	for leg, judge := range table {
		front[leg] = func(observation json.RawMessage) (witness.Verdict, error) {
			m.mu.Lock()
			v, ok := m.known[keyOf(leg, observation)]
			m.mu.Unlock()
			if ok {
				return v, nil
			}
			return judge(observation)
		}
	}
	return front
}
