package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/verify"
)

// Limits on a discovery document that is fetched for its keys.
const (
	discoveryLimit = 8 << 20
	discoveryWait  = 15 * time.Second
	discoveryPath  = "/.well-known/openwop"
)

// readDiscovery reads a discovery document from a file or an address. That a host serves none is an outcome of the
// verification; that a file cannot be read is an error of the command line.
func readDiscovery(ctx context.Context, from string) (*verify.Document, error) {
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		body, err := fetchDiscovery(ctx, from)
		if err != nil {
			return &verify.Document{Problem: err.Error()}, nil
		}
		return &verify.Document{Body: body}, nil
	}
	body, err := readFile(from)
	if err != nil {
		return nil, fmt.Errorf("--discovery: %w", err)
	}
	return &verify.Document{Body: body}, nil
}

// fetchDiscovery asks a host without any credential and follows no redirect: the answer must be the host's own.
func fetchDiscovery(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = discoveryPath
	}
	ctx, cancel := context.WithTimeout(ctx, discoveryWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, discoveryLimit+1))
	switch err := errors.Join(err, answer.Body.Close()); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", u, err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answered %d", u, answer.StatusCode)
	case len(body) > discoveryLimit:
		return nil, fmt.Errorf("%s answered with more than %d bytes", u, discoveryLimit)
	}
	return body, nil
}
