package queuetest

import (
	"context"
	"io"
	"net/http"
)

// Outside marks a call to the outside world. A fake of the outside world wraps its effect in Outside, with the
// handler's context.
//
//	func (o *office) Send(ctx context.Context, letter string) error {
//		return queuetest.Outside(ctx, "send", func() error {
//			o.sent = append(o.sent, letter)
//			return nil
//		})
//	}
//
// Under [CrashEverywhere] the process dies once before the call, so that it is never made, and once after it, so that
// it took effect and its answer is not seen. Otherwise Outside just makes the call. The caller must not hold a lock, a
// transaction or open rows: a process that dies there never releases them, and the test waits forever.
func Outside(ctx context.Context, name string, call func() error) error {
	if p := processOf(ctx); p != nil {
		return p.outside(name, call)
	}
	return call()
}

// Transport marks each request of an HTTP client as an [Outside] call, named by its method and path. A nil base is
// [http.DefaultTransport].
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{base: base}
}

type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	// The zombie's request is not made, but http.RoundTripper requires that its body is closed.
	body := req.Body
	var resp *http.Response
	err := Outside(req.Context(), req.Method+" "+req.URL.Path, func() (err error) {
		body = nil
		resp, err = t.base.RoundTrip(req) //nolint:bodyclose // the caller closes it
		return err
	})
	if closeErr := closeUnused(body); err == nil {
		err = closeErr
	}
	return resp, err
}

func closeUnused(body io.Closer) error {
	if body == nil {
		return nil
	}
	return body.Close()
}
