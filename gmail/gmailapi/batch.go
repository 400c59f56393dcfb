package gmailapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// batchPath is Google's for the Gmail API, after its root.
	batchPath = "batch/gmail/v1"
	// mostCalls of a batch: Gmail takes 100, and limits the rate of those with more than 50.
	mostCalls = 50
	// batchWait is how long a call waits for others while some are under way.
	batchWait = 2 * time.Millisecond
	// maxBatchBody bounds an answer in memory. Calls beyond it are repeated one by one.
	maxBatchBody = 64 << 20
)

type batchKey struct{}

// inBatch reports whether calls of the method may share a request: small calls, of which many are made at once.
func (m Method) inBatch() bool { return m == MethodGetMessage || m == MethodModifyMessage }

// A batcher sends concurrent calls in one request, a batch of Gmail's, which answers each call separately. To the
// callers, and in units, they are still single calls. A single call is sent as it is, and so are all calls if the
// server does not support batches.
type batcher struct {
	next  http.RoundTripper
	url   string
	group interface{ add(c *batchCall) }
	none  atomic.Bool // the server knows no batches
}

// googleRoot is where Google serves the Gmail API.
const googleRoot = "https://gmail.googleapis.com/"

// batchRoot is the root of an endpoint, empty for Google's. An endpoint below another path has no batches that the
// paths of the calls would be right for.
func batchRoot(endpoint string) (root string, ok bool) {
	if endpoint == "" {
		return googleRoot, true
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return "", false
	}
	return u.Scheme + "://" + u.Host + "/", true
}

// batched returns the client with its calls in batches, for an API below root.
func batched(client *http.Client, root string) *http.Client {
	b := &batcher{next: client.Transport, url: root + batchPath}
	if b.next == nil {
		b.next = http.DefaultTransport
	}
	b.group = newGathering(mostCalls, batchWait, b.run)
	with := *client
	with.Transport = b
	return &with
}

// A batchCall is one call that may go with others.
type batchCall struct {
	request *http.Request
	body    []byte
	answer  chan batchAnswer // has room for it
	over    chan struct{}    // closed when the caller waits no more
}

// A batchAnswer says by neither a response nor an error that the call is to be sent alone.
type batchAnswer struct {
	response *http.Response
	err      error
}

// RoundTrip implements [http.RoundTripper].
func (b *batcher) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.none.Load() || r.Context().Value(batchKey{}) == nil {
		return b.next.RoundTrip(r)
	}
	c := &batchCall{request: r, answer: make(chan batchAnswer, 1), over: make(chan struct{})}
	defer close(c.over)
	if err := c.readBody(); err != nil {
		return nil, err
	}
	b.group.add(c)
	select {
	case a := <-c.answer:
		if a.response == nil && a.err == nil {
			return b.next.RoundTrip(c.again())
		}
		return a.response, a.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (c *batchCall) readBody() (err error) {
	if c.request.Body == nil {
		return nil
	}
	c.body, err = io.ReadAll(c.request.Body)
	return errors.Join(err, c.request.Body.Close())
}

// again is the request with its body not read.
func (c *batchCall) again() *http.Request {
	if c.body == nil {
		return c.request
	}
	r := c.request.Clone(c.request.Context())
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	return r
}

// run sends the collected calls, and returns when they are answered.
func (b *batcher) run(calls []*batchCall) {
	if len(calls) == 1 {
		calls[0].answer <- batchAnswer{}
		<-calls[0].over
		return
	}
	ctx, cancel := forAll(calls)
	defer cancel()
	response, err := b.send(ctx, calls)
	if err != nil {
		for _, c := range calls {
			c.answer <- batchAnswer{err: err}
		}
		return
	}
	defer response.Body.Close()
	b.share(response, calls)
}

// forAll returns a context that ends when no caller waits any more.
func forAll(calls []*batchCall) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(calls[0].request.Context()))
	var waiting atomic.Int64
	waiting.Store(int64(len(calls)))
	for _, c := range calls {
		context.AfterFunc(c.request.Context(), func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, cancel
}

func (b *batcher) send(ctx context.Context, calls []*batchCall) (*http.Response, error) {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for i, c := range calls {
		fmt.Fprintf(&body, "--%s\r\nContent-Type: application/http\r\nContent-ID: <%d>\r\n\r\n", parts.Boundary(), i)
		fmt.Fprintf(&body, "%s %s\r\n", c.request.Method, c.request.URL.RequestURI())
		if c.body != nil {
			fmt.Fprintf(&body, "Content-Type: %s\r\nContent-Length: %d\r\n", c.request.Header.Get("Content-Type"), len(c.body))
		}
		fmt.Fprintf(&body, "\r\n%s\r\n", c.body)
	}
	fmt.Fprintf(&body, "--%s--\r\n", parts.Boundary())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(body.Bytes()))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"User-Agent", "X-Goog-Api-Client"} {
		request.Header[name] = calls[0].request.Header[name]
	}
	request.Header.Set("Content-Type", "multipart/mixed; boundary="+parts.Boundary())
	return b.next.RoundTrip(request)
}

