package lawfulhost

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Host is the host as a handler. Close ends its streams and waits for everything it started.
type Host struct {
	options Options
	types   []listedType
	tenants map[string]*tenantLog
	answers answerBook
	rate    rateWindow
	clock   clock
	book    runBook
	crew    crew

	closing context.Context
	close   context.CancelFunc
	work    sync.WaitGroup
}

// The host's two tenants.
const (
	tenantA = "lawful-one"
	tenantB = "lawful-two"
)

// workspaces says which tenant each workspace belongs to.
func workspaces() map[string]string {
	return map[string]string{Workspace: tenantA, "annexe": tenantA, "elsewhere": tenantB}
}

// principal is who a key speaks for.
type principal struct {
	tenant    string
	workspace string
	scopes    []string
}

func principals() map[string]principal {
	all := []string{"runs:create", "runs:read", "runs:cancel", "webhooks:manage", "manifest:read"}
	return map[string]principal{
		KeyA:   {tenant: tenantA, scopes: all},
		KeyB:   {tenant: tenantB, scopes: all},
		KeyLow: {tenant: tenantA, scopes: []string{"runs:create", "manifest:read"}},
		KeyWS:  {tenant: tenantA, workspace: Workspace, scopes: all},
	}
}

// New makes a host. The caller closes it.
func New(o Options) *Host {
	if len(o.Majors) == 0 {
		o.Majors = []int{1, 2}
	}
	if o.Version == "" {
		o.Version = "2.0"
	}
	if o.Retention == 0 {
		o.Retention = 3600
	}
	h := &Host{options: o, types: o.Listing.types(), tenants: map[string]*tenantLog{tenantA: newTenantLog(), tenantB: newTenantLog()}}
	h.clock.tick = o.ClockTick
	if o.StillClock {
		h.clock.still = time.Now()
	}
	h.closing, h.close = context.WithCancel(context.Background())
	if o.Busy > 0 {
		h.work.Go(h.beBusy)
	}
	return h
}

// Close ends every stream and waits for what the host itself started.
func (h *Host) Close() {
	h.close()
	h.work.Wait()
}

// beBusy emits what a production tenant emits meanwhile.
func (h *Host) beBusy() {
	tick := time.NewTicker(h.options.Busy)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-h.closing.Done():
			return
		case <-tick.C:
			kind := h.types[n%2]
			payload := json.RawMessage(`{"sku":"A-1","note":"from the day's work","count":` + string('0'+rune(n%10)) + `}`)
			for _, log := range h.tenants {
				log.commit(h.mint(kind, "", payload))
			}
		}
	}
}

func (h *Host) mint(t listedType, workspace string, payload json.RawMessage) hostEvent {
	return hostEvent{ID: h.newID(), Type: t.Type, Delivery: t.Delivery, Workspace: workspace, At: h.clock.now(), Payload: payload}
}

// ServeHTTP implements http.Handler.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.options.EarlyHints {
		w.Header().Set("Link", "</style>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
	}
	if r.URL.Path == "/.well-known/openwop" {
		h.discovery(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		h.majorOne(w, r)
		return
	}
	if !h.serves(2) {
		h.fail(w, http.StatusNotFound, "not_found", "no such route")
		return
	}
	w.Header().Set("OpenWOP-Version", h.options.Version)
	if !asksForMajor(r, 2) {
		h.fail(w, http.StatusNotAcceptable, "protocol_version_unsupported", "this path is major 2's")
		return
	}
	h.majorTwo(w, r)
}

func (h *Host) majorTwo(w http.ResponseWriter, r *http.Request) {
	seam, isSeam := strings.CutPrefix(r.URL.Path, "/conformance/seams/sample/")
	rest, isRun := strings.CutPrefix(r.URL.EscapedPath(), "/runs/")
	switch {
	case r.URL.Path == "/host/events" && !h.options.NoHostEvents:
		h.as(w, r, http.MethodGet, "runs:read", h.stream)
	case r.URL.Path == "/host/events/test" && !h.options.NoHostEvents && !h.options.NoTrigger:
		h.as(w, r, http.MethodPost, "webhooks:manage", h.trigger)
	case isSeam && h.seam(w, r, 2, seam):
	case r.URL.Path == "/runs" && r.Method == http.MethodGet && h.options.ListsRuns:
		h.as(w, r, http.MethodGet, "runs:read", h.listRuns)
	case r.URL.Path == "/runs" && h.hasRuns():
		h.as(w, r, http.MethodPost, "runs:create", h.createRun(2))
	case isRun && h.runRoute(w, r, 2, rest):
	default:
		h.fail(w, http.StatusNotFound, "not_found", "no such route")
	}
}

// majorOne is what a host of major 1 has: runs, and where the options say so what makes them.
func (h *Host) majorOne(w http.ResponseWriter, r *http.Request) {
	seam, isSeam := strings.CutPrefix(r.URL.Path, "/v1/host/sample/")
	rest, isRun := strings.CutPrefix(r.URL.EscapedPath(), "/v1/runs/")
	switch {
	case !h.serves(1):
		h.fail(w, http.StatusNotFound, "not_found", "no such route")
	case isSeam && (h.options.Sink || h.options.Agent) && h.seam(w, r, 1, seam):
	case r.URL.Path == "/v1/runs" && h.options.Sink:
		h.as(w, r, http.MethodPost, "runs:create", h.createRun(1))
	case isRun && h.runRoute(w, r, 1, rest):
	default:
		h.fail(w, http.StatusNotFound, "not_found", "no such route")
	}
}

func (h *Host) hasRuns() bool { return h.options.Runs || h.options.Sink }

// as authenticates before it looks at anything else of the request.
func (h *Host) as(w http.ResponseWriter, r *http.Request, method, scope string, then func(http.ResponseWriter, *http.Request, principal)) {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p, known := principals()[key]
	switch {
	case r.Method != method:
		w.Header().Set("Allow", method)
		h.fail(w, http.StatusMethodNotAllowed, "not_found", "no such operation")
	case !known:
		code := h.options.UnauthorizedCode
		if code == "" {
			code = "unauthenticated"
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		h.fail(w, http.StatusUnauthorized, code, "a key is needed")
	case scope != "" && !slices.Contains(p.scopes, scope):
		h.fail(w, http.StatusForbidden, "forbidden", "the key lacks "+scope)
	default:
		then(w, r, p)
	}
}

func (h *Host) serves(major int) bool { return slices.Contains(h.options.Majors, major) }

// asksForMajor says whether the request asks for the major, or for none in particular.
func asksForMajor(r *http.Request, major int) bool {
	asked := r.Header.Get("OpenWOP-Version")
	head, _, _ := strings.Cut(asked, ".")
	return asked == "" || head == string('0'+rune(major))
}

type problem struct {
	Error   string         `json:"error"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

func (h *Host) fail(w http.ResponseWriter, status int, code, message string) {
	h.answer(w, status, problem{Error: code, Message: message})
}

func (h *Host) answer(w http.ResponseWriter, status int, body any) {
	h.send(w, status, h.encode(body))
}

func (h *Host) encode(body any) []byte {
	var b []byte
	var err error
	if h.options.PrettyBodies {
		b, err = json.MarshalIndent(body, "", "  ")
		b = append(b, '\n')
	} else {
		b, err = json.Marshal(body)
	}
	if err != nil {
		panic("lawfulhost: " + err.Error()) // every body is made of plain values
	}
	return b
}

func (h *Host) send(w http.ResponseWriter, status int, body []byte) {
	media := "application/json"
	if h.options.MediaParameter {
		media = "application/JSON; charset=UTF-8"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
