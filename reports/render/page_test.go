package render_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// browser starts a headless Chromium, and skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed, so the page can't be looked at in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancelAllocator)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	limited, cancelLimit := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancelLimit)
	return limited
}

// observation has a stream on which D2 came twice and D3 never.
func observation(t *testing.T) json.RawMessage {
	t.Helper()
	emit := func(label string, at observe.Micros) observe.Emit {
		return observe.Emit{Label: label, Credential: "a", Delivery: "durable", EventID: "id-" + label, Attempts: []observe.Exchange{{SentAt: at}}}
	}
	event := func(id string) string { return "id: " + id + "\ndata: {\"eventId\":\"" + id + "\"}\n\n" }
	raw, err := json.Marshal(map[string]any{
		"emits": []observe.Emit{emit("D1", 1000), emit("D2", 2000), emit("D3", 3000), emit("S", 9000)}, "sentinel": "S", "quiet": 20000,
		"resumed": observe.Subscription{Segments: []observe.Stream{{
			Exchange: observe.Exchange{
				Label: "resumed " + hostile, Credential: "a", SentAt: 5000, AnsweredAt: 6000,
				Request: observe.Request{Method: "GET", Target: "/host/events", Headers: []observe.Header{
					{Name: "Accept", Value: "text/event-stream"}, {Name: "Last-Event-Id", Value: "id-D1"},
				}},
				Response: &observe.Response{Status: 200, Headers: []observe.Header{{Name: "Content-Type", Value: "text/event-stream"}, {Name: "X-Said", Value: hostile}}},
			},
			Chunks: []observe.Chunk{
				{At: 7000, Bytes: observe.Text(event("id-D2") + event("id-D2"))}, {At: 9500, Bytes: observe.Text(event("id-S"))},
			},
			End: observe.EndSuite, EndedAt: 40000,
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestThePageInABrowser opens the page with scripts off and no network, at several widths and in both colour schemes. With
// WOPWITNESS_TEST_SCREENSHOTS set to a folder it leaves pictures there to look at.
func TestThePageInABrowser(t *testing.T) {
	ctx := browser(t)
	l := mixed()
	l.Rows[1].Record.Observation = observation(t)
	path := filepath.Join(t.TempDir(), "report.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := render.HTML(file, l, head()); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	var asking sync.Mutex
	requested := []string{}
	must(t, chromedp.Listen(ctx, func(e any) {
		if r, ok := e.(*network.EventRequestWillBeSent); ok {
			asking.Lock()
			defer asking.Unlock()
			requested = append(requested, r.Request.URL)
		}
	}))
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(t, err)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	must(t, err)
	must(t, chromedp.Do(ctx, chromedp.Navigate("file://"+path)))
	visible := func(selector string) int {
		t.Helper()
		// The page's own scripts are off; this one is the test's.
		script := `[...document.querySelectorAll(` + quote(t, selector) + `)].filter(e => e.checkVisibility()).length`
		return evaluate[int](ctx, t, script)
	}
	for _, look := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"light", 1200, 1400, "light"}, {"dark", 1200, 1400, "dark"}, {"phone", 390, 1400, "light"}, {"phone-dark", 390, 1400, "dark"}} {
		t.Run(look.name, func(t *testing.T) {
			must(t, chromedp.Do(ctx, chromedp.EmulateViewport(look.width, look.height)))
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			})
			must(t, err)
			overflow := evaluate[bool](ctx, t, `document.documentElement.scrollWidth > innerWidth`)
			background := evaluate[string](ctx, t, `getComputedStyle(document.body).backgroundColor`)
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			must(t, err)
			if overflow {
				t.Error("the page is wider than the screen")
			}
			if want := map[string]string{"light": "rgb(251, 251, 250)", "dark": "rgb(17, 20, 24)"}[look.scheme]; background != want {
				t.Errorf("the background is %s, want %s", background, want)
			}
			if folder := os.Getenv("WOPWITNESS_TEST_SCREENSHOTS"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, look.name+".png"), picture, 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, c := range []struct {
		name, click, selector string
		want                  int
	}{
		{"all rows are there", "", "article", 5},
		{"a failure is open", "", ".failure", 1},
		{"its stream is drawn", "", "svg.timeline", 1},
		{"with what came again", "", "svg .again", 1},
		{"and with what was not seen", "", "svg .missing", 1},
		{"passes can be hidden", "#show-executed-pass", "article.executed-pass", 0},
		{"and nothing else goes", "", "article", 4},
		{"passes can be shown again", "#show-executed-pass", "article.executed-pass", 1},
		{"a text can be chosen", "#only-text-0250", "section", 1},
	} {
		if c.click != "" {
			box := evaluate[[]float64](ctx, t, `(() => { const b = document.querySelector(`+quote(t, c.click)+`).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`)
			must(t, chromedp.Do(ctx, chromedp.MouseClickXY(box[0], box[1])))
		}
		if got := visible(c.selector); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	asking.Lock()
	defer asking.Unlock()
	if len(requested) != 1 {
		t.Errorf("the page asked for %q", requested)
	}
	if alive := evaluate[int](ctx, t, `document.querySelectorAll('script, img, iframe, object, link, a:not([href^="#"]), form').length`); alive != 0 {
		t.Errorf("%d elements are alive", alive)
	}
}

// evaluate runs a script of the test's own; the page's are off.
func evaluate[T any](ctx context.Context, t *testing.T, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	must(t, err)
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func quote(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
