package main

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// request sends one request of the first tenant on a connection of its own, which nobody has been answered on before.
func request(ctx context.Context, method, url, body string, headers ...string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+keyA)
	req.Header.Set("OpenWOP-Version", "2")
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// untilUp asks for discovery until the host answers, or the context ends.
func untilUp(ctx context.Context, url string) error {
	for {
		status, _, err := request(ctx, "GET", url+"/.well-known/openwop", "")
		if status == http.StatusOK || ctx.Err() != nil {
			return err
		}
	}
}
