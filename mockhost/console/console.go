// Package console is a page on which people watch the mock host and move it: its events as they come, its runs and dead
// letters, its agent queues, its clock.
//
// The page has no data of its own and no API of its own: it calls the host's paths with the key that is typed into it, as
// any client does. So what it shows is what a client would see, and a defect shows in it too.
package console

import (
	"embed"
	"io/fs"
	"net/http"
)

// Path is where the page is.
const Path = "/console/"

//go:embed page
var files embed.FS

// policy lets the page load its own two files and call its own host, and nothing else: what a host's text says can't run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Front serves the page under Path, and everything else from next.
func Front(next http.Handler) http.Handler {
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the files are compiled in
	}
	served := http.StripPrefix(Path, http.FileServerFS(page))
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		served.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, pattern := mux.Handler(r); pattern != "" {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
