// Package provider has the common parts of all providers' clients: the HTTP client with its bounds, and the parsing of
// failures and rate limits.
package provider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/postroom-go/postroom/llm"
)

// maxFailure bounds the bytes that are read of a failure's body.
const maxFailure = 64 << 10

// An Exchange is the HTTP response to one call.
type Exchange struct {
	Status int
	Header http.Header
	body   []byte // of a failure
	long   bool   // the body had more bytes than permitted
}

type exchangeKey struct{}

// watch returns a context whose request fills the exchange.
func watch(ctx context.Context) (context.Context, *Exchange) {
	seen := &Exchange{}
	return context.WithValue(ctx, exchangeKey{}, seen), seen
}

// httpClient returns a copy of base that bounds answers, keeps failures and follows no redirect: a redirect would send
// the key and the mail to a host that nobody has configured.
func httpClient(base *http.Client, maxBytes int64) *http.Client {
	client := http.Client{}
	if base != nil {
		client = *base
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = &transport{next: next, maxBytes: maxBytes}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

type transport struct {
	next     http.RoundTripper
	maxBytes int64
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	seen, _ := req.Context().Value(exchangeKey{}).(*Exchange)
	if seen == nil {
		seen = &Exchange{}
	}
	seen.Status, seen.Header = resp.StatusCode, resp.Header
	if resp.StatusCode < 300 {
		resp.Body = &bounded{body: resp.Body, left: t.maxBytes, seen: seen}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			resp.Body = &lineEnds{body: resp.Body}
		}
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	// A body that cannot be read is not needed: the status is enough.
	seen.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	if resp.StatusCode < 400 {
		return nil, fmt.Errorf("status %d: the address answers with a redirect", resp.StatusCode)
	}
	resp.Body = io.NopCloser(strings.NewReader(string(seen.body)))
	return resp, nil
}

// bounded is a body of at most the given number of bytes.
type bounded struct {
	body io.ReadCloser
	left int64
	seen *Exchange
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// One more byte shows whether an answer is too long or just fits.
		var one [1]byte
		n, err := b.body.Read(one[:])
		if n == 0 {
			return 0, err
		}
		b.seen.long = true
		return 0, llm.ErrAnswerTooLong
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
