package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// JobNtfy posts a notice to a topic.
const JobNtfy queue.Type[Notice] = "notify.ntfy"

// NtfyJobs is the [Door] of [Ntfy].
func NtfyJobs(n Notice) []queue.NewJob {
	key := queue.WhileUnfinished(string(JobNtfy) + ":" + string(n.Kind) + ":" + n.Subject)
	return []queue.NewJob{JobNtfy.New(n, &queue.Options{Key: key, MaxAttempts: attempts.Unattended})}
}

// An Ntfy posts notices to a topic of ntfy.sh, or of a server that takes what ntfy takes: the text as the body, and the
// title, the priority and tags as header fields. A server that dies as it answers may get a notice twice.
type Ntfy struct {
	address, token string
	read           Read
	client         *http.Client
}

// ntfyTimeout bounds one attempt.
const ntfyTimeout = 15 * time.Second

// NewNtfy makes a door to a topic, by its address, with an access token if that is not empty. read is called for each
// notice.
func NewNtfy(address, token string, read Read) *Ntfy {
	return &Ntfy{address: address, token: token, read: read, client: &http.Client{Timeout: ntfyTimeout,
		// The token goes to the address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Close closes idle connections.
func (t *Ntfy) Close() { t.client.CloseIdleConnections() }

// Register registers the handler of [JobNtfy].
func (t *Ntfy) Register(d *queue.Dispatcher) {
	queue.Handle(d, JobNtfy, t.post, queue.WithRetry(queue.SlowRetry))
}

// maxNtfy is how long a text may be, in bytes: ntfy makes a file of a longer one.
const maxNtfy = 4000

func (t *Ntfy) post(ctx context.Context, w *queue.Work[Notice]) error {
	n, err := t.read(ctx, w.Payload)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, strings.NewReader(cutBytes(n.Text, maxNtfy)))
	if err != nil {
		return queue.Fatal(errors.New("notify: notify.ntfy_url cannot be used"))
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	// A long title is several encoded words, which are to be on one line.
	r.Header.Set("Title", strings.ReplaceAll(mime.QEncoding.Encode("utf-8", cutBytes(n.Title, 200)), "\r\n", ""))
	r.Header.Set("Tags", cmp.Or(map[Kind]string{GrantDied: "warning", Stopped: "octagonal_sign", RuleDisabled: "warning",
		Drifted: "warning", Waits: "question", Reminded: "alarm_clock"}[n.Kind], "envelope"))
	if !n.Kind.mayWait() {
		r.Header.Set("Priority", "high")
	}
	if t.token != "" {
		r.Header.Set("Authorization", "Bearer "+t.token)
	}
	answer, err := t.client.Do(r)
	if err != nil {
		// The name of a topic is a password, and left out.
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return fmt.Errorf("notify: post to %s: %w", r.URL.Host, err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10)
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		return nil
	}
	err = fmt.Errorf("notify: post to %s: the answer is %s", r.URL.Host, answer.Status)
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return queue.RetryAfter(err, time.Duration(max(0, min(seconds, 6*60*60)))*time.Second)
}

// cutBytes cuts a text to at most n bytes, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for ; n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}
