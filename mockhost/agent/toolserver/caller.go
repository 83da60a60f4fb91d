package toolserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

const (
	// answerLimit bounds what is read of a tool's answer, in bytes.
	answerLimit = 1 << 20
	// messageLimit bounds what is kept of a tool's own words, in bytes.
	messageLimit = 2000
	// longestPause bounds the pause that a tool may ask for.
	longestPause = 24 * time.Hour
)

// Caller calls tools over HTTP. It implements parts.ToolCaller.
type Caller struct {
	url     string
	timeout time.Duration
	client  *http.Client
}

var _ parts.ToolCaller = (*Caller)(nil)

// errSilent ends a call of a tool that takes longer than it said, or than a caller waits.
var errSilent = errors.New("the tool is silent")

// NewCaller makes a caller of the tools at the URL, who gives up on a call after timeout, in real time, or sooner where the
// tool has said in an interim answer (103) that it answers within less: AnswersHeader.
func NewCaller(base string, timeout time.Duration) *Caller {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second}
	return &Caller{url: strings.TrimSuffix(base, "/"), timeout: timeout, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets go of the idle connections.
func (c *Caller) Close() { c.client.CloseIdleConnections() }

// Call implements parts.ToolCaller. The error is the end of ctx, or a call that can't be written down.
func (c *Caller) Call(ctx context.Context, call parts.ToolCall) (*parts.ToolError, error) {
	within, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	patience := time.AfterFunc(c.timeout, func() { giveUp(errSilent) })
	defer patience.Stop()
	waits := c.timeout
	within = httptrace.WithClientTrace(within, &httptrace.ClientTrace{Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
		if said, err := time.ParseDuration(header.Get(AnswersHeader)); err == nil && said > 0 && said < waits {
			waits = said
			patience.Reset(said)
		}
		return nil
	}})
	where := c.url + "/" + url.PathEscape(call.Tenant) + "/" + url.PathEscape(call.Tool)
	req, err := http.NewRequestWithContext(within, http.MethodPost, where, bytes.NewReader(call.Args))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", call.Tool, err)
	}
	// Without it the transport would repeat a call by itself, on a connection that broke, because it has a key: an attempt
	// that nobody counted.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(KeyHeader, call.IdempotencyKey())
	req.Header.Set(attemptHeader, strconv.Itoa(call.Attempt))
	if call.Trace != "" {
		req.Header.Set("Traceparent", call.Trace)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return silence(ctx, within)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	if err != nil && within.Err() != nil {
		return silence(ctx, within)
	}
	if resp.StatusCode == http.StatusOK {
		return read(text, err), nil
	}
	return refusal(resp, text), nil
}

// silence is the error of a call that wasn't answered.
func silence(ctx, within context.Context) (*parts.ToolError, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(context.Cause(within), errSilent):
		return &parts.ToolError{Kind: parts.ToolTimeout, Message: "the tool didn't answer in time"}, nil
	}
	// The transport's own words name an address of this host, which is nobody's business.
	return &parts.ToolError{Kind: parts.Unreachable, Message: "the tool can't be reached"}, nil
}

// read is nil for an answer that can be read: one JSON object.
func read(text []byte, err error) *parts.ToolError {
	var object map[string]json.RawMessage
	switch {
	case err != nil:
		err = errors.New("the answer was cut off")
	case len(text) > answerLimit:
		err = fmt.Errorf("the answer is longer than %d bytes", answerLimit)
	default:
		if err = json.Unmarshal(text, &object); err == nil && object == nil {
			err = errors.New("the answer is null")
		}
	}
	if err == nil {
		return nil
	}
	status := http.StatusOK
	return &parts.ToolError{Kind: parts.MalformedAnswer, Status: &status, Message: fmt.Sprintf("%v: %s", err, words(text))}
}

// kindOf is the kind of error that a status stands for.
func kindOf(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return parts.Unauthorized
	case http.StatusNotFound, http.StatusGone:
		return parts.Gone
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return parts.ToolTimeout
	case http.StatusUnprocessableEntity:
		return parts.SemanticError
	case http.StatusLocked, http.StatusConflict:
		return parts.Locked
	case http.StatusTooManyRequests:
		return parts.RateLimited
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return parts.BadRequest
	}
	if status >= http.StatusInternalServerError {
		return parts.ServerError
	}
	return parts.MalformedAnswer // neither a result nor an error
}

func refusal(resp *http.Response, text []byte) *parts.ToolError {
	e := &parts.ToolError{Kind: kindOf(resp.StatusCode), Status: &resp.StatusCode, Message: words(text)}
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &said) == nil && said.Error != "" {
		e.Message = words([]byte(said.Error))
	}
	if e.Kind == parts.RateLimited {
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			e.RetryAfter = min(time.Duration(min(seconds, int(longestPause/time.Second)))*time.Second, longestPause)
		}
	}
	return e
}

// words is what a tool said, short enough to keep. It isn't cut in the middle of a word: half an address would pass
// the redaction.
func words(text []byte) string {
	if len(text) > messageLimit {
		text = bytes.TrimRightFunc(text[:messageLimit], func(r rune) bool { return !strings.ContainsRune(" \t\n,;\"'<>()[]{}", r) })
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}
