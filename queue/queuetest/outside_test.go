package queuetest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

type clientHandler = func(ctx context.Context, w *queue.Work[int], url string, client *http.Client) error

// postOffice is reached over HTTP: what is POSTed is sent each time, what is PUT once.
func postOffice(handle clientHandler) func(testing.TB, *queue.Queue) queuetest.Scenario {
	return func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		var mu sync.Mutex
		var sent []string
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(rw, err.Error(), http.StatusBadRequest)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if letter := string(body); r.Method == http.MethodPost || !slices.Contains(sent, letter) {
				sent = append(sent, letter)
			}
		}))
		t.Cleanup(server.Close)
		_, err := q.Enqueue(t.Context(), count.New(1, nil))
		require.NoError(t, err)
		client := &http.Client{Transport: queuetest.Transport(server.Client().Transport)}
		return queuetest.Scenario{
			Register: counting(func(ctx context.Context, w *queue.Work[int]) error {
				return handle(ctx, w, server.URL+"/letter", client)
			}),
			Outside: func() []string {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(sent)
			},
		}
	}
}

func TestTransportMarksRequests(t *testing.T) {
	got := failures(t, postOffice(func(ctx context.Context, _ *queue.Work[int], url string, client *http.Client) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("hello"))
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}))
	require.Equal(t, []string{
		"dead: job 1 (count), attempt 1, after the outside call POST /letter, before its answer is seen: outside: too much: hello",
		"dead: job 1 (count), attempt 1, before the commit that completes the job: outside: too much: hello",
	}, summaries(got))
}

func TestOutsideJustCallsElsewhere(t *testing.T) {
	called := false
	err := queuetest.Outside(t.Context(), "call", func() error {
		called = true
		return errBusy
	})
	require.ErrorIs(t, err, errBusy)
	require.True(t, called)
}

// A zombie whose call is refused learns why, and the request's body is closed as ever.
func TestAZombieReachesNobody(t *testing.T) {
	var refused []error
	queuetest.CrashEverywhere(t, postOffice(func(ctx context.Context, w *queue.Work[int], url string,
		client *http.Client) error {
		if err := w.StartStep(ctx, "send"); err != nil {
			return err
		}
		body := &closing{Reader: strings.NewReader("hello")}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, body)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			refused = append(refused, err)
			assert.True(t, body.closed)
			return err
		}
		return resp.Body.Close()
	}))
	require.Len(t, refused, 2, "one that wakes after the start of the step, and one that wakes before the call")
	for _, err := range refused {
		require.ErrorIs(t, err, queue.ErrLeaseLost)
	}
}

type closing struct {
	io.Reader

	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}
