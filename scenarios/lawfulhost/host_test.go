package lawfulhost

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// caller is a test's hold on a listening host.
type caller struct {
	t    *testing.T
	base string
	http *http.Client
}

func start(t *testing.T, o Options) caller {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	transport := &http.Transport{DisableCompression: true, ForceAttemptHTTP2: true}
	if s.CA != nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(s.CA)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	t.Cleanup(transport.CloseIdleConnections)
	return caller{t, s.URL, &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

type got struct {
	status int
	header http.Header
	body   string
	proto  string
}

func (c caller) do(method, path, key, body string, headers ...string) got {
	c.t.Helper()
	resp := c.open(method, path, key, body, headers...)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got{resp.StatusCode, resp.Header, string(b), resp.Proto}
}

func (c caller) open(method, path, key, body string, headers ...string) *http.Response {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	r.Header.Set("OpenWOP-Version", "2.0")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

func (c caller) emit(key, class string) string {
	c.t.Helper()
	g := c.do("POST", "/host/events/test", key, `{"delivery":"`+class+`"}`)
	var answer struct{ EventID, Type string }
	if g.status != 202 || json.Unmarshal([]byte(g.body), &answer) != nil || answer.Type != reservedType(class) {
		c.t.Fatalf("trigger of a %s event: %d %s", class, g.status, g.body)
	}
	return answer.EventID
}

// read gives the ids of the next n event frames that are host events, passing over everything else, as an event-stream
// reader of the simplest kind finds them.
func (c caller) read(resp *http.Response, n int) (ids []string, cursors []string) {
	c.t.Helper()
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 || !strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream") {
		c.t.Fatalf("no stream: %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	in := bufio.NewReader(resp.Body)
	var data []string
	var id string
	for line := range lines(in) {
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "\ufeff"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && len(data) > 0:
			var e map[string]any
			if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &e); err != nil {
				c.t.Fatalf("data %q: %v", data, err)
			}
			if e["eventId"] != nil {
				if want := []string{"delivery", "eventId", "payload", "timestamp", "type"}; !slices.Equal(slices.Sorted(maps.Keys(e)), want) {
					c.t.Fatalf("members of the envelope: %v", e)
				}
				ids, cursors = append(ids, e["eventId"].(string)), append(cursors, id)
				if len(ids) == n {
					return ids, cursors
				}
			}
			data, id = nil, ""
		case name == "data":
			data = append(data, value)
		case name == "id":
			id = value
		}
	}
	return ids, cursors
}

// lines splits at LF, CRLF and CR, without waiting for an LF after a CR.
func lines(in *bufio.Reader) func(func(string) bool) {
	return func(yield func(string) bool) {
		var line []byte
		for after := byte(0); ; {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			switch {
			case b == '\n' && after == '\r':
			case b == '\n', b == '\r':
				if !yield(string(line)) {
					return
				}
				line = line[:0]
			default:
				line = append(line, b)
			}
			after = b
		}
	}
}

func TestEveryOptionResumesWhole(t *testing.T) {
	short := func(f func(*Options)) Options {
		var o Options
		f(&o)
		return o
	}
	cases := map[string]Options{
		"plain":               {},
		"keys reversed":       {Framing: Framing{Keys: KeysReversed}},
		"keys sorted":         {Framing: Framing{Keys: KeysSorted}},
		"crlf":                {Framing: Framing{LineEnds: EndsCRLF}},
		"cr":                  {Framing: Framing{LineEnds: EndsCR}},
		"mixed, comments":     {Framing: Framing{LineEnds: EndsMixed, Comments: true, Retry: true}},
		"split, byte by byte": {Framing: Framing{SplitData: true, ByteByByte: true, LineEnds: EndsMixed}},
		"escapes":             {Framing: Framing{Escapes: true, TightColons: true, UnknownFields: true, ByteOrderMark: true, DataFirst: true}},
		"heartbeats":          {Framing: Framing{Heartbeat: time.Millisecond}},
		"times":               {Framing: Framing{Microseconds: true, Offset: true, Reserialised: true}},
		"long ids":            {Framing: Framing{LongIDs: true, MediaParameter: true}},
		"slow, late":          {Pace: Pace{Delivery: 30 * time.Millisecond, Commit: 10 * time.Millisecond}},
		"http2":               {Transport: Transport{HTTP2: true}},
		"lower headers":       {Transport: Transport{Headers: "lower"}},
		"upper headers":       {Transport: Transport{Headers: "upper", TLS: true}},
		"buffers":             {Transport: Transport{Buffers: 4096}},
		"buffers on":          {Transport: Transport{Buffers: 512, BuffersOn: true}},
		"far":                 short(func(o *Options) { o.Distance, o.Jitter = 5*time.Millisecond, 5*time.Millisecond }),
		"answers":             {Answers: Answers{PrettyBodies: true, EarlyHints: true, LegacyReplays: true}},
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, o)
			first := c.emit(KeyA, "durable")
			want := []string{first}
			if o.Commit > 0 {
				live, _ := c.read(c.open("GET", "/host/events", KeyA, ""), 1)
				want = live // the late commit is the first thing that a live stream shows
			}
			for range 40 {
				want = append(want, c.emit(KeyA, "durable"))
				c.emit(KeyA, "ephemeral")
				c.emit(KeyB, "durable")
			}
			if o.Commit > 0 {
				return // what comes late has no order of its own, and the first was read above
			}
			most := len(want) - 1
			if o.BuffersOn {
				most -= 10 // the last block stays with the proxy
			}
			ids, cursors := c.read(c.open("GET", "/host/events?replay=required", KeyA, "", "Last-Event-ID", first), most)
			if !slices.Equal(ids, want[1:most+1]) || !slices.Equal(cursors, ids) {
				t.Errorf("resumed at the first of %d: %d events, first %v", len(want), len(ids), ids[:min(2, len(ids))])
			}
		})
	}
}

