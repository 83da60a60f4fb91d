package modelserver_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
)

type answer struct {
	Says string `json:"says"`
}

func TestAQuestionIsAskedAndItsAnswerRead(t *testing.T) {
	var got, key string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, key = r.Method+" "+r.Header.Get("Content-Type")+" "+string(body), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"says":"yes"}`)
	}))
	defer srv.Close()
	var a answer
	if err := (modelserver.Server{URL: srv.URL, Key: "k-1"}).Ask(t.Context(), map[string]int{"n": 1}, &a); err != nil {
		t.Fatal(err)
	}
	if a.Says != "yes" || got != `POST application/json {"n":1}` || key != "Bearer k-1" {
		t.Errorf("asked %q with %q, answered %q", got, key, a.Says)
	}
}

func TestABadAnswerIsAnErrorThatSaysWhatCame(t *testing.T) {
	redirected := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected = true }))
	defer elsewhere.Close()
	cases := map[string]struct {
		status  int
		body    string
		slow    bool
		want    []string
		refused int
	}{
		"busy":           {429, "later, \x1b[31mk-1", false, []string{"answered 429", "later,  [31m[redacted-secret]"}, 429},
		"redirect":       {302, "", false, []string{"answered 302"}, 302},
		"not JSON":       {200, "<html>", false, []string{`"<html>"`, "can't be read"}, 0},
		"unknown member": {200, `{"says":"yes","also":1}`, false, []string{"also"}, 0},
		"two values":     {200, `{"says":"yes"} {}`, false, []string{"more than one JSON value"}, 0},
		"too long":       {200, `{"says":"` + strings.Repeat("x", 1<<20) + `"}`, false, []string{"more than 1048576 bytes"}, 0},
		"too slow":       {200, "", true, []string{"didn't answer within 50ms"}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if c.slow {
					<-r.Context().Done()
					return
				}
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			timeout := 30 * time.Second
			if c.slow {
				timeout = 50 * time.Millisecond
			}
			err := modelserver.Server{URL: srv.URL, Key: "k-1", Timeout: timeout}.Ask(t.Context(), 1, new(answer))
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q doesn't say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "k-1") {
				t.Errorf("%q shows the key", err)
			}
			var r *modelserver.Refused
			if errors.As(err, &r) != (c.refused > 0) || r != nil && (r.Status != c.refused || r.Busy() != (c.refused == 429)) {
				t.Errorf("refused as %+v, want status %d", r, c.refused)
			}
		})
	}
	if redirected {
		t.Error("a redirect was followed")
	}
}

func TestAServerThatIsDownIsSaidToBe(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	if err := (modelserver.Server{URL: srv.URL}).Ask(t.Context(), 1, new(answer)); err == nil || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("got %v", err)
	}
}
