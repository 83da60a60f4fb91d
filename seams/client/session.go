package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// Session is one leg's use of the client: its moments count from Begin. It is safe for concurrent use.
type Session struct {
	client *Client
	epoch  time.Time
	budget budget
}

// Begin starts a session now.
func (c *Client) Begin() *Session {
	s := &Session{client: c, epoch: c.clock.Now()}
	s.budget.left = min(c.perLeg, max(c.budget.room(), lastBudget))
	return s
}

// Client is the client the session belongs to.
func (s *Session) Client() *Client { return s.client }

// On is the same session at another client, such as that of a second instance: its moments count from the same Begin.
func (s *Session) On(c *Client) *Session {
	other := c.Begin()
	other.epoch = s.epoch
	return other
}

// Now is the time since the session began.
func (s *Session) Now() observe.Micros { return observe.Since(s.epoch, s.client.clock.Now()) }

// Sleep waits, and says false where the context ended first.
func (s *Session) Sleep(ctx context.Context, d time.Duration) bool {
	timer := s.client.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return true
	case <-ctx.Done():
		return false
	}
}

// Call is one request as a leg asks for it.
type Call struct {
	Label      string // what the leg calls the exchange
	Credential string // one of the observe.Credential constants
	Method     string // GET where it is empty
	Path       string // escaped, from the host's root: RunPath and its like make it
	Query      url.Values
	Header     []observe.Header // sent after the client's own; one of the same name takes the other's place
	Body       []byte           // nil for none; sent as application/json unless Header says otherwise
	Major      int              // 2 sends OpenWOP-Version: 2.0; major 1 is selected by its path
	Timeout    time.Duration    // of the whole exchange; the client's where it is zero
	// Patience is how long, in all, 429 answers may put the call off: it is sent again as it was, and only the last answer is
	// given. Where it is zero a 429 is an answer like any other.
	Patience time.Duration
}

// Opened is an answer of which only the headers were read. Body is set where the host answered 200 with an event
// stream: decoded, and the caller's to close. Otherwise Exchange has the body or the failure already.
type Opened struct {
	Exchange observe.Exchange
	Body     io.ReadCloser
}

const eventStream = "text/event-stream"

// Do makes one exchange and reads its body, all within the call's timeout. It never fails: what went wrong is in the
// exchange. Of a body beyond MaxBody the
// beginning is kept, marked, and it is a failure as well.
func (s *Session) Do(ctx context.Context, call Call) observe.Exchange {
	for left := call.Patience; ; {
		ex := s.once(ctx, call)
		if !s.putOff(ctx, ex, &left) {
			return ex
		}
	}
}

func (s *Session) once(ctx context.Context, call Call) observe.Exchange {
	within := s.within(call)
	ctx, cancel := context.WithTimeoutCause(ctx, within, errDeadline)
	defer cancel()
	ex, resp := s.start(ctx, call, "application/json", within) //nolint:bodyclose // readBody closes it
	if resp != nil {
		s.readBody(ctx, &ex, resp, within)
	}
	return ex
}

// Open makes one exchange whose answer may be an event stream. The call's timeout bounds the wait for the headers, and
// for the body of any other answer; an open stream lasts until it ends, its body is closed or the context is done.
func (s *Session) Open(ctx context.Context, call Call) Opened {
	for left := call.Patience; ; {
		o := s.openOnce(ctx, call)
		if o.Body != nil || !s.putOff(ctx, o.Exchange, &left) {
			return o
		}
	}
}

func (s *Session) openOnce(ctx context.Context, call Call) Opened {
	within := s.within(call)
	ctx, cancel := context.WithCancelCause(ctx)
	deadline := time.AfterFunc(within, func() { cancel(errDeadline) })
	ex, resp := s.start(ctx, call, eventStream, within)
	if resp == nil {
		deadline.Stop()
		cancel(nil)
		return Opened{Exchange: ex}
	}
	if (observe.Stream{Exchange: ex}).Opened() && deadline.Stop() {
		body, err := decoded(resp)
		if err == nil {
			return Opened{Exchange: ex, Body: &openBody{Reader: body, closer: resp.Body, cancel: cancel}}
		}
		ex.Failure = s.Classify(ctx, err, within)
		_ = resp.Body.Close()
		cancel(nil)
		return Opened{Exchange: ex}
	}
	s.readBody(ctx, &ex, resp, within)
	deadline.Stop()
	cancel(nil)
	return Opened{Exchange: ex}
}

