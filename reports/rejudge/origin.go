package rejudge

import (
	"strings"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/observations"
)

// theRun stands for a row's id where the runs themselves part.
const theRun = "the run"

// Origin says where a file of observations and a bundle name different hosts or suites. A bundle whose run read no
// discovery document names no address.
func Origin(run observations.Run, b bundle.Bundle) []Difference {
	differences := []Difference{}
	if run.Suite != b.Suite.Version {
		differences = append(differences, Difference{ID: theRun, Member: "suite.version", Was: b.Suite.Version, Is: run.Suite})
	}
	if b.Discovery != nil && !strings.HasPrefix(b.Discovery.URL, strings.TrimSuffix(run.BaseURL, "/")+"/") {
		differences = append(differences, Difference{ID: theRun, Member: "address", Was: address(b.Discovery.URL), Is: address(run.BaseURL)})
	}
	return differences
}

// address is a base URL without what a host publishes below it, so that the two sides are written in one form.
func address(url string) string {
	base, _, _ := strings.Cut(url, "/.well-known/")
	return strings.TrimSuffix(base, "/")
}

// AnotherRun says whether observations and a bundle are of two runs, from all that Origin and Compare found: they name
// different hosts or suites, or of several rows that both have observed most were not observed alike. What is no host's, as the
// vectors, and what a host says of itself is the same in every run.
func AnotherRun(b bundle.Bundle, differences []Difference) bool {
	observed, parted := 0, 0
	for _, r := range b.Results.Requirements {
		if r.Observation != "" {
			observed++
		}
	}
	for _, d := range differences {
		if d.ID == theRun {
			return true
		}
		if d.Member == "observationSha256" && d.Was != "" || d.Member == "row" && d.Is == "" {
			parted++
		}
	}
	return observed > 1 && 2*parted > observed
}
