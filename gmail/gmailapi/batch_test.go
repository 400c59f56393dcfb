package gmailapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// byHand makes calls go n by n together.
type byHand struct {
	n   int
	run func([]*batchCall)

	mu      sync.Mutex
	waiting []*batchCall
}

func (b *byHand) add(c *batchCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting = append(b.waiting, c); len(b.waiting) == b.n {
		go b.run(b.waiting)
		b.waiting = nil
	}
}

// batching returns a client whose calls go n by n together, and the paths of the requests that it sends.
func (w *world) batching(n int) (c *Client, sent func() []string) {
	w.t.Helper()
	client := batched(authorized(w), w.server.URL())
	b := client.Transport.(*batcher)
	b.group = &byHand{n: n, run: b.run}
	service, err := api.NewService(w.t.Context(), option.WithHTTPClient(client), option.WithEndpoint(w.server.URL()))
	require.NoError(w.t, err)
	var mu sync.Mutex
	var paths []string
	w.wire.before = func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.Method+" "+r.URL.Path)
	}
	return &Client{service: service, user: "me", timeout: time.Minute}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return paths
	}
}

// atOnce runs the functions at the same time and returns their errors.
func atOnce(fns ...func() error) []error {
	errs := make([]error, len(fns))
	var all sync.WaitGroup
	for i, fn := range fns {
		all.Go(func() { errs[i] = fn() })
	}
	all.Wait()
	return errs
}

func reads(c *Client, id string) func() error {
	return func() error {
		m, err := c.GetRaw(context.Background(), id)
		if err == nil && m.ID != id {
			err = errors.New("the answer is about " + m.ID)
		}
		return err
	}
}

func stars(c *Client, id string) func() error {
	return func() error {
		image, err := c.Modify(context.Background(), id, add(postroom.LabelStarred))
		if err == nil && !image.Has(postroom.LabelStarred) {
			err = errors.New("the answer is about another message")
		}
		return err
	}
}

const batchRequest = "POST /" + batchPath

func TestCallsMadeAtOnceAreOneBatch(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.arrive(plainMail), w.arrive(plainMail, postroom.LabelInbox), w.arrive(plainMail)
	c, sent := w.batching(4)
	errs := atOnce(reads(c, first), reads(c, second), reads(c, "00000000000000ff"), stars(c, third))
	require.NoError(t, errors.Join(errs[0], errs[1], errs[3]))
	require.ErrorIs(t, errs[2], postroom.ErrMessageGone, "each part has its own answer")
	require.Equal(t, []string{batchRequest}, sent())
	message, err := w.server.Message(t.Context(), third)
	require.NoError(t, err)
	require.Contains(t, message.Labels, postroom.LabelStarred)
}

func TestACallAloneIsSentAsItIs(t *testing.T) {
	w := newWorld(t)
	id := w.arrive(plainMail)
	c, sent := w.batching(1)
	require.NoError(t, stars(c, id)())
	_, err := c.ListLabels(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"POST /gmail/v1/users/me/messages/" + id + "/modify", "GET /gmail/v1/users/me/labels"},
		sent())
}

// A server of the API need not know batches.
func TestAServerWithoutBatches(t *testing.T) {
	w := newWorld(t)
	w.wire.after = func(r *http.Request, answer *http.Response) {
		if r.URL.Path == "/"+batchPath {
			answer.StatusCode = http.StatusNotFound
			setBody(answer, "there is no such page")
		}
	}
	first, second := w.arrive(plainMail), w.arrive(plainMail)
	c, sent := w.batching(2)
	require.NoError(t, errors.Join(atOnce(reads(c, first), stars(c, second))...))
	require.Len(t, sent(), 3)
	require.NoError(t, errors.Join(atOnce(reads(c, first), stars(c, second))...))
	require.Len(t, sent(), 5, "it is not asked again")
}

func TestABatchThatIsRefusedIsNotRepeated(t *testing.T) {
	w := newWorld(t)
	w.wire.after = func(_ *http.Request, answer *http.Response) {
		answer.StatusCode = http.StatusTooManyRequests
		answer.Header.Set("Retry-After", "7")
		setBody(answer, "{}")
	}
	c, sent := w.batching(2)
	for _, err := range atOnce(reads(c, "a"), stars(c, "b")) {
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, ClassRateLimited, e.Class)
		require.Equal(t, 7*time.Second, e.RetryAfter)
	}
	require.Len(t, sent(), 1)
}

// What only reads is asked again; whether a change was made is not known.
func TestABatchIsCutShort(t *testing.T) {
	w := newWorld(t)
	w.wire.after = func(r *http.Request, answer *http.Response) {
		if r.URL.Path == "/"+batchPath {
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			setBody(answer, string(body[:20]))
		}
	}
	first, second := w.arrive(plainMail), w.arrive(plainMail)
	c, _ := w.batching(2)
	errs := atOnce(reads(c, first), stars(c, second))
	require.NoError(t, errs[0])
	require.Equal(t, ClassNetwork, ClassOf(errs[1]))
}

// A token that has expired is renewed for calls that are sent by themselves.
func TestAPartThatIsNotAuthorizedIsSentAlone(t *testing.T) {
	w := newWorld(t)
	first, second := w.arrive(plainMail), w.arrive(plainMail)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Status: http.StatusUnauthorized, Times: 1})
	c, sent := w.batching(2)
	require.NoError(t, errors.Join(atOnce(reads(c, first), reads(c, second))...))
	require.Len(t, sent(), 2)
}

func TestAServerThatIsGone(t *testing.T) {
	w := newWorld(t)
	c, _ := w.batching(2)
	require.NoError(t, w.server.Close())
	for _, err := range atOnce(reads(c, "a"), stars(c, "b")) {
		require.Equal(t, ClassNetwork, ClassOf(err))
	}
}

func TestBatchRoot(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "https://gmail.googleapis.com/", "http://127.0.0.1:8025": "http://127.0.0.1:8025/", "https://mail.test/": "https://mail.test/",
		"https://mail.test/api/": "", "mail.test": "", "://": "",
	} {
		root, ok := batchRoot(endpoint)
		require.Equal(t, want, root, endpoint)
		require.Equal(t, want != "", ok, endpoint)
	}
}

// FuzzBatchAnswer reads whatever a server may answer: each call is answered once.
func FuzzBatchAnswer(f *testing.F) {
	const part = "--b\r\nContent-Type: application/http\r\nContent-ID: response-1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n"
	f.Add("multipart/mixed; boundary=b", part+"--b--\r\n")
	f.Add("multipart/mixed; boundary=b", part+part+"--b--\r\n")
	f.Add("multipart/mixed; boundary=b", part)
	f.Add("multipart/mixed; boundary=b",
		"--b\r\n\r\nHTTP/1.1 401 No\r\n\r\n--b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}\r\n--b--")
	f.Add("text/html", "<html>")
	f.Add("multipart/mixed", part)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		calls := make([]*batchCall, 3)
		for i := range calls {
			r, err := http.NewRequestWithContext(t.Context(), []string{http.MethodGet, http.MethodPost}[i%2],
				"http://mail.test/", nil)
			require.NoError(t, err)
			calls[i] = &batchCall{request: r, answer: make(chan batchAnswer, 1)}
		}
		new(batcher).share(&http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}},
			Body: io.NopCloser(strings.NewReader(body)),
		}, calls)
		for _, c := range calls {
			require.Len(t, c.answer, 1)
		}
	})
}
