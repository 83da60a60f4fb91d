package client

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func compressed(t *testing.T, how string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare deflate":
		var err error
		if w, err = flate.NewWriter(&b, flate.BestCompression); err != nil {
			t.Fatal(err)
		}
	default:
		return content
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestContentIsDecodedWithinBounds(t *testing.T) {
	secret := []byte("the content with " + keyA)
	const shown = "the content with {{credential:a}}"
	bomb := compressed(t, "gzip", make([]byte, 4*MaxBody))
	broken := compressed(t, "gzip", secret)
	broken[len(broken)-1] ^= 1
	for _, c := range []struct {
		name, header string
		body         []byte
		want         string
		kind         observe.FailureKind
	}{
		{"none", "", secret, shown, ""},
		{"identity", "Identity", secret, shown, ""},
		{"gzip", "gzip", compressed(t, "gzip", secret), shown, ""},
		{"x-gzip", "X-GZIP", compressed(t, "gzip", secret), shown, ""},
		{"deflate", "deflate", compressed(t, "deflate", secret), shown, ""},
		{"bare deflate", "deflate", compressed(t, "bare deflate", secret), shown, ""},
		{"two layers", "deflate, gzip", compressed(t, "gzip", compressed(t, "deflate", secret)), shown, ""},
		{"three layers", "gzip, gzip, gzip", secret, "", observe.FailMalformed},
		{"one that is not known", "br", secret, "", observe.FailMalformed},
		{"one that does not decode", "gzip", secret, "", observe.FailMalformed},
		{"one that is broken at its end", "gzip", broken, shown, observe.FailMalformed},
		{"an empty body", "gzip", nil, "", ""},
		{"a bomb", "gzip", bomb, string(make([]byte, keptOfLarge)), observe.FailTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Content-Encoding", c.header)
				}
				_, _ = w.Write(c.body)
			})
			ex := s.Do(context.Background(), Call{Path: "/"})
			if got := ex.Response.Body.String(); got != c.want {
				t.Errorf("the content is %d bytes, want %d", len(got), len(c.want))
			}
			switch {
			case c.kind == "" && ex.Failure != nil:
				t.Errorf("got %+v", ex.Failure)
			case c.kind != "" && (ex.Failure == nil || ex.Failure.Kind != c.kind):
				t.Errorf("got %+v, want %s", ex.Failure, c.kind)
			}
			if ex.Response.Truncated != (c.kind == observe.FailTooLarge) {
				t.Errorf("truncated is %v", ex.Response.Truncated)
			}
		})
	}
}

func TestABodyIsCutAtItsLimitAndNoKeyWithIt(t *testing.T) {
	for _, c := range []struct {
		name      string
		length    int
		kept      int
		truncated bool
	}{
		{"at the limit", MaxBody, MaxBody, false}, {"one byte beyond", MaxBody + 1, keptOfLarge, true}, {"without end", -1, keptOfLarge, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				body := bytes.Repeat([]byte("x"), max(c.length, MaxBody+1))
				if c.length < 0 {
					_, _ = w.Write(body[:keptOfLarge-4]) // the key stands across what is kept
					_, _ = io.WriteString(w, keyA)
					for {
						if _, err := w.Write(body[:4096]); err != nil {
							return
						}
					}
				}
				_, _ = w.Write(body[:c.length])
			})
			ex := s.Do(context.Background(), Call{Path: "/"})
			if len(ex.Response.Body) != c.kept || ex.Response.Truncated != c.truncated || (ex.Failure != nil) != c.truncated {
				t.Fatalf("%d bytes, truncated %v, %+v", len(ex.Response.Body), ex.Response.Truncated, ex.Failure)
			}
			if tail := ex.Response.Body.String()[c.kept-4:]; tail != "xxxx" && tail != "{{cr" {
				t.Errorf("the body ends in %q", tail)
			}
		})
	}
}