// share gives each call its part of the answer.
func (b *batcher) share(response *http.Response, calls []*batchCall) {
	kind, params, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		refuse(response, calls)
		return
	case status != http.StatusOK || err != nil || !strings.HasPrefix(kind, "multipart/"):
		// If the batch fails, each call finds out its own error.
		b.none.Store(status == http.StatusOK || noBatches(status) || b.none.Load())
		for _, c := range calls {
			c.answer <- batchAnswer{}
		}
		return
	}
	left := make(map[int]*batchCall, len(calls))
	for i, c := range calls {
		left[i] = c
	}
	err = eachPart(multipart.NewReader(io.LimitReader(response.Body, maxBatchBody), params["boundary"]),
		func(id int, part *http.Response) {
			c := left[id]
			if c == nil {
				return
			}
			delete(left, id)
			if part.StatusCode == http.StatusUnauthorized {
				part = nil // the transport renews its token for a call that is sent alone
			}
			c.answer <- batchAnswer{response: part}
		})
	for _, c := range left {
		c.answer <- unanswered(c, err)
	}
}

// unanswered returns the answer for a call that has no part in the response. A call that only reads is sent alone;
// the effect of any other is unknown.
func unanswered(c *batchCall, err error) batchAnswer {
	if c.request.Method == http.MethodGet {
		return batchAnswer{}
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return batchAnswer{err: err}
}

// noBatches reports whether a status says that the server knows no batches.
func noBatches(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed ||
		status == http.StatusNotImplemented
}

// refuse answers all calls with the refusal of their batch.
func refuse(response *http.Response, calls []*batchCall) {
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	for _, c := range calls {
		if err != nil {
			c.answer <- batchAnswer{err: err}
			continue
		}
		own := *response
		own.Request, own.Body = c.request, io.NopCloser(bytes.NewReader(body))
		c.answer <- batchAnswer{response: &own}
	}
}

// eachPart reads the answers of a batch, each with the number of its call. QUIRK: answers may come in any order, and
// servers write the identifier of the call, after response-, with brackets or without; an answer without one is taken
// in its order.
func eachPart(parts *multipart.Reader, fn func(id int, answer *http.Response)) error {
	var reader *bufio.Reader
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if reader == nil {
			reader = bufio.NewReader(part)
		} else {
			reader.Reset(part)
		}
		answer, err := http.ReadResponse(reader, nil) //nolint:bodyclose // it is the part's, and read to its end
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		answer.Body = io.NopCloser(bytes.NewReader(body))
		fn(partID(part.Header.Get("Content-ID"), n), answer)
	}
}

func partID(header string, position int) int {
	id, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(header, "<>"), "response-"))
	if err != nil {
		return position
	}
	return id
}
