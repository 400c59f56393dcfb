package worldtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// A Wire calls before each request and after each answer, so that a test can do something right then.
type Wire struct {
	Next   http.RoundTripper
	Before func(*http.Request)
	After  func(*http.Request, *http.Response)
	Failed func(*http.Request, error)
}

// SetBody replaces the body of an answer.
func SetBody(answer *http.Response, body string) {
	_ = answer.Body.Close()
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// RoundTrip implements [http.RoundTripper].
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.Before != nil {
		w.Before(r)
	}
	answer, err := w.Next.RoundTrip(r)
	switch {
	case err == nil && w.After != nil:
		w.After(r, answer)
	case err != nil && w.Failed != nil:
		w.Failed(r, err)
	}
	return answer, err
}

// HideFromSearch answers a search for a Message-ID as Gmail does before it has indexed the message.
func HideFromSearch(r *http.Request, answer *http.Response) {
	if strings.Contains(r.URL.Query().Get("q"), "rfc822msgid:") {
		SetBody(answer, `{"resultSizeEstimate":0}`)
	}
}
