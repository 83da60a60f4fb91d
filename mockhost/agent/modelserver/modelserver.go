// Package modelserver asks a model server one question over HTTP: JSON in, JSON out.
//
// It never trusts the server: an answer is bounded in time and size, isn't followed elsewhere, and is one closed JSON
// object. Start at Server.Ask; packages model, classify and repair say what is asked.
package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	// defaultTimeout bounds one question, in real time.
	defaultTimeout = 30 * time.Second
	// answerLimit bounds an answer, in bytes.
	answerLimit = 1 << 20
	// quoteLimit bounds what an error quotes of an answer, in bytes.
	quoteLimit = 200
)

// Server is where a model server listens.
type Server struct {
	// URL takes a POST with a JSON body.
	URL string
	// Timeout bounds one question; 0 for 30 seconds.
	Timeout time.Duration
	// Key is sent as a bearer token; "" for none. No error shows it.
	Key string
}

// Refused is the error of an answer that isn't a success.
type Refused struct {
	URL    string
	Status int
	Says   string // how the body begins
	// RetryAfter is the pause that the server asked for; 0 for none.
	RetryAfter time.Duration
}

func (e *Refused) Error() string {
	return fmt.Sprintf("the model server at %s answered %d, want 200: %q", e.URL, e.Status, e.Says)
}

// Busy reports whether the server said that it may answer later.
func (e *Refused) Busy() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// Away reports whether an error of Ask is of a server that may answer the same question later, because it said that it is busy,
// couldn't be reached, or was silent; pause is what it asked for, 0 for nothing.
func Away(err error) (pause time.Duration, away bool) {
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.RetryAfter, refused.Busy()
	}
	return 0, errors.Is(err, errAway)
}

// errAway is in the chain of an error of a server that didn't answer, or not to the end.
var errAway = errors.New("it may answer later")

// longestPause bounds the pause that a server may ask for.
const longestPause = 24 * time.Hour

// pauseOf reads a Retry-After in seconds.
func pauseOf(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return 0
	}
	return time.Duration(min(seconds, int(longestPause/time.Second))) * time.Second
}

// Ask posts the question and reads the answer into answer, whose members are all that it may have.
func (s Server) Ask(ctx context.Context, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("put a question to the model server: %w", err)
	}
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the model server's address: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := client().Do(req)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the model server at %s didn't answer within %s; raise its timeout or give it less to do: %w; %w", s.URL, timeout, err, errAway)
		}
		return fmt.Errorf("the model server can't be reached: %w; %w", err, errAway)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return fmt.Errorf("the model server at %s stopped in the middle of its answer: %w; %w", s.URL, err, errAway)
	case resp.StatusCode != http.StatusOK:
		return &Refused{s.URL, resp.StatusCode, s.quote(text), pauseOf(resp)}
	case len(text) > answerLimit:
		return fmt.Errorf("the model server at %s answered more than %d bytes", s.URL, answerLimit)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(answer); err != nil {
		return fmt.Errorf("the model server at %s answered %q, which can't be read: %w", s.URL, s.quote(text), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the model server at %s answered more than one JSON value: %q", s.URL, s.quote(text))
	}
	return nil
}

func (s Server) quote(text []byte) string {
	out := string(text)
	if s.Key != "" {
		out = strings.ReplaceAll(out, s.Key, "[redacted-secret]")
	}
	if len(out) > quoteLimit {
		out = out[:quoteLimit]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(out, "\ufffd"))
}

// client follows no redirect, so that the key goes nowhere else.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