func TestRefusalIsTheSameBytes(t *testing.T) {
	for name, o := range map[string]Options{"plain": {}, "details": {Answers: Answers{Details: true}}, "forgets": {Serving: Serving{Seams: true}, Listing: Listing{Retention: 60}}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, o)
			cursors := map[string]string{"unknown": "nobody-issued-this-one", "foreign": c.emit(KeyB, "durable"), "ephemeral": c.emit(KeyA, "ephemeral")}
			if o.Seams {
				old := c.emit(KeyA, "durable")
				removed := c.emit(KeyA, "durable")
				if g := c.do("POST", "/conformance/seams/sample/host-events/remove", KeyA, `{"eventId":"`+removed+`"}`); g.status != 204 {
					t.Fatalf("remove: %d %s", g.status, g.body)
				}
				if g := c.do("POST", "/conformance/seams/sample/clock/advance", KeyA, `{"seconds":60}`); g.status != 200 {
					t.Fatalf("advance: %d %s", g.status, g.body)
				}
				cursors["expired"], cursors["removed"] = old, removed
			}
			var first got
			for which, cursor := range cursors {
				g := c.do("GET", "/host/events?replay=required", KeyA, "", "Last-Event-ID", cursor)
				if first.body == "" {
					first = g
				}
				if g.status != 409 || g.body != first.body || !strings.Contains(g.body, `"host_event_resync_required"`) {
					t.Errorf("%s: %d %s", which, g.status, g.body)
				}
			}
			if has := strings.Contains(first.body, "details"); has != o.Details {
				t.Errorf("details in %s", first.body)
			}
		})
	}
}

func TestTrigger(t *testing.T) {
	plain, noTrigger, only := Options{}, Options{Listing: Listing{NoTrigger: true}}, Options{Listing: Listing{Only: "durable"}}
	hides := Options{Answers: Answers{HidesWorkspaces: true, UnauthorizedCode: "key_invalid"}}
	cases := []struct {
		name, key, body string
		options         Options
		status          int
		code            string
	}{
		{"durable", KeyA, `{"delivery":"durable"}`, plain, 202, ""},
		{"own workspace", KeyA, `{"delivery":"durable","workspaceId":"atelier"}`, plain, 202, ""},
		{"another tenant's workspace", KeyA, `{"delivery":"durable","workspaceId":"elsewhere"}`, plain, 403, "id_tenant_mismatch"},
		{"another tenant's workspace, hidden", KeyA, `{"delivery":"durable","workspaceId":"elsewhere"}`, hides, 404, "not_found"},
		{"unknown workspace", KeyA, `{"delivery":"durable","workspaceId":"nowhere"}`, plain, 404, "not_found"},
		{"unknown member", KeyA, `{"delivery":"durable","x":1}`, plain, 400, "validation_error"},
		{"null", KeyA, `null`, plain, 400, "validation_error"},
		{"null member", KeyA, `{"delivery":"durable","workspaceId":null}`, plain, 400, "validation_error"},
		{"trailing data", KeyA, `{"delivery":"durable"} {}`, plain, 400, "validation_error"},
		{"no key", "", `{"delivery":"durable"}`, plain, 401, "unauthenticated"},
		{"bad key, own code", "x", `{"delivery":"durable"}`, hides, 401, "key_invalid"},
		{"scope", KeyLow, `{"delivery":"durable"}`, plain, 403, "forbidden"},
		{"unlisted class", KeyA, `{"delivery":"ephemeral"}`, only, 400, "validation_error"},
		{"not served", KeyA, `{"delivery":"durable"}`, noTrigger, 404, "not_found"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := start(t, tc.options).do("POST", "/host/events/test", tc.key, tc.body)
			if g.status != tc.status || tc.code != "" && !strings.Contains(g.body, `"`+tc.code+`"`) {
				t.Errorf("%d %s, want %d %s", g.status, g.body, tc.status, tc.code)
			}
		})
	}
}

