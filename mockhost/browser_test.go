package mockhost_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/wopwitness/wopwitness/mockhost"
)

// browserDeadline bounds each wait for the browser, which may share the machine with everything else that is tested.
const browserDeadline = time.Minute

// TestABrowserReadsHostEvents tries the host with the EventSource of a real browser, one site and one host a case.
func TestABrowserReadsHostEvents(t *testing.T) {
	b := openBrowser(t)
	for _, c := range []struct {
		name string
		try  func(*testing.T, browser)
	}{
		{"live, both classes", liveInABrowser},
		{"keep-alive comments don't disturb", keptAliveInABrowser},
		{"it reconnects at its own pace and misses nothing", func(t *testing.T, b browser) { reconnecting(t, b, "", 1) }},
		{"it reconnects again and again and misses nothing", func(t *testing.T, b browser) { reconnecting(t, b, hurried, 5) }},
		{"a removed cursor makes it give up", removedInABrowser},
		{"without the parameter a removed cursor goes live and loses what came meanwhile", removedWithoutTheParameter},
		{"fetch from an origin that is allowed", fetchesFromAnotherOrigin},
		{"fetch from an origin that is not", refusedFromAnotherOrigin},
	} {
		t.Run(c.name, func(t *testing.T) { c.try(t, b) })
	}
}

func liveInABrowser(t *testing.T, b browser) {
	h := start(t, mockhost.Config{Seams: true})
	s := newSite(t, h, siteHooks{})
	p := b.visit(t, s)
	p.listen("?replay=required")
	emitted := func(eventType, id, lastID string) sighting {
		return sighting{Event: eventType, ID: id, LastEventID: lastID}
	}

	early := h.trigger(h.KeyA, "ephemeral")
	p.until(early)
	d1 := h.trigger(h.KeyA, "durable")
	p.until(d1)
	h.trigger(h.KeyB, "durable")
	late := h.trigger(h.KeyA, "ephemeral")
	p.until(late)
	d2 := h.eventID(h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":70000}`))
	p.until(d2)
	want := []sighting{
		emitted("host-test.ephemeral-triggered", early, ""), emitted("host-test.durable-triggered", d1, d1),
		emitted("host-test.ephemeral-triggered", late, d1), emitted("inventory.item-changed", d2, d2),
	}
	if got := p.seen(); !slices.Equal(got, want) {
		t.Errorf("the page saw %v, want %v", got, want)
	}
	if opens, errs := p.opens(), p.errors(); opens != 1 || len(errs) != 0 {
		t.Errorf("opened %d times with the errors %v, want once and none", opens, errs)
	}
}

func keptAliveInABrowser(t *testing.T, b browser) {
	h := start(t, mockhost.Config{KeepAlive: 2 * time.Millisecond})
	comments := newCommentCounter(t)
	s := newSite(t, h, siteHooks{relayed: comments.count})
	p := b.visit(t, s)
	p.listen("?replay=required")
	var want []string
	for range 3 {
		comments.waitFor(10)
		id := h.trigger(h.KeyA, "durable")
		want = append(want, id)
		p.until(id)
	}
	comments.waitFor(10)
	last := h.trigger(h.KeyA, "ephemeral")
	p.until(last)
	got := p.seen()
	if ids := idsOf(got); !slices.Equal(ids, append(want, last)) {
		t.Errorf("the page saw %v, want %v", ids, append(want, last))
	}
	if cursor := got[len(got)-1].LastEventID; cursor != want[2] {
		t.Errorf("after the comments the cursor is %q, want %q", cursor, want[2])
	}
	if opens, errs := p.opens(), p.errors(); opens != 1 || len(errs) != 0 {
		t.Errorf("opened %d times with the errors %v, want once and none", opens, errs)
	}
}

// openBrowser starts a headless Chromium, and skips the test where there is none.
func openBrowser(t *testing.T) browser {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: a browser is not started")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed, so the host isn't tried with a browser's EventSource")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancelAllocator)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser{ctx}
}

// browser is one tab, which the cases use one after another.
type browser struct{ ctx context.Context }

// page is a visited site's page, whose script is in sitePage.
type page struct {
	t   *testing.T
	ctx context.Context
}

// visit opens the site's page; at the end of the test it leaves it, and with it every stream of it.
func (b browser) visit(t *testing.T, s *site) page {
	t.Helper()
	navigate := func(url string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(b.ctx, browserDeadline)
		defer cancel()
		if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
			t.Fatalf("open %s in the browser: %v", url, err)
		}
	}
	navigate(s.url)
	t.Cleanup(func() { navigate("about:blank") })
	return page{t, b.ctx}
}

// sighting is what the page's script was given for one event; ID is its envelope's eventId.
type sighting struct{ Event, ID, LastEventID string }

func idsOf(seen []sighting) []string {
	var out []string
	for _, s := range seen {
		out = append(out, s.ID)
	}
	return out
}

// failure is what the page knew when its EventSource reported an error.
type failure struct {
	ReadyState  int
	LastEventID string
}

// What EventSource.readyState says, by the HTML standard.
const (
	connecting = 0
	closed     = 2
)

func evaluate[T any](p page, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserDeadline)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("in the page, %s: %v", script, err)
	}
	return v
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// listen opens an EventSource and returns once it is open.
func (p page) listen(query string) {
	p.t.Helper()
	evaluate[bool](p, `listen(`+inJSON("/host/events"+query)+`)`)
}

// until returns once the page has seen the event.
func (p page) until(id string) {
	p.t.Helper()
	evaluate[bool](p, `until(() => seen.some(e => e.ID === `+inJSON(id)+`))`)
}

func (p page) seen() []sighting  { p.t.Helper(); return evaluate[[]sighting](p, `seen`) }
func (p page) errors() []failure { p.t.Helper(); return evaluate[[]failure](p, `errors`) }
func (p page) opens() int        { p.t.Helper(); return evaluate[int](p, `opens`) }
