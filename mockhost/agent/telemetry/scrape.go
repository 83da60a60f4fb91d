package telemetry

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Scrape answers a scrape of one tenant's metrics, in the form that the scraper prefers. Where they can't be read it answers
// nothing, and returns why: the words of that error are the operator's and not the scraper's.
func (t *Telemetry) Scrape(w http.ResponseWriter, r *http.Request, tenant string) error {
	families, err := tenantsOwn{t, tenant}.Gather()
	if err != nil {
		return fmt.Errorf("read the metrics of %s: %w", tenant, err)
	}
	read := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(read, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// tenantsOwn gathers what is said of one tenant, and what is said of none.
type tenantsOwn struct {
	of     *Telemetry
	tenant string
}

var _ prometheus.Gatherer = tenantsOwn{}

// Gather implements prometheus.Gatherer.
func (g tenantsOwn) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.of.registry.Gather()
	if err != nil {
		return nil, err
	}
	if unread := g.of.unread.Load(); unread != nil {
		return nil, *unread
	}
	var out []*dto.MetricFamily
	for _, f := range all {
		own := &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type, Unit: f.Unit}
		for _, m := range f.GetMetric() {
			if g.mine(m) {
				own.Metric = append(own.Metric, m)
			}
		}
		if len(own.Metric) > 0 {
			out = append(out, own)
		}
	}
	return out, nil
}

func (g tenantsOwn) mine(m *dto.Metric) bool {
	for _, l := range m.GetLabel() {
		if l.GetName() == tenantLabel {
			return l.GetValue() == g.tenant
		}
	}
	return true
}
