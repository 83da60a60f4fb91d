package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// errDeadline is the cause of a context that the client's own deadline ended, which tells it from an interrupted run.
var errDeadline = errors.New("no answer within the deadline")

// errTooLarge says that the host sent more than the client reads.
type errTooLarge struct {
	what  string
	limit int64
}

func (e *errTooLarge) Error() string {
	return fmt.Sprintf("the host sent %s of more than %d bytes", e.what, e.limit)
}

// errEncoding says that the content could not be decoded.
type errEncoding struct {
	encoding string
	cause    error
}

func (e *errEncoding) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("the host encoded the content as %q although no encoding was asked for, and it is not one that can be decoded here", e.encoding)
	}
	return fmt.Sprintf("the host said that the content is %s, and it does not decode: %v", e.encoding, e.cause)
}

func (e *errEncoding) Unwrap() error { return e.cause }

// Classify says what an error on the way was, in one line for people. The context is the one the request ran under:
// its cause tells a deadline from an interruption. A nil error has no failure.
func (s *Session) Classify(ctx context.Context, err error, within time.Duration) *observe.Failure {
	if err == nil {
		return nil
	}
	kind, text := classify(ctx, err, within, s.client.base.Host)
	return &observe.Failure{Kind: kind, Text: s.client.redactString(text)}
}

func classify(ctx context.Context, err error, within time.Duration, host string) (observe.FailureKind, string) {
	var large *errTooLarge
	var encoding *errEncoding
	if errors.As(err, &large) {
		return observe.FailTooLarge, large.Error()
	}
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errDeadline) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return observe.FailTimeout, fmt.Sprintf("%s did not answer within %s", host, within)
		}
		return observe.FailCancelled, "the run was interrupted before the answer was there"
	}
	if errors.As(err, &encoding) {
		return observe.FailMalformed, encoding.Error()
	}
	if kind, text, ok := certificateFailure(err, host); ok {
		return kind, text
	}
	return networkFailure(err, host)
}

func certificateFailure(err error, host string) (observe.FailureKind, string, bool) {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var text string
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		text = fmt.Sprintf("the TLS certificate of %s has expired or is not valid yet", host)
	case errors.As(err, &unknown):
		text = fmt.Sprintf("the TLS certificate of %s is signed by an authority that is not trusted here (--ca adds one)", host)
	case errors.As(err, &name):
		text = fmt.Sprintf("the TLS certificate of %s is for another name: %v", host, name)
	case errors.As(err, &invalid), errors.As(err, &verify):
		text = fmt.Sprintf("the TLS certificate of %s is not valid: %v", host, err)
	case errors.As(err, &record):
		text = fmt.Sprintf("%s does not speak TLS on this port (is it http:// rather than https://?)", host)
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		text = fmt.Sprintf("the TLS handshake with %s failed: %v", host, plain(err))
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		text = fmt.Sprintf("%s does not speak TLS on this port (is it http:// rather than https://?)", host)
	default:
		return "", "", false
	}
	return observe.FailTLS, text, true
}

func networkFailure(err error, host string) (observe.FailureKind, string) {
	var dns *net.DNSError
	var timeout net.Error
	var op *net.OpError
	said := err.Error()
	switch {
	case errors.As(err, &dns):
		return observe.FailUnknown, fmt.Sprintf("the name %s does not resolve", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return observe.FailRefused, fmt.Sprintf("nothing listens at %s (connection refused)", host)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return observe.FailTimeout, fmt.Sprintf("%s did not answer in time", host)
	case strings.Contains(said, "response headers exceeded"), strings.Contains(said, "header list larger"):
		return observe.FailTooLarge, fmt.Sprintf("the host sent headers of more than %d bytes", MaxHeaders)
	case strings.Contains(said, "malformed"), strings.Contains(said, "invalid header"), strings.Contains(said, "too many 1xx"),
		strings.Contains(said, "unsupported transfer encoding"), strings.Contains(said, "chunk length"), strings.Contains(said, "chunked"), strings.Contains(said, "bad Content-Length"):
		return observe.FailMalformed, fmt.Sprintf("%s does not answer in HTTP as it should: %v", host, plain(err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return observe.FailReset, fmt.Sprintf("%s ended the connection before the answer was complete", host)
	case errors.As(err, &op) && op.Op == "dial":
		return observe.FailUnknown, fmt.Sprintf("%s cannot be reached: %v", host, op.Err)
	case strings.Contains(said, "server closed"), strings.Contains(said, "connection broken"), strings.Contains(said, "stream error"),
		strings.Contains(said, "GOAWAY"), strings.Contains(said, "client connection"):
		return observe.FailReset, fmt.Sprintf("%s ended the connection before the answer was complete: %v", host, plain(err))
	}
	return observe.FailMalformed, fmt.Sprintf("the exchange with %s failed: %v", host, plain(err))
}

// plain is the innermost wording of a transport error, without the URL that net/http puts around it.
func plain(err error) string {
	text := err.Error()
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		text = inner.Error()
	}
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
