package scenarios

import (
	"context"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// TestScenarios runs every leg as Ginkgo specs against the host that the environment names, so that the legs can be run
// with Ginkgo's own tools as well: OPENWOP_BASE_URL=… OPENWOP_API_KEY=… OPENWOP_TEST_TENANT_B_API_KEY=… ginkgo -p ./scenarios
// It takes the same variables as the command line.
func TestScenarios(t *testing.T) {
	config := Config{
		BaseURL: os.Getenv("OPENWOP_BASE_URL"),
		KeyA:    os.Getenv("OPENWOP_API_KEY"),
		KeyB:    os.Getenv("OPENWOP_TEST_TENANT_B_API_KEY"),
		KeyLow:  os.Getenv("OPENWOP_TEST_LOW_SCOPE_KEY"),
		Volume:  1200,
	}
	if config.BaseURL == "" {
		t.Skip("no host to run against: set OPENWOP_BASE_URL and its keys, or use `make certify`")
	}
	ctx := context.Background()
	host, problem, err := Probe(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if problem != nil {
		t.Fatal(problem.Says)
	}
	if config.Cases, err = registry.Select(nil, nil, host.Majors); err != nil {
		t.Fatal(err)
	}
	r, err := newRun(ctx, config, host)
	if err != nil {
		t.Fatal(err)
	}
	r.build()
	ginkgo.RunSpecs(t, "wopwitness")
}
