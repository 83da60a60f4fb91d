// Package judges gathers the judges of every family into one table, for the run that judges live and for the command
// that judges a recorded file again. It holds no judge of its own.
package judges

import (
	"maps"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/hostevents"
)

// Table is the judge of every registered leg.
func Table() map[registry.LegID]witness.Judge {
	table := map[registry.LegID]witness.Judge{}
	maps.Copy(table, hostevents.Judges())
	maps.Copy(table, deadletter.Judges())
	maps.Copy(table, agentdlq.Judges())
	return table
}
