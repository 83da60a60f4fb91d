package client

import (
	"fmt"
	"slices"
	"testing"
)

func read(t *testing.T, major int, document string) Discovery {
	t.Helper()
	value, err := Strict([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	object, _ := value.(map[string]any)
	return Discovery{Major: major, Document: object}
}

func TestFamilySeats(t *testing.T) {
	const three = `{"capabilities":{"f":{"n":1}},"f":{"n":2},"host":{"f":{"n":3}}}`
	for _, c := range []struct {
		name     string
		major    int
		document string
		n        string // of the record; "" for none
		seats    []string
	}{
		{"major 1, all three", 1, three, "1", []string{"capabilities.f", "f", "host.f"}},
		{"major 1, root and host", 1, `{"f":{"n":2},"host":{"f":{"n":3}}}`, "2", []string{"f", "host.f"}},
		{"major 1, host", 1, `{"capabilities":[],"host":{"f":{"n":3}}}`, "3", []string{"host.f"}},
		{"major 2 has the root alone", 2, three, "2", []string{"f"}},
		{"major 2, not at the root", 2, `{"capabilities":{"f":{"n":1}}}`, "", nil},
		{"the first seat is no object", 1, `{"capabilities":{"f":true},"f":{"n":2}}`, "", []string{"capabilities.f", "f"}},
		{"nowhere", 1, `{}`, "", nil},
		{"null", 1, `null`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			record, seats := read(t, c.major, c.document).Family("f")
			var where []string
			for _, s := range seats {
				where = append(where, s.Where)
			}
			got := ""
			if record != nil {
				got = fmt.Sprint(record["n"])
			}
			if got != c.n || !slices.Equal(where, c.seats) {
				t.Errorf("got n %q from %v", got, where)
			}
		})
	}
}

func TestHostEventsOfADocument(t *testing.T) {
	for _, c := range []struct {
		name, document string
		found          bool
		types          []ListedType
		replay         bool
		retention      int64
	}{
		{"whole", `{"hostEvents":{"types":[{"type":"a.b","delivery":"durable"}],"replay":{"minRetentionSeconds":60}}}`, true, []ListedType{{"a.b", "durable"}}, true, 60},
		{"an integer with a fraction of zero", `{"hostEvents":{"replay":{"minRetentionSeconds":60.0}}}`, true, nil, true, 60},
		{"zero is no bound", `{"hostEvents":{"replay":{"minRetentionSeconds":0}}}`, true, nil, true, 0},
		{"half a second is no bound", `{"hostEvents":{"replay":{"minRetentionSeconds":1.5}}}`, true, nil, true, 0},
		{"text is no bound", `{"hostEvents":{"replay":{"minRetentionSeconds":"60"}}}`, true, nil, true, 0},
		{"null is there", `{"hostEvents":{"replay":null}}`, true, nil, true, 0},
		{"no facet", `{"hostEvents":{"types":[1,{"type":2},{"type":"a.b"}]}}`, true, []ListedType{{}, {"a.b", ""}}, false, 0},
		{"no list", `{"hostEvents":{"types":"a.b"}}`, true, nil, false, 0},
		{"no object", `{"hostEvents":true}`, false, nil, false, 0},
		{"no family", `{}`, false, nil, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, found := read(t, 2, c.document).HostEvents()
			retention, _ := h.MinRetention()
			if found != c.found || !slices.Equal(h.Types, c.types) || h.ReplayPresent != c.replay || retention != c.retention {
				t.Errorf("got %+v, %v, %d", h, found, retention)
			}
		})
	}
	h, _ := read(t, 2, `{"hostEvents":{"types":[{"type":"a.b","delivery":"durable"}]}}`).HostEvents()
	if !h.Lists("a.b") || h.Lists("a") {
		t.Error("Lists does not tell a listed type from another")
	}
}

func TestDeadLetterOfADocument(t *testing.T) {
	for _, c := range []struct {
		name, document   string
		major            int
		found, supported bool
		days             int64
	}{
		{"major 1", `{"capabilities":{"deadLetter":{"supported":true,"retentionDays":7}}}`, 1, true, true, 7},
		{"major 1, not supported", `{"deadLetter":{"supported":false}}`, 1, true, false, 0},
		{"major 1, says nothing", `{"deadLetter":{}}`, 1, true, false, 0},
		{"major 2", `{"deadLetter":{"status":"stable","retentionDays":30}}`, 2, true, true, 30},
		{"other dead letters", `{"queueBus":{"deadLetterSupported":true},"webhooks":{"deadLetter":true}}`, 1, false, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, found := read(t, c.major, c.document).DeadLetter()
			if found != c.found || d.Supported != c.supported || d.RetentionDays != c.days {
				t.Errorf("got %+v, %v", d, found)
			}
		})
	}
}

func TestTheRestOfADocument(t *testing.T) {
	d := read(t, 2, `{"implementation":{"name":"n","version":"v"},"fixtures":["a",1,"b"],"conformance":{"seamsProfile":"p"},"preferredVersion":"2.0"}`)
	name, version, vendor := d.Implementation()
	if name != "n" || version != "v" || vendor != "" || !slices.Equal(d.Fixtures(), []string{"a", "b"}) || d.SeamsProfile() != "p" || d.PreferredVersion() != "2.0" {
		t.Errorf("got %q %q %q %v %q", name, version, vendor, d.Fixtures(), d.SeamsProfile())
	}
}
