package outbox_test

import (
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/queue"
)

// lostAnswers loses the answer to the first request that completes an upload, and answers those that repeat it by then.
type lostAnswers struct {
	next http.RoundTripper
	lost int
	then func(r *http.Request) (*http.Response, error)
}

func (l *lostAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	completes := strings.Contains(r.URL.RawQuery, "upload_id=") && !strings.HasSuffix(r.Header.Get("Content-Range"), "/*")
	if completes && l.lost == 1 {
		l.lost++
		return l.then(r)
	}
	answer, err := l.next.RoundTrip(r)
	if err == nil && completes && l.lost == 0 {
		l.lost++
		_ = answer.Body.Close()
		return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	return answer, err
}

// A large message is sent in several requests, of which the last is repeated when its answer is lost. Whatever
// becomes of the repetition says nothing of the first.
func TestALargeMessageIsSentOnce(t *testing.T) {
	repetitions := map[string]func(r *http.Request) (*http.Response, error){
		"no connection": func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
		},
		"an expired token": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		},
	}
	for name, then := range repetitions {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
			message, _ := w.letter(worldtest.Question)
			lost := &lostAnswers{next: w.wire.Next, then: then}
			w.wire.Next = lost
			w.t.Cleanup(func() { w.wire.Next = lost.next })
			a, job := w.carryOut(worldtest.Reply(message, strings.Repeat("Yes, with pleasure.\n", largestRequest/20+1)))
			require.Equal(t, 2, lost.lost, "the last request was repeated")
			require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			got, _ := ann.Got()
			require.Len(t, got, 1)
			require.Equal(t, 1, job.Failures)
		})
	}
}

// largestRequest is the size up to which a client sends a message in one request.
const largestRequest = 4 << 20
