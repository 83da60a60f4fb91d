package client

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
)

// decoded gives the content behind the Content-Encoding of an answer. The suite asks for none, but a host or a proxy may
// encode all the same. Reading may give *errEncoding.
func decoded(resp *http.Response) (io.Reader, error) {
	var body io.Reader = resp.Body
	encodings := strings.Split(strings.Join(resp.Header.Values("Content-Encoding"), ","), ",")
	const mostLayers = 2
	layers := 0
	for i := len(encodings) - 1; i >= 0; i-- {
		name := strings.ToLower(strings.TrimSpace(encodings[i]))
		switch name {
		case "", "identity":
			continue
		case "gzip", "x-gzip", "deflate":
			body = &decoder{source: bufio.NewReader(body), encoding: name}
		default:
			return nil, &errEncoding{encoding: name}
		}
		if layers++; layers > mostLayers {
			return nil, &errEncoding{encoding: strings.Join(encodings, ",")}
		}
	}
	return body, nil
}

// decoder opens its format at the first read, since opening reads and a body may be empty.
type decoder struct {
	source   *bufio.Reader
	encoding string
	reader   io.Reader
	err      error
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.reader == nil {
		if _, err := d.source.Peek(1); err != nil {
			d.err = err // an empty body, or the failure that the connection had
			return 0, err
		}
		reader, err := d.open()
		if err != nil {
			d.err = d.wrap(err)
			return 0, d.err
		}
		d.reader = reader
	}
	n, err := d.reader.Read(p)
	if err != nil {
		d.err = d.wrap(err)
	}
	return n, d.err
}

func (d *decoder) open() (io.Reader, error) {
	if d.encoding != "deflate" {
		return gzip.NewReader(d.source)
	}
	// RFC 9110 §8.4.1.2 means the zlib format; some servers send the bare deflate data.
	if head, err := d.source.Peek(2); err == nil && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(d.source)
	}
	return flate.NewReader(d.source), nil
}

// wrap marks the errors that are the format's own. Those of the connection below pass as they are.
func (d *decoder) wrap(err error) error {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	if errors.As(err, &corrupt) || errors.As(err, &internal) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary) {
		return &errEncoding{encoding: d.encoding, cause: err}
	}
	return err
}

// readBounded reads up to limit bytes. More than that is *errTooLarge, with the bytes up to the limit and `slack` more, so
// that a secret standing across the limit is still seen whole. What came before another error is given with it.
func readBounded(r io.Reader, limit, slack int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(limit+slack+1)))
	if len(body) > limit {
		return body, &errTooLarge{what: "a body", limit: int64(limit)}
	}
	return body, err
}