func TestIdempotencyAndRate(t *testing.T) {
	c := start(t, Options{Pace: Pace{Rate: 3}})
	one := c.do("POST", "/host/events/test", KeyA, `{"delivery":"durable"}`, "Idempotency-Key", "k1")
	two := c.do("POST", "/host/events/test", KeyA, `{"delivery":"durable"}`, "Idempotency-Key", "k1")
	if two.body != one.body || two.header.Get("OpenWOP-Idempotent-Replay") != "true" || one.header.Get("OpenWOP-Idempotent-Replay") != "" {
		t.Errorf("second answer %v %s, first %s", two.header, two.body, one.body)
	}
	if g := c.do("POST", "/host/events/test", KeyA, `{"delivery":"ephemeral"}`, "Idempotency-Key", "k1"); g.status != 409 {
		t.Errorf("another body under the key: %d", g.status)
	}
	if g := c.do("POST", "/host/events/test", KeyA, `{"delivery":"durable"}`); g.status != 429 || g.header.Get("Retry-After") != "1" {
		t.Errorf("beyond the rate: %d %v", g.status, g.header)
	}
}

func TestDiscoveryOfEachMajor(t *testing.T) {
	cases := []struct {
		name    string
		options Options
		version string
		status  int
		has     []string
		hasNot  []string
	}{
		{"both, two", Options{}, "2.0", 200, []string{`"hostEvents"`, `"minRetentionSeconds":3600`}, []string{`"capabilities"`}},
		{"both, one", Options{}, "1.0", 200, []string{`"protocolVersion":"1.0"`, `"protocolVersions"`}, []string{`"hostEvents"`}},
		{"both, three", Options{}, "3.0", 406, []string{"protocol_version_unsupported"}, nil},
		{"two alone, one", Options{Serving: Serving{Majors: []int{2}}}, "1.0", 406, nil, nil},
		{"one alone, two", Options{Serving: Serving{Majors: []int{1}}}, "2.0", 200, []string{`"protocolVersion":"1.0"`}, []string{`"protocolVersions"`}},
		{"no facet", Options{Listing: Listing{NoReplay: true}}, "2.0", 200, []string{`"hostEvents"`}, []string{`"replay"`}},
		{"no family", Options{Listing: Listing{NoHostEvents: true}}, "2.0", 200, nil, []string{`"hostEvents"`}},
		{"no trigger", Options{Listing: Listing{NoTrigger: true}}, "2.0", 200, []string{`"hostEvents"`}, []string{`host-test.`}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := start(t, tc.options).do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version", tc.version)
			if g.status != tc.status {
				t.Fatalf("%d %s", g.status, g.body)
			}
			for _, text := range tc.has {
				if !strings.Contains(g.body, text) {
					t.Errorf("%s lacks %s", g.body, text)
				}
			}
			for _, text := range tc.hasNot {
				if strings.Contains(g.body, text) {
					t.Errorf("%s has %s", g.body, text)
				}
			}
		})
	}
}

func TestHTTP10ClosesAndHasNoETag(t *testing.T) {
	c := start(t, Options{Serving: Serving{Majors: []int{1}}, Transport: Transport{ClosesAlways: true}})
	g := c.do("GET", "/.well-known/openwop", "", "")
	if g.proto != "HTTP/1.0" || g.status != 200 || g.header.Get("ETag") != "" || !strings.Contains(g.body, "supportedEnvelopes") {
		t.Errorf("%s %d %v %s", g.proto, g.status, g.header, g.body)
	}
}

func TestBoundedLife(t *testing.T) {
	for _, end := range []string{"", EndReset} {
		c := start(t, Options{Pace: Pace{Life: 20 * time.Millisecond, End: end}})
		resp := c.open("GET", "/host/events", KeyA, "")
		_, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if (err != nil) != (end == EndReset) {
			t.Errorf("end %q: %v", end, err)
		}
	}
}

func TestBusyTenantEmitsItsOwnTypes(t *testing.T) {
	c := start(t, Options{Pace: Pace{Busy: time.Millisecond}})
	ids, cursors := c.read(c.open("GET", "/host/events", KeyA, ""), 6)
	withID := 0
	for i, cursor := range cursors {
		if cursor == ids[i] {
			withID++
		}
	}
	if withID != 3 {
		t.Errorf("%d of 6 are durable: %v", withID, cursors)
	}
}
