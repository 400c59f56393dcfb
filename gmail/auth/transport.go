package auth

import (
	"io"
	"net/http"

	"golang.org/x/oauth2"
)

// HTTPClient returns a client that adds access tokens of the source to its requests. A request with a 401 response is
// sent once more with a new token, if it has no body or its GetBody is set, as in requests of [http.NewRequest] and
// of Google's libraries. A second 401 is returned to the caller. The client follows no redirects, which would send
// the token to another server.
func (s *Source) HTTPClient() *http.Client {
	return &http.Client{
		Transport:     transport{s},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A transport adds access tokens to requests.
type transport struct{ source *Source }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.source.Token(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper closes it even on errors
		}
		return nil, err
	}
	answer, err := t.source.base.RoundTrip(authorized(r, token))
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return answer, err
	}
	t.source.refuse(token)
	again, ok := replay(r)
	if !ok {
		return answer, nil
	}
	token, err = t.source.Token(r.Context())
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be reused
	_ = answer.Body.Close()                          // it was drained
	if err != nil {
		if again.Body != nil {
			_ = again.Body.Close()
		}
		return nil, err
	}
	answer, err = t.source.base.RoundTrip(authorized(again, token))
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		t.source.refuse(token)
	}
	return answer, err
}

// authorized returns a copy of the request with the token: a RoundTripper must not change its request.
func authorized(r *http.Request, token *oauth2.Token) *http.Request {
	r = r.Clone(r.Context())
	token.SetAuthHeader(r)
	return r
}

// replay returns the request for a second attempt. It reports whether that is possible.
func replay(r *http.Request) (*http.Request, bool) {
	again := r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return again, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	again.Body = body
	return again, err == nil
}
