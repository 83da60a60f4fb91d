package mockhost_test

import (
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestConfigurationErrorsSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		config mockhost.Config
		says   string
	}{
		"store":          {mockhost.Config{Store: "mysql://x"}, `mock host: store "mysql://x": it is memory, sqlite:PATH or postgres://…`},
		"store path":     {mockhost.Config{Store: "sqlite:"}, `mock host: store "sqlite:": it is memory, sqlite:PATH or postgres://…`},
		"clock":          {mockhost.Config{Clock: "fast"}, `mock host: clock "fast": it is real or manual`},
		"retention":      {mockhost.Config{MinRetention: 1500e6}, `mock host: minimum retention 1.5s: it must be whole seconds, at least one`},
		"major":          {mockhost.Config{Majors: []int{3}}, `mock host: major 3: this host serves 1 and 2`},
		"class":          {mockhost.Config{TriggerClasses: []string{"lasting"}}, `mock host: trigger class "lasting": it is durable or ephemeral`},
		"an origin":      {mockhost.Config{CORSOrigin: "nonsense"}, `mock host: page's origin "nonsense": it is * or scheme://host[:port] in lower case and with no path, as http://127.0.0.1:8000`},
		"a model server": {mockhost.Config{Models: mockhost.ModelServers{Repairer: "localhost:9000"}}, `mock host: model server "localhost:9000": it is a URL that takes a POST, as http://127.0.0.1:9000/turn`},
		"equal keys":     {mockhost.Config{KeyA: "x", KeyB: "x"}, `mock host: two keys are equal, so one of them would stand for the wrong tenant or scopes`},
		"a near defect":  {mockhost.Config{Defect: "handoff-hole"}, `mock host: no defect is named "handoff-hole"; near it: handoff-gap, handoff-duplicate`},
		"no defect":      {mockhost.Config{Defect: "xyz"}, `mock host: no defect is named "xyz"`},
	} {
		h, err := mockhost.New(t.Context(), c.config)
		if err == nil {
			t.Errorf("%s: started", name)
			_ = h.Shutdown(t.Context())
		} else if err.Error() != c.says {
			t.Errorf("%s: says %q, want %q", name, err, c.says)
		}
	}
}

func TestAnOriginIsAsABrowserSpellsIt(t *testing.T) {
	for origin, taken := range map[string]bool{
		"*": true, "http://127.0.0.1:8000": true, "https://app.example": true, "http://[::1]:3000": true,
		"nonsense": false, "app.example": false, "https://app.example/": false, "https://app.example/page": false, "https://App.example": false,
		"HTTPS://app.example": false, "https://": false, "https://app.example:": false, "https://a@app.example": false,
		"https://app.example?x": false, "ftp://app.example": false, "null": false,
	} {
		h, err := mockhost.New(t.Context(), mockhost.Config{CORSOrigin: origin})
		if err == nil {
			err = h.Shutdown(t.Context())
			if err != nil {
				t.Error(err)
			}
		}
		if (err == nil) != taken {
			t.Errorf("%q: %v, want it taken: %v", origin, err, taken)
		}
	}
}
