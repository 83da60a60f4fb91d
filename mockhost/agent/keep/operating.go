package keep

import (
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Pause holds back the replays of a tool, or of all ("*").
type Pause struct {
	Tenant string    `json:"-"`
	Tool   string    `json:"tool"`
	At     time.Time `json:"at"`
}

// Script is what the scripted repairer says of a tool.
type Script struct {
	Tenant   string         `json:"-"`
	Tool     string         `json:"tool"`
	Proposal parts.Proposal `json:"proposal"`
}

// Counter is one number, or more, that is counted of a tenant's queues since its first entry; each use says which.
type Counter struct {
	Tenant string    `json:"-"`
	Name   string    `json:"name"`
	Tool   string    `json:"tool,omitempty"`
	Of     string    `json:"of,omitempty"` // a category
	Count  int       `json:"count"`
	Well   int       `json:"well,omitempty"` // those of Count that went well
	Sum    float64   `json:"sum,omitempty"`
	Below  []int     `json:"below,omitempty"`  // how many were at or below each of the bounds
	Latest []float64 `json:"latest,omitempty"` // the values of the latest, in no order
}

//nolint:gochecknoglobals // each is a type's description, and never changed
var (
	// Pauses are named by what is paused.
	Pauses = Kind[Pause]{"pause", func(p Pause) store.Record {
		return store.Record{Tenant: p.Tenant, ID: p.Tool, At: p.At}
	}, func(p *Pause, tenant string, _ int64) { p.Tenant = tenant }}

	// Scripts are named by the tool.
	Scripts = Kind[Script]{"repair-script", func(s Script) store.Record {
		return store.Record{Tenant: s.Tenant, ID: s.Tool}
	}, func(s *Script, tenant string, _ int64) { s.Tenant = tenant }}

	// Counters are looked up by their name, and told apart by tool and category.
	Counters = Kind[Counter]{"counter", func(c Counter) store.Record {
		return store.Record{Tenant: c.Tenant, ID: CounterID(c.Name, c.Tool, c.Of), State: c.Name}
	}, func(c *Counter, tenant string, _ int64) { c.Tenant = tenant }}
)

// CounterID names a counter.
func CounterID(name, tool, of string) string { return name + " " + tool + " " + of }

// Audited adds an item to an entry's trail, which is never changed but by that.
func Audited(e parts.Entry, at time.Time, by, action, notes string) parts.Entry {
	trail := make([]parts.Audit, len(e.Audit), len(e.Audit)+1)
	copy(trail, e.Audit)
	e.Audit = append(trail, parts.Audit{At: at, By: by, Action: action, Resolution: e.Resolution, Notes: notes})
	return e
}
