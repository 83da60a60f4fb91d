package lawfulhost

import (
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// buffering is a proxy that holds an answer back, its status line included, until a number of bytes are there or the
// answer has ended; always says whether it goes on so, block after block.
type buffering struct {
	to     string
	most   int
	always bool
}

// ServeHTTP implements http.Handler.
func (b buffering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, b.to+r.URL.RequestURI(), r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	out.Header = r.Header.Clone()
	out.ContentLength = r.ContentLength
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	in, err := transport.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = in.Body.Close() }()

	held, control := make([]byte, 0, b.most), http.NewResponseController(w)
	started := false
	release := func() {
		if !started {
			for name, values := range in.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(in.StatusCode)
			started = true
		}
		_, _ = w.Write(held)
		_ = control.Flush()
		held = held[:0]
	}
	piece := make([]byte, 1024)
	for {
		n, err := in.Body.Read(piece)
		held = append(held, piece[:n]...)
		if len(held) >= b.most || started && !b.always || err != nil {
			release()
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				panic(http.ErrAbortHandler)
			}
			return
		}
	}
}

// far is a path on which every piece takes a while, in order.
type far struct {
	address  string
	listener net.Listener
	work     sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
	closed   bool
}

func startFar(to string, distance, jitter time.Duration) (*far, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &far{address: ln.Addr().String(), listener: ln, open: map[net.Conn]bool{}}
	f.work.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			peer, err := net.Dial("tcp", to)
			if err != nil || !f.own(near, peer) {
				_ = near.Close()
				continue
			}
			f.work.Go(func() { carry(near, peer, distance, jitter) })
			f.work.Go(func() { carry(peer, near, distance, jitter) })
		}
	})
	return f, nil
}

func (f *far) own(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		for _, c := range conns {
			_ = c.Close()
		}
		return false
	}
	for _, c := range conns {
		f.open[c] = true
	}
	return true
}

func (f *far) stop() {
	_ = f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for c := range f.open {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.work.Wait()
}

// carry copies one direction. Pieces are delayed side by side and written in order, so a distant path is slow and not
// narrow.
func carry(from, to net.Conn, distance, jitter time.Duration) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 1024)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(pieces)
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			if n > 0 {
				late := distance
				if jitter > 0 {
					late += rand.N(jitter)
				}
				pieces <- piece{b[:n], time.Now().Add(late)}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range pieces {
		<-time.After(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			_ = from.Close()
		}
	}
	_ = to.Close()
	reading.Wait()
}
