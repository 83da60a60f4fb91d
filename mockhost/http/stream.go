package hosthttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// stream serves GET /host/events. Who asks is settled before what they ask for, and where the stream starts before its
// first byte (RFC 0250 §C).
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	p, err := s.admit(r, parts.ScopeRunsRead)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	asked, err := s.parts.Asker.Ask(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	start, err := s.parts.Resumer.Start(r.Context(), p, asked)
	if errors.Is(err, parts.ErrCursorRefused) {
		s.parts.Refuser.Refuse(w, r, p, asked)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	sub, err := s.parts.Log.Subscribe(r.Context(), p, start)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer sub.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s.pump(r.Context(), s.writer(w), p, asked, sub)
}

func (s *server) admit(r *http.Request, scope string) (parts.Principal, error) {
	p, err := s.parts.Gate.Admit(r)
	if err != nil {
		return p, err
	}
	return p, s.parts.Gate.Require(p, scope)
}

// pump copies frames to the client until it leaves, the stream's life ends, or the host stops.
func (s *server) pump(ctx context.Context, out *frameWriter, p parts.Principal, asked parts.StreamRequest, sub parts.Subscription) {
	if life := s.parts.Lifetime.Bound(asked); life > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, life)
		defer cancel()
	}
	defer out.release()
	if out.write(s.parts.Pulse.Opening()) != nil {
		return
	}
	for {
		if err := s.untilBeat(ctx, out, sub); err != nil {
			s.ended(err)
			return
		}
		if err := out.write(s.parts.Pulse.Beat(p)); err != nil {
			s.ended(err)
			return
		}
	}
}

// untilBeat copies frames for as long as a beat's interval and returns nil at its end. One timer serves all the frames
// in it, so a busy stream has a beat now and then that it doesn't need.
func (s *server) untilBeat(ctx context.Context, out *frameWriter, sub parts.Subscription) error {
	wait, cancel := context.WithTimeout(ctx, s.parts.Pulse.Every())
	defer cancel()
	for {
		frames, err := sub.Next(wait)
		switch {
		case err == nil:
			err = out.frames(frames)
		case wait.Err() != nil && ctx.Err() == nil:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ended logs what isn't an ordinary end of a stream.
func (s *server) ended(err error) {
	for _, ordinary := range []error{context.Canceled, context.DeadlineExceeded, parts.ErrStreamOver} {
		if errors.Is(err, ordinary) {
			return
		}
	}
	s.Logger.Debug("a stream ended", "error", err)
}

// frameWriter writes whole frames and flushes each batch.
type frameWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	until   time.Time  // the write deadline in force
	batches *sync.Pool // of the server, since idle streams need no room of their own
}

func (s *server) writer(w http.ResponseWriter) *frameWriter {
	return &frameWriter{w: w, control: http.NewResponseController(w), timeout: s.WriteTimeout, batches: &s.batches}
}

// batchBytes is how much is put together before a write.
const batchBytes = 64 << 10

func (f *frameWriter) frames(frames []*parts.Frame) error {
	if len(frames) == 1 {
		return f.write(frames[0].Bytes)
	}
	batch, _ := f.batches.Get().(*[]byte)
	if batch == nil {
		empty := make([]byte, 0, batchBytes)
		batch = &empty
	}
	defer f.batches.Put(batch)
	buf := (*batch)[:0]
	for _, fr := range frames {
		if len(buf) > 0 && len(buf)+len(fr.Bytes) > batchBytes {
			if err := f.put(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		if len(fr.Bytes) > batchBytes {
			if err := f.put(fr.Bytes); err != nil {
				return err
			}
			continue
		}
		buf = append(buf, fr.Bytes...)
	}
	return f.write(buf)
}

// put writes within the time that a stopped reader is given. The deadline is moved only when a good part of it is over,
// since moving it costs more than a small write.
func (f *frameWriter) put(b []byte) error {
	if now := time.Now(); f.timeout > 0 && f.until.Sub(now) < f.timeout*3/4 {
		f.until = now.Add(f.timeout)
		if err := f.deadline(f.until); err != nil {
			return err
		}
	}
	_, err := f.w.Write(b)
	return err
}

// release takes the deadline off the connection, which may serve another request.
func (f *frameWriter) release() {
	if f.timeout > 0 {
		_ = f.deadline(time.Time{}) // a connection that is closed has none to take off
	}
}

func (f *frameWriter) deadline(t time.Time) error {
	if err := f.control.SetWriteDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (f *frameWriter) write(b []byte) error {
	if len(b) > 0 {
		if err := f.put(b); err != nil {
			return err
		}
	}
	return f.control.Flush()
}
