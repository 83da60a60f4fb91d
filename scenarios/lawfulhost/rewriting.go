package lawfulhost

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// Ways to write an instant that RFC 3339 allows beside a Z and capitals.
const (
	InstantsLower  = "lower"  // 2026-01-02t03:04:05.678z
	InstantsOffset = "offset" // 2026-01-02T03:04:05.678+00:00
	InstantsEast   = "east"   // 2026-01-02T08:34:05.678+05:30
)

// InFront is what may lie between any host and its clients, or be the habit of the library that the host writes its answers
// with. It changes how an answer is written, and nothing of what it says.
func InFront(next http.Handler, o Transport) http.Handler {
	if !o.Floats && o.Instants == "" && !o.Closes && !o.Gzip && o.PutsOff == 0 {
		return next
	}
	return &front{next: next, o: o}
}

type front struct {
	next  http.Handler
	o     Transport
	asked atomic.Int64
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.o.Closes {
		w.Header().Set("Connection", "close")
	}
	out := &rewriter{ResponseWriter: w, o: f.o}
	defer out.end()
	if n := f.asked.Add(1); f.o.PutsOff > 0 && n%int64(f.o.PutsOff) == 0 {
		now := time.Now().UTC().Format(http.TimeFormat)
		out.Header().Set("Date", now)
		out.Header().Set("Retry-After", now) // a date is allowed (RFC 9110 §10.2.3), and this one asks for no wait
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(http.StatusTooManyRequests)
		_, _ = out.Write([]byte(`{"error":"rate_limited","message":"not so fast"}`))
		return
	}
	f.next.ServeHTTP(out, r)
}

// rewriter writes JSON anew as it passes: a whole body at its end, a stream line by line.
type rewriter struct {
	http.ResponseWriter
	o      Transport
	json   bool
	stream bool
	status int
	held   bytes.Buffer
	zip    *gzip.Writer
}

// WriteHeader implements http.ResponseWriter.
func (w *rewriter) WriteHeader(status int) {
	if status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	media := strings.ToLower(w.Header().Get("Content-Type"))
	w.status, w.json, w.stream = status, strings.Contains(media, "json"), strings.HasPrefix(media, "text/event-stream")
	w.Header().Del("Content-Length")
	if w.o.Gzip && status != http.StatusNoContent && status != http.StatusNotModified {
		w.Header().Set("Content-Encoding", "gzip")
		w.zip = gzip.NewWriter(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *rewriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.held.Write(b)
	if !w.json {
		w.pass()
	}
	return len(b), nil
}

// pass sends what is held, of a stream its whole lines.
func (w *rewriter) pass() {
	all := w.held.Bytes()
	if w.stream {
		all = all[:bytes.LastIndexByte(all, '\n')+1]
	}
	out := w.held.Next(len(all))
	switch {
	case w.json:
		out = w.anew(out)
	case w.stream:
		var lines []byte
		for line := range bytes.Lines(out) {
			if bytes.HasPrefix(line, []byte("data:")) {
				line = w.anew(line)
			}
			lines = append(lines, line...)
		}
		out = lines
	}
	if w.zip != nil {
		_, _ = w.zip.Write(out)
		return
	}
	_, _ = w.ResponseWriter.Write(out)
}

// FlushError is what http.ResponseController looks for.
func (w *rewriter) FlushError() error {
	if w.zip != nil {
		_ = w.zip.Flush()
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *rewriter) end() {
	if w.held.Len() > 0 {
		w.pass()
	}
	if w.zip != nil {
		_ = w.zip.Close()
	}
}

// anew writes the JSON of a body or of a line in the options' style. Strings never go over a line.
func (w *rewriter) anew(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for i := 0; i < len(b); {
		from := i
		switch c := b[i]; {
		case c == '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
			out = append(out, '"')
			out = append(out, w.instant(string(b[from+1:i-1]))...)
			out = append(out, '"')
		case c == '-' || c >= '0' && c <= '9':
			for i++; i < len(b) && strings.IndexByte("0123456789.eE+-", b[i]) >= 0; i++ {
			}
			out = append(out, b[from:i]...)
			if w.o.Floats && !bytes.ContainsAny(b[from:i], ".eE") {
				out = append(out, ".0"...)
			}
		default:
			i++
			out = append(out, c)
		}
	}
	return out
}

var anInstant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`) //nolint:gochecknoglobals // compiled once and never changed

func (w *rewriter) instant(text string) string {
	if w.o.Instants == "" || !anInstant.MatchString(text) {
		return text
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	layout := "2006-01-02T15:04:05.000000-07:00"
	if dot := strings.IndexByte(text, '.'); dot < 0 {
		layout = "2006-01-02T15:04:05-07:00"
	} else {
		layout = strings.Replace(layout, "000000", strings.Repeat("0", len(text)-dot-2), 1)
	}
	switch w.o.Instants {
	case InstantsLower:
		return strings.ToLower(text)
	case InstantsEast:
		return at.In(time.FixedZone("", 5*3600+30*60)).Format(layout)
	}
	return at.Format(layout)
}
