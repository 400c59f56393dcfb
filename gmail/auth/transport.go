package auth

import (
	"io"
	"net/http"

	"golang.org/x/oauth2"
)

// HTTPClient returns a client whose requests carry access tokens of the source. A request that is answered with 401 is sent once
// more with a new token, if it has no body or its GetBody is set, as it is in requests of [http.NewRequest] and of Google's
// libraries. The answer to that is final: a 401 is returned as it is. The client follows no redirects, which would take the
// token to another server.
func (s *Source) HTTPClient() *http.Client {
	return &http.Client{
		Transport:     transport{s},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A transport puts access tokens on requests.
type transport struct{ source *Source }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.source.Token(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper closes it, also on errors
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
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // read to its end, the connection can be used again
	_ = answer.Body.Close()                          // what it says is that a token is needed
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

// authorized is the request with the token: a RoundTripper does not change its request.
func authorized(r *http.Request, token *oauth2.Token) *http.Request {
	r = r.Clone(r.Context())
	token.SetAuthHeader(r)
	return r
}

// replay is the request to be sent a second time; it reports whether that can be done.
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