// openBody ends the request's context with the body, so that nothing of the connection outlives its reader.
type openBody struct {
	io.Reader
	closer io.Closer
	cancel context.CancelCauseFunc
}

func (b *openBody) Close() error {
	b.cancel(nil)
	return b.closer.Close()
}

func (s *Session) within(call Call) time.Duration {
	if call.Timeout > 0 {
		return call.Timeout
	}
	return s.client.timeout
}

// putOff waits as long as a 429 asks for, out of what patience is left. It says false where the answer is another, or where
// nobody is to wait.
func (s *Session) putOff(ctx context.Context, ex observe.Exchange, left *time.Duration) bool {
	wait, is := PutOff(ex)
	if !is || wait > *left || !s.Sleep(ctx, wait) {
		return false
	}
	*left -= wait
	return true
}

// start sends the request and records all but the body. The response is nil where the exchange has a failure.
func (s *Session) start(ctx context.Context, call Call, accept string, within time.Duration) (observe.Exchange, *http.Response) {
	ex := observe.Exchange{Label: call.Label, Credential: call.Credential, SentAt: s.Now()}
	req, err := s.client.request(ctx, call, accept)
	if req != nil {
		ex.Request = s.client.recordRequest(req, call)
	}
	if err != nil {
		ex.Failure = &observe.Failure{Kind: observe.FailMalformed, Text: s.client.redactString("the suite cannot send this request: " + err.Error())}
		ex.AnsweredAt = s.Now()
		return ex, nil
	}
	ex.SentAt = s.Now()
	resp, err := s.client.http.Do(req)
	for tries := 0; tries < mostUnsent && wasNotSent(err); tries++ {
		if req, err = s.client.request(ctx, call, accept); err == nil {
			ex.SentAt = s.Now()
			resp, err = s.client.http.Do(req)
		}
	}
	ex.AnsweredAt = s.Now()
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		ex.Failure = s.Classify(ctx, err, within)
		return ex, nil
	}
	ex.Response = s.client.recordResponse(resp)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// What follows is no body, and no deadline of the request's reaches it any more.
		_ = resp.Body.Close()
		ex.Failure = &observe.Failure{Kind: observe.FailMalformed, Text: "the host switched protocols, which nobody had asked for"}
		return ex, nil
	}
	return ex, resp
}

// mostUnsent is how often a request is tried anew that never left.
const mostUnsent = 3

// wasNotSent says whether a request found its HTTP/2 connection closing before anything of it was sent, as where an earlier
// stream was the last of the connection. The library would take another connection, and has nothing to take the body from
// again. It has no name for the error. That of a request which may have been sent is another: forbidRepeat sees to that.
func wasNotSent(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "net/http: cannot rewind body after connection loss")
}

func (s *Session) readBody(ctx context.Context, ex *observe.Exchange, resp *http.Response, within time.Duration) {
	defer func() { _ = resp.Body.Close() }()
	body, err := decoded(resp)
	if err != nil {
		ex.Failure = s.Classify(ctx, err, within)
		return
	}
	limit := min(MaxBody, s.Room())
	content, err := readBounded(body, limit, s.client.secrets.longest)
	content = s.client.Redact(content)
	var large *errTooLarge
	if errors.As(err, &large) {
		content = content[:min(len(content), limit, keptOfLarge)]
		ex.Response.Truncated = true
	}
	s.Grant(len(content))
	if len(content) > 0 {
		ex.Response.Body = content
	}
	ex.Failure = s.Classify(ctx, err, within)
}

