package scenarios

import "slices"

// agentDLQSpecs pairs the legs of the agent dead-letter extension with their scenarios.
func agentDLQSpecs() []spec {
	return slices.Concat(agentRouteSpecs(), agentEntrySpecs(), agentDrainSpecs(), agentInterceptSpecs(),
		agentShapeSpecs(), agentStoreSpecs(), agentClassifySpecs(), agentRecoverSpecs(), agentRepairSpecs(),
		agentImpactSpecs(), agentObserveSpecs(), agentOperateSpecs(), agentBurstSpecs())
}
