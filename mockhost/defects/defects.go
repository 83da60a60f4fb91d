// Package defects is the ways in which the mock host can be wrong: each a lie that a real host would tell, whole, made by
// replacing or wrapping ports.
//
// A defect knows nothing of the suite but the ids of the legs that rightly convict it, and nothing outside this package
// and the composition root knows of defects. Start at Defect; the tables are in the files named after what they break.
package defects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Info describes a defect.
type Info struct {
	Name string
	// Says is what such a host does, in one sentence.
	Says string
	// RFC is the RFC that it breaks, as "0250", or "agentdlq" for the extension that no RFC stands behind.
	RFC string
	// Convicts lists the legs that rightly convict it, sorted.
	Convicts []string
	// May lists legs that convict it only where a run happens to meet the moment in which it lies, sorted.
	May []string
	// Apart lists legs that convict it as well where each instance has a process of its own, or what comes to the same, as
	// over PostgreSQL; sorted.
	Apart []string
	// Instances tells that the lie is about several instances over one store, or about what outlives one of them. Only a
	// store that several processes can have open shows it whole.
	Instances bool
	// Silent tells that the suite waits long, and in vain, for what such a host does not send.
	Silent bool
}

// apart marks a defect of several instances, and adds the legs that convict it where each has a process of its own.
func (d Defect) apart(legs ...string) Defect {
	d.Apart, d.Instances = legs, true
	return d
}

// silent marks a defect that keeps the suite waiting.
func (d Defect) silent() Defect {
	d.Silent = true
	return d
}

// may adds legs that convict the defect only where a run meets its moment.
func (d Defect) may(legs ...string) Defect {
	d.May = legs
	return d
}

// Defect is one way to be wrong.
type Defect struct {
	Info
	// prepare makes the state that the instances over one store share, and returns what wraps one instance's ports.
	prepare func() func(*parts.Parts)
}

// Instance is a defect in force on the instances over one store.
type Instance struct{ apply func(*parts.Parts) }

// Apply puts the defect into an instance's ports.
func (i Instance) Apply(p *parts.Parts) {
	if i.apply != nil {
		i.apply(p)
	}
}

// New makes the defect's shared state.
func (d Defect) New() Instance {
	if d.prepare == nil {
		return Instance{}
	}
	return Instance{apply: d.prepare()}
}

// Find returns the defect of that name; "" is none. The error names those that are near.
func Find(name string) (Defect, error) {
	if name == "" {
		return Defect{}, nil
	}
	var near []string
	for _, d := range all() {
		if d.Name == name {
			return d, nil
		}
		for word := range strings.SplitSeq(name, "-") {
			if len(word) > 3 && strings.Contains("-"+d.Name, "-"+word) {
				near = append(near, d.Name)
				break
			}
		}
	}
	if len(near) > 0 {
		return Defect{}, fmt.Errorf("no defect is named %q; near it: %s", name, strings.Join(near, ", "))
	}
	return Defect{}, fmt.Errorf("no defect is named %q", name)
}

// List describes every defect, sorted by name.
func List() []Info {
	var out []Info
	for _, d := range all() {
		d.Convicts = slices.Sorted(slices.Values(d.Convicts))
		d.May = slices.Sorted(slices.Values(d.May))
		d.Apart = slices.Sorted(slices.Values(d.Apart))
		out = append(out, d.Info)
	}
	slices.SortFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// all is every defect of every table.
func all() []Defect {
	return slices.Concat(facetDefects(), resumeDefects(), handoffDefects(), lastIDDefects(), unknownDefects(), keptDefects(), refusalDefects(), retentionDefects(), tenancyDefects(),
		eventDefects(), triggerDefects(), deadLetterDefects(), instanceDefects(), apartDefects(), otherDefects(), agentDefects())
}

// wraps is a defect without shared state.
func wraps(apply func(*parts.Parts)) func() func(*parts.Parts) {
	return func() func(*parts.Parts) { return apply }
}
