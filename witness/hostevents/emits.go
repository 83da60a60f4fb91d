package hostevents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func idsOf(emits []observe.Emit) map[string]bool {
	in := make(map[string]bool, len(emits))
	for _, e := range emits {
		in[e.EventID] = true
	}
	return in
}

// find gives the emit of that label, the zero Emit where there is none.
func find(emits []observe.Emit, label string) observe.Emit {
	for _, e := range emits {
		if e.Label == label {
			return e
		}
	}
	return observe.Emit{}
}

// after gives the durable emits that follow the labelled one.
func after(emits []observe.Emit, label string) []observe.Emit {
	i := slices.IndexFunc(emits, func(e observe.Emit) bool { return e.Label == label })
	if i < 0 {
		return nil
	}
	return durables(emits[i+1:])
}

func durables(emits []observe.Emit) []observe.Emit { return ofDelivery(emits, "durable") }

func ephemerals(emits []observe.Emit) []observe.Emit { return ofDelivery(emits, "ephemeral") }

func ofDelivery(emits []observe.Emit, delivery string) []observe.Emit {
	var of []observe.Emit
	for _, e := range emits {
		if e.Delivery == delivery {
			of = append(of, e)
		}
	}
	return of
}

func labels(emits []observe.Emit) []string {
	names := make([]string, 0, len(emits))
	for _, e := range emits {
		names = append(names, e.Label)
	}
	return names
}

// some joins names, the middle of a long list left out.
func some(names []string) string {
	if len(names) > 12 {
		names = slices.Concat(names[:6], []string{fmt.Sprintf("… %d more …", len(names)-12)}, names[len(names)-6:])
	}
	return strings.Join(names, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
