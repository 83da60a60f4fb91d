package pgtest

import (
	"io"
	"sync/atomic"
	"time"
)

// pace is how a link carries what it carries: each piece so much later, and so many bytes a second in each direction of a
// connection. The zero value holds nothing up.
type pace struct {
	delay atomic.Int64 // of a piece
	rate  atomic.Int64 // bytes a second
}

// piece is what crosses a slow link at once, in bytes.
const piece = 4 << 10

// waiting is how many pieces may be under way on a slow link; its sender waits beyond that, as on a real one.
const waiting = 64

// Slow has the link carry everything with a delay each way, and so many bytes a second in each direction of a connection,
// from the next connection on.
func (l *Link) Slow(delay time.Duration, bytesPerSecond int) {
	l.pace.delay.Store(int64(delay))
	l.pace.rate.Store(int64(bytesPerSecond))
}

type parcel struct {
	bytes []byte
	due   time.Time
}

// copy carries one direction until either end closes.
func (l *Link) copy(to io.Writer, from io.Reader) {
	delay, rate := time.Duration(l.pace.delay.Load()), l.pace.rate.Load()
	if rate == 0 {
		_, _ = io.Copy(to, from)
		return
	}
	under := make(chan parcel, waiting)
	l.copying.Go(func() {
		defer close(under)
		for free := time.Now(); ; {
			b := make([]byte, piece)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			if now := time.Now(); free.Before(now) {
				free = now
			}
			free = free.Add(time.Duration(int64(n) * int64(time.Second) / rate))
			under <- parcel{b[:n], free.Add(delay)}
		}
	})
	broken := false
	for p := range under {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil && !broken {
			broken = true
			if c, ok := from.(io.Closer); ok {
				_ = c.Close() // or its sender would never know
			}
		}
	}
}
