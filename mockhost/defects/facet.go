package defects

import "github.com/wopwitness/wopwitness/mockhost/parts"

// facetDefects advertise what the facet's schema refuses (RFC 0250 §A).
func facetDefects() []Defect {
	d := func(name, says string, replay any) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: []string{"0250.shape"}}, wraps(func(p *parts.Parts) {
			advertises(p, func(record map[string]any) { record["replay"] = replay })
		})}
	}
	return []Defect{
		d("facet-zero", "advertises a retention of 0 seconds", map[string]any{"minRetentionSeconds": 0}),
		d("facet-fraction", "advertises a retention that isn't whole seconds", map[string]any{"minRetentionSeconds": 3600.5}),
		d("facet-text", "advertises the retention as text", map[string]any{"minRetentionSeconds": "3600"}),
		d("facet-extra-member", "advertises a mode beside the retention", map[string]any{"minRetentionSeconds": 3600, "mode": "strict"}),
		d("facet-empty", "advertises strict replay without saying for how long", map[string]any{}),
	}
}
