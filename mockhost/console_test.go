package mockhost_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/wopwitness/wopwitness/mockhost"
)

// console opens the host's console and types the key into it.
func console(t *testing.T, b browser, h *host, key string) page {
	t.Helper()
	p := page{t, b.ctx}
	ctx, cancel := context.WithTimeout(b.ctx, browserDeadline)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(h.url+mockhost.ConsolePath)); err != nil {
		t.Fatalf("open the console: %v", err)
	}
	t.Cleanup(func() { _ = chromedp.Do(b.ctx, chromedp.Navigate("about:blank")) })
	evaluate[bool](p, `sessionStorage.clear(), true`)
	p.becomes(`document.getElementById('host').textContent.startsWith('wopwitness-mockhost')`)
	evaluate[bool](p, `document.getElementById('key').value = `+inJSON(key)+`, document.getElementById('keys').requestSubmit(), true`)
	return p
}

// becomes returns once the expression is true in the page.
func (p page) becomes(expression string) {
	p.t.Helper()
	evaluate[bool](p, `new Promise(ok => { const look = () => (`+expression+`) ? ok(true) : setTimeout(look, 20); look(); })`)
}

func (p page) click(id string) {
	p.t.Helper()
	evaluate[bool](p, `document.getElementById(`+inJSON(id)+`).click(), true`)
}

// picture writes what the page looks like where WOPWITNESS_PICTURES names a folder, to be looked at.
func (p page) picture(name string) {
	p.t.Helper()
	dir := os.Getenv("WOPWITNESS_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o600)
	}
	if err != nil {
		p.t.Errorf("take a picture: %v", err)
	}
}

const (
	eventRows = `document.getElementById('event-rows').rows`
	deadRows  = `document.getElementById('dead-rows').rows`
	said      = `document.getElementById('said').textContent`
)

// TestTheConsole watches and moves a host in a real browser.
func TestTheConsole(t *testing.T) {
	b := openBrowser(t)
	t.Run("events come as they are emitted, and what was missed comes with the resume", func(t *testing.T) {
		h := start(t, mockhost.Config{Seams: true, Console: true, Clock: "manual"})
		p := console(t, b, h, h.KeyA)
		p.becomes(`document.getElementById('stream').textContent === 'open'`)
		p.click("emit-durable")
		p.becomes(eventRows + `.length === 1`)
		p.click("cut")
		p.becomes(`document.getElementById('stream').textContent.startsWith('cut')`)
		missed := h.trigger(h.KeyA, "durable")
		if shown := evaluate[string](p, eventRows+`[0].textContent`); strings.Contains(shown, missed) {
			t.Errorf("the cut stream shows %s", missed)
		}
		p.click("resume")
		p.becomes(eventRows + `.length === 2 && ` + eventRows + `[0].textContent.includes(` + inJSON(missed) + `)`)
	})
	t.Run("a run dies, is listed, and is gone once its days are over", func(t *testing.T) {
		h := start(t, mockhost.Config{Seams: true, Console: true, Clock: "manual", RetentionDays: 1})
		p := console(t, b, h, h.KeyA)
		p.becomes(`!document.getElementById('no-dead').hidden`)
		p.click("die")
		p.becomes(deadRows + `.length === 1`)
		p.picture("console-runs")
		before := evaluate[string](p, `document.getElementById('now').textContent`)
		evaluate[bool](p, `document.querySelector('[data-advance="86400"]').click(), true`)
		p.becomes(`document.getElementById('now').textContent.slice(0, 10) > ` + inJSON(before[:10]))
		evaluate[bool](p, `document.querySelector('[data-advance="86400"]').click(), true`)
		p.becomes(deadRows + `.length === 0`)
	})
	t.Run("an entry of the tool queue is shown, and replayed by a click", func(t *testing.T) {
		a := agents{start(t, mockhost.Config{Seams: true, Console: true, Clock: "manual"})}
		a.tool("pay", "", "server_error", "ok")
		if got := a.ended("m", call("pay", `{"to":"ada@example.com"}`)); got != "tool_failed" {
			t.Fatalf("the message ended %s", got)
		}
		a.classified("pay")
		p := console(t, b, a.host, a.KeyA)
		p.becomes(`document.getElementById('tool-rows').rows.length === 1`)
		row := evaluate[string](p, `document.getElementById('tool-rows').rows[0].textContent`)
		if !strings.Contains(row, "pay") || !strings.Contains(row, "TRANSIENT_INFRASTRUCTURE") {
			t.Errorf("the row says %q", row)
		}
		p.picture("console-agent")
		evaluate[bool](p, `[...document.querySelectorAll('#tool-rows button')].find(b => b.textContent === 'replay').click(), true`)
		p.becomes(said + `.endsWith('replayed')`)
		if got := a.status("m"); got != "completed" {
			t.Errorf("the message is %s after the replay", got)
		}
	})
	t.Run("a wrong key is said to be one", func(t *testing.T) {
		h := start(t, mockhost.Config{Seams: true, Console: true})
		p := console(t, b, h, "no such key")
		p.becomes(said + ` !== ''`)
		if got := evaluate[string](p, said); !strings.Contains(got, "does not know this key") {
			t.Errorf("it says %q", got)
		}
		if evaluate[bool](p, `!document.getElementById('panels').hidden`) {
			t.Error("the panels are shown all the same")
		}
	})
	t.Run("a wrong key is said to be one without seams too", func(t *testing.T) {
		h := start(t, mockhost.Config{Console: true})
		p := console(t, b, h, "no such key")
		p.becomes(said + `.includes('does not know this key')`)
		if evaluate[bool](p, `!document.getElementById('panels').hidden`) {
			t.Error("the panels are shown all the same")
		}
	})
	t.Run("without seams it shows the events and says what is missing", func(t *testing.T) {
		h := start(t, mockhost.Config{Console: true})
		p := console(t, b, h, h.KeyA)
		p.becomes(`document.getElementById('stream').textContent === 'open'`)
		if got := evaluate[string](p, said); !strings.Contains(got, "--seams") {
			t.Errorf("it says %q", got)
		}
		if evaluate[bool](p, `!document.getElementById('clock').hidden || !document.getElementById('runs').hidden`) {
			t.Error("panels without a seam behind them are shown")
		}
	})
}

func TestTheConsoleIsServedOnlyWhereItIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		on   bool
		path string
		want int
	}{
		{true, "/console/", 200}, {true, "/console/console.js", 200}, {true, "/console/../host/events", 404}, {true, "/console/none", 404},
		{true, "/runs", 401}, {false, "/console/", 404},
	} {
		h := start(t, mockhost.Config{Console: c.on})
		if a := h.do("GET", c.path, "", ""); a.status != c.want {
			t.Errorf("console %v: %s was answered %d, want %d", c.on, c.path, a.status, c.want)
		} else if c.want == 200 && !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has the policy %q", c.path, a.header.Get("Content-Security-Policy"))
		}
	}
}