// request builds the request. A request that cannot be sent is given with its error, so that it can be recorded.
func (c *Client) request(ctx context.Context, call Call, accept string) (*http.Request, error) {
	target := *c.base
	raw := c.base.EscapedPath() + call.Path
	path, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(call.Path, "/") {
		return nil, errors.New("its path " + strconv.Quote(call.Path) + " is not one")
	}
	target.Path, target.RawPath, target.RawQuery = path, raw, call.Query.Encode()
	method := call.Method
	if method == "" {
		method = http.MethodGet
	}
	req := &http.Request{Method: method, URL: &target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}
	req = req.WithContext(ctx)
	// A stream's connection serves nothing else: what a host sends behind the end of one answer must not be taken for
	// the answer to another request.
	req.Close = accept == eventStream
	set := func(name, value string) { req.Header[name] = []string{value} }
	set("Accept", accept)
	set("Accept-Encoding", "identity")
	set("User-Agent", c.agent)
	if call.Major == 2 {
		set("Openwop-Version", "2.0")
	}
	if call.Body != nil {
		set("Content-Type", "application/json")
		// GetBody stays nil: without it the transport cannot send the body a second time.
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(call.Body)), int64(len(call.Body))
		if len(call.Body) == 0 {
			req.Body = http.NoBody
		}
	}
	for _, h := range c.headers {
		set(h.Name, h.Value)
	}
	replaced := map[string]bool{}
	for _, h := range call.Header {
		name := http.CanonicalHeaderKey(h.Name)
		if !replaced[name] {
			replaced[name] = true
			delete(req.Header, name)
		}
		req.Header[name] = append(req.Header[name], h.Value)
	}
	if call.Credential != observe.CredentialNone {
		key := c.keys[call.Credential]
		if key == "" {
			return req, errors.New("no key was given for credential " + strconv.Quote(call.Credential))
		}
		set("Authorization", "Bearer "+key)
	}
	forbidRepeat(req)
	return req, nil
}

// forbidRepeat hides a request's Idempotency-Key from the transport, which takes the header's presence for leave to repeat the
// request on another connection. It looks for the canonical spelling only; on the wire the case of a name means nothing.
func forbidRepeat(req *http.Request) {
	for canonical, spelled := range map[string]string{"Idempotency-Key": "Idempotency-key", "X-Idempotency-Key": "X-Idempotency-key"} {
		if values, has := req.Header[canonical]; has {
			delete(req.Header, canonical)
			req.Header[spelled] = values
		}
	}
}

func (c *Client) recordRequest(req *http.Request, call Call) observe.Request {
	recorded := observe.Request{Method: req.Method, Target: c.redactString(req.URL.RequestURI()), Headers: c.recordHeaders(req.Header)}
	for i, h := range recorded.Headers {
		switch {
		case h.Name == "Authorization":
			recorded.Headers[i].Value = "Bearer " + observe.Marker(call.Credential)
		case c.hideVals[h.Name]:
			recorded.Headers[i].Value = headerMarker(h.Name)
		}
	}
	if len(call.Body) > 0 {
		recorded.Body = slices.Clone(c.Redact(call.Body))
	}
	return recorded
}

func (c *Client) recordResponse(resp *http.Response) *observe.Response {
	_, reason, _ := strings.Cut(resp.Status, " ")
	return &observe.Response{
		Proto:   resp.Proto,
		Status:  resp.StatusCode,
		Reason:  c.redactString(reason),
		Headers: c.recordHeaders(resp.Header),
	}
}

// recordHeaders gives the lines sorted by name, since the order across names isn't kept by the library.
func (c *Client) recordHeaders(header http.Header) []observe.Header {
	var lines []observe.Header
	for name, values := range header {
		for _, v := range values {
			lines = append(lines, observe.Header{Name: c.secrets.inName(http.CanonicalHeaderKey(name)), Value: c.redactString(v)})
		}
	}
	slices.SortStableFunc(lines, func(a, b observe.Header) int { return strings.Compare(a.Name, b.Name) })
	return lines
}

// IsJSON says whether an answer calls itself JSON: application/json or a type that ends in +json.
func IsJSON(r *observe.Response) bool {
	media, _, err := mime.ParseMediaType(r.Header("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
